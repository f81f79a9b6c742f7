/** Tool calls in words: what is done, and with what. A tool that is not ours keeps its name. */

import { nameIn, type Page } from '../page';
import { type Key, t } from '../strings';
import type { ProposedEdit, ToolEntry } from '../wire';

const VERBS: Record<string, Key> = {
  ask_user: 'verb.ask',
  callees: 'verb.callees',
  callers: 'verb.callers',
  change_code: 'verb.change',
  clear_memory: 'verb.forget',
  code_analysis: 'verb.analyse',
  definition: 'verb.definition',
  diagnostics: 'verb.check',
  edit_file: 'verb.edit',
  edit_file_free: 'verb.edit',
  execute_script: 'verb.run',
  explain_finding: 'verb.explain',
  fetch_web: 'verb.fetch',
  findings: 'verb.findings',
  get_dependencies: 'verb.dependencies',
  list_project_files: 'verb.list',
  methodology: 'verb.methodology',
  read_code: 'verb.read',
  read_file_hunk: 'verb.read',
  read_file_info: 'verb.inspect',
  read_symbols: 'verb.symbols',
  references: 'verb.references',
  retrieve_memory: 'verb.recall',
  rewrite_file: 'verb.write',
  save_memory: 'verb.remember',
  script_output: 'verb.output',
  search_in_project: 'verb.search',
  search_web: 'verb.searchWeb',
  sub_agent: 'verb.delegate',
  update_plan: 'verb.plan',
};

/** The first text of an object that is there up to its end, control characters written out. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none in its texts.
const WHOLE_TEXT = /:\s*("(?:[^"\\\u0000-\u001f]|\\["\\/bfnrt]|\\u[\da-fA-F]{4})*")/;

/** What a tool does. */
export function verb(tool: string): string {
  const key = Object.hasOwn(VERBS, tool) ? VERBS[tool] : undefined;
  return key === undefined ? tool : t(key);
}

/** What a call does, with what: `Read src/store.c`. */
export function inWords(entry: ToolEntry, page: Page): string {
  return `${verb(entry.name)} ${brief(entry, (edit) => nameIn(page, edit))}`.trim();
}

/** What a call is about, in one line: its first argument worth showing. */
export function brief(
  { arguments: text, edits, name: tool }: ToolEntry,
  nameOf: (edit: ProposedEdit) => string,
): string {
  if (edits[0] !== undefined && tool !== 'execute_script') {
    const name = nameOf(edits[0]);
    return edits.length === 1 ? name : `${name} +${edits.length - 1}`;
  }
  try {
    return firstText(JSON.parse(text)).slice(0, 200);
  } catch {
    // It was cut because it was long. What stands first, such as the path, is whole mostly.
    const whole = WHOLE_TEXT.exec(text)?.[1];
    return whole === undefined ? '' : firstText(JSON.parse(whole)).slice(0, 200);
  }
}

/** The first line worth showing, also of what lies in lists: `src/a.c +2` of three files. */
function firstText(value: unknown): string {
  if (typeof value === 'string') {
    return value.trim().split('\n')[0] ?? '';
  }
  const inside = typeof value === 'object' && value !== null ? Object.values(value) : [];
  const first = inside.map(firstText).find((text) => text !== '') ?? '';
  const more = Array.isArray(value) ? value.length - 1 : 0;
  return first !== '' && more > 0 ? `${first} +${more}` : first;
}
