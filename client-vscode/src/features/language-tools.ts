/**
 * Tools for the language models of the editor, such as Copilot's agent: findings, what leads to one,
 * its rewrite, evidence, rules, what a change touches, the state of a migration. They ask the server,
 * which asks what `jarvis mcp` asks. Building and running code is confirmed by the user first.
 */

import {
  type CancellationToken,
  type Disposable,
  LanguageModelTextPart,
  type LanguageModelTool,
  type LanguageModelToolInvocationOptions,
  type LanguageModelToolInvocationPrepareOptions,
  LanguageModelToolResult,
  l10n,
  lm,
  MarkdownString,
  type PreparedToolInvocation,
  workspace,
} from 'vscode';
import type { JarvisContext } from '../context';
import { TOOL } from '../protocol';

/** What a model may ask; the manifest has the tool `jarvis_NAME` for each. */
export const TOOLS = [
  'scan',
  'findings',
  'explain_finding',
  'preview_fix',
  'prove',
  'explain_rule',
  'impact',
  'migration_status',
] as const;

type Name = (typeof TOOLS)[number];
type Arguments = Record<string, unknown>;

export function activate(context: JarvisContext): void {
  for (const name of TOOLS) {
    context.subscriptions.push(register(context, name));
  }
}

function register(context: JarvisContext, name: Name): Disposable {
  return lm.registerTool(`jarvis_${name}`, new Tool(context, name));
}

class Tool implements LanguageModelTool<Arguments> {
  constructor(
    private readonly context: JarvisContext,
    private readonly name: Name,
  ) {}

  prepareInvocation({
    input,
  }: LanguageModelToolInvocationPrepareOptions<Arguments>): PreparedToolInvocation {
    const invocationMessage = activity(this.name);
    if (this.name !== 'prove') {
      return { invocationMessage };
    }
    const title = l10n.t('Build and run code of this workspace?');
    const message = new MarkdownString(
      l10n.t(
        'Finding {0} is to be made to happen: the code is built and run on a copy, in a sandbox without network.',
        code(String(input.name)),
      ),
    );
    return { invocationMessage, confirmationMessages: { title, message } };
  }

  async invoke(
    { input }: LanguageModelToolInvocationOptions<Arguments>,
    token: CancellationToken,
  ): Promise<LanguageModelToolResult> {
    await this.context.ready();
    const { folder, ...rest } = input;
    const uri = folderNamed(folder);
    const asked = { name: this.name, arguments: rest, ...(uri ? { folder: uri } : {}) };
    const { text } = await this.context.request(TOOL, asked, token);
    return new LanguageModelToolResult([new LanguageModelTextPart(text)]);
  }
}

/**
 * The URI of a folder of the workspace, the first without a name.
 *
 * @throws when there is none of that name
 */
function folderNamed(name: unknown): string | undefined {
  const folders = workspace.workspaceFolders ?? [];
  const found =
    name === undefined || name === '' ? folders[0] : folders.find((it) => it.name === name);
  if (found === undefined && folders.length > 0) {
    const names = folders.map((it) => it.name).join(', ');
    throw new Error(l10n.t('The folders of the workspace are {0}.', names));
  }
  return found?.uri.toString();
}

/** A name as code in Markdown, whatever a model has put into it. */
function code(name: string): string {
  return `\`${name.replace(/[^\w.:-]/g, '?').slice(0, 60)}\``;
}

function activity(name: Name): string {
  switch (name) {
    case 'prove':
      return l10n.t('Proving by running');
    case 'impact':
      return l10n.t('Looking at what the change touches');
    case 'explain_rule':
      return l10n.t('Reading the page of a rule');
    case 'migration_status':
      return l10n.t('Reading the state of the migration');
    default:
      return l10n.t('Scanning for findings');
  }
}
