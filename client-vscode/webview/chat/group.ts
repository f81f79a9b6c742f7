/** Calls that only look at things, one after the other, as one row: `Read src/a.c, src/b.c …  3`. */

import { isOpen, setOpen } from '../kept';
import { html, icon, render } from '../lit';
import { nameIn } from '../page';
import type { Conversation } from '../store';
import { t } from '../strings';
import type { ToolEntry } from '../wire';
import type { Chat } from './row';
import { ToolRow } from './tool';
import { brief, verb } from './verbs';

/** So many calls are folded; fewer are shown one by one. */
const LEAST = 3;
const LOOKS = new Set([
  'callees',
  'callers',
  'code_analysis',
  'definition',
  'diagnostics',
  'findings',
  'get_dependencies',
  'list_project_files',
  'read_code',
  'read_file_hunk',
  'read_file_info',
  'read_symbols',
  'references',
  'retrieve_memory',
  'search_in_project',
]);

/** The rows of a conversation: ids of entries, and of groups in place of theirs. */
export interface Grouping {
  readonly order: readonly string[];
  /** The ids of a group's calls, by its own. */
  readonly members: ReadonlyMap<string, readonly string[]>;
  /** The group of a call. */
  readonly of: ReadonlyMap<string, string>;
}

export function grouped(conversation: Conversation | undefined): Grouping {
  const order: string[] = [];
  const members = new Map<string, readonly string[]>();
  const of = new Map<string, string>();
  let run: string[] = [];
  const end = () => {
    if (run.length < LEAST) {
      order.push(...run);
    } else {
      const group = `group:${run[0]}`;
      order.push(group);
      members.set(group, run);
      for (const id of run) {
        of.set(id, group);
      }
    }
    run = [];
  };
  for (const id of conversation?.order ?? []) {
    const entry = conversation?.get(id);
    if (entry?.kind === 'tool' && entry.state === 'done' && LOOKS.has(entry.name)) {
      run.push(id);
    } else {
      end();
      order.push(id);
    }
  }
  end();
  return { order, members, of };
}

export class GroupRow {
  readonly element = document.createElement('div');
  private readonly inside = document.createElement('div');
  private readonly rows = new Map<string, ToolRow>();
  private entries: readonly ToolEntry[] = [];

  constructor(
    private readonly chat: Chat,
    private readonly id: string,
  ) {
    this.element.className = 'entry tool';
    this.element.dataset.state = 'done';
    this.inside.className = 'tool-body group';
  }

  show(entries: readonly ToolEntry[]): void {
    const { page } = this.chat;
    this.entries = entries;
    const verbs = [...new Set(entries.map(({ name }) => verb(name)))].join(', ');
    const briefs = entries.map((entry) => brief(entry, (edit) => nameIn(page, edit)));
    const names = [...new Set(briefs)].filter((it) => it !== '').join(', ');
    const label = t('tool.group', { n: entries.length, name: `${verbs} ${names}`.trim() });
    this.element.setAttribute('aria-label', label);
    const open = isOpen(page.kept, this.id) || entries.some(({ id }) => isOpen(page.kept, id));
    render(
      html`<details
        class="tool-card"
        ?open=${open}
        @toggle=${(event: Event) => this.toggled(event)}
      >
        <summary>
          <span class="state" title=${t('tool.done')}>${icon('check')}</span>
          <span class="name">${verbs}</span>
          <span class="brief"><bdi>${names}</bdi></span>
          <span class="marks"><span class="badge">${entries.length}</span></span>
        </summary>
        ${this.inside}
      </details>`,
      this.element,
    );
    if (open) {
      this.fill();
    }
  }

  private fill(): void {
    for (const entry of this.entries) {
      let row = this.rows.get(entry.id);
      if (row === undefined) {
        row = new ToolRow(this.chat);
        row.element.className = 'tool';
        row.element.setAttribute('role', 'group');
        this.rows.set(entry.id, row);
        this.inside.append(row.element);
      }
      row.show(entry);
    }
  }

  private toggled(event: Event): void {
    const details = event.currentTarget as HTMLDetailsElement;
    if (event.target !== details) {
      return; // one of its calls
    }
    const { page } = this.chat;
    setOpen(page.kept, this.id, details.open);
    if (!details.open) {
      for (const { id } of this.entries) {
        setOpen(page.kept, id, false);
      }
    }
    page.remember();
    if (details.open) {
      this.fill();
    }
  }
}
