/**
 * What the agents of the session read and changed: every file with its changes as diffs, and the
 * checkpoints that bring files back to before a turn.
 */

import { counts, showDiffs } from './chat/diff';
import { whenQuiet } from './frames';
import { action, html, icon, nothing, render, repeat, type TemplateResult } from './lit';
import { nameIn, type Page, type View } from './page';
import type { Changes } from './store';
import { ago, counted, t } from './strings';
import type { CheckpointItem, Explored, ExplorerFile, ProposedEdit } from './wire';

const CHANGE_ICONS = {
  none: 'eye',
  create: 'diff-added',
  modify: 'diff-modified',
  delete: 'diff-removed',
};
/** So long after the last event the list is asked for again. */
const QUIET_MS = 400;

export class ExplorerView implements View {
  readonly element = document.createElement('div');
  private explored: Explored | undefined;
  private session: string | undefined;
  private readonly open = new Set<string>();
  private readonly ask = whenQuiet(() => void this.fetch(), QUIET_MS);
  private changesOf: { id: string; edits: ProposedEdit[] } | undefined;

  constructor(private readonly page: Page) {
    this.element.className = 'explorer';
    this.element.addEventListener('keydown', (event) => this.key(event));
  }

  draw(changes?: Changes): void {
    const { session } = this.page.store;
    if (session?.id !== this.session) {
      this.session = session?.id;
      this.explored = undefined;
      this.changesOf = undefined;
      this.open.clear();
      void this.fetch();
    } else if (changes === undefined) {
      void this.fetch();
    } else if (this.toolsChanged(changes)) {
      this.ask();
    }
    this.drawList();
  }

  private toolsChanged(changes: Changes): boolean {
    for (const [node, ids] of changes.entries) {
      for (const id of ids) {
        const kind = this.page.store.session?.conversations.get(node)?.get(id)?.kind;
        if (kind === 'tool' || kind === 'user') {
          return true;
        }
      }
    }
    return changes.lists.size > 0;
  }

  private async fetch(): Promise<void> {
    const { session } = this;
    if (session === undefined) {
      return;
    }
    const explored = await this.page.ask({ kind: 'explorer', session });
    if (explored !== undefined && session === this.session) {
      this.explored = explored;
      this.drawList();
    }
  }

  private drawList(): void {
    const files = this.explored?.files ?? [];
    const changed = files.filter(({ change }) => change !== 'none');
    const read = files.filter(({ change }) => change === 'none');
    const checkpoints = this.explored?.checkpoints ?? [];
    render(
      html`${
        files.length + checkpoints.length === 0
          ? html`<p class="nothing">${t('explorer.none')}</p>`
          : nothing
      }
      ${changed.length > 0 ? this.section('changed', t('explorer.changed'), changed) : nothing}
      ${read.length > 0 ? this.section('read', t('explorer.read'), read) : nothing}
      ${checkpoints.length > 0 ? this.checkpoints(checkpoints) : nothing}`,
      this.element,
    );
  }

  private section(id: string, title: string, files: readonly ExplorerFile[]): TemplateResult {
    return html`<section aria-labelledby=${`explorer-${id}`}>
      <h2 id=${`explorer-${id}`}>${title} <span class="fine">${counted('files', files.length)}</span></h2>
      <ul class="files">
        ${repeat(files, keyOf, (file) => this.file(file))}
      </ul>
    </section>`;
  }

  private file(file: ExplorerFile): TemplateResult {
    const key = keyOf(file);
    const isOpen = this.open.has(key);
    const hasChanges = file.entries.length > 0;
    const slash = file.path.lastIndexOf('/');
    const folders = this.page.picture?.folders ?? [];
    const root = folders.length > 1 ? (folders[file.root] ?? '') : '';
    return html`<li>
      <div class="file">
        ${
          hasChanges
            ? html`<button
                type="button"
                class="icon-button"
                aria-expanded=${String(isOpen)}
                aria-label=${t('explorer.changesOf', { path: file.path })}
                title=${t('explorer.changesOf', { path: file.path })}
                @click=${() => this.toggle(key)}
              >
                ${icon(isOpen ? 'chevron-down' : 'chevron-right')}
              </button>`
            : html`<span class="gap"></span>`
        }
        <span data-change=${file.change} title=${t(`change.${file.change}`)}>${icon(CHANGE_ICONS[file.change])}</span>
        <span class="spoken">${t(`change.${file.change}`)}</span>
        <button type="button" class="path" title=${file.path} @click=${() => this.openFile(file)}>
          <bdi>${file.path.slice(slash + 1)}</bdi>
          <span class="fine"><bdi>${[root, file.path.slice(0, Math.max(slash, 0))].filter((it) => it !== '').join(' · ')}</bdi></span>
        </button>
        ${file.change === 'none' ? nothing : counts(file)}
        ${file.read > 0 ? html`<span class="fine" title=${t('explorer.reads', { n: file.read })}>${icon('eye')} ${file.read}</span>` : nothing}
      </div>
      ${isOpen ? html`<div class="file-changes">${file.entries.map((id) => this.change(file, id))}</div>` : nothing}
    </li>`;
  }

  /** One tool call's change of a file. */
  private change(file: ExplorerFile, entry: string): TemplateResult {
    const found = this.find(entry);
    const edit = found?.edits.find(({ path, root }) => path === file.path && root === file.root);
    if (edit === undefined) {
      return html`<p class="fine">${t('explorer.notLoaded')}</p>`;
    }
    const element = document.createElement('div');
    const session = this.session ?? '';
    const where = { path: file.path, root: file.root };
    showDiffs(element, [edit], {
      open: (_, line) => void this.page.ask({ kind: 'open_file', ...where, line }),
      compare: () => void this.page.ask({ kind: 'show_diff', session, entry, ...where }),
    });
    return html`${element}`;
  }

  private find(id: string): { edits: readonly ProposedEdit[] } | undefined {
    for (const conversation of this.page.store.session?.conversations.values() ?? []) {
      const entry = conversation.get(id);
      if (entry?.kind === 'tool') {
        return entry;
      }
    }
    return undefined;
  }

  private checkpoints(list: readonly CheckpointItem[]): TemplateResult {
    return html`<section aria-labelledby="explorer-checkpoints">
      <h2 id="explorer-checkpoints">${t('explorer.checkpoints')}</h2>
      <ul class="files">
        ${repeat(
          list,
          ({ id }) => id,
          (it) => html`<li>
            <div class="file">
              <span class="checkpoint-title" title=${it.title}>${icon('history')} <bdi>${it.title}</bdi></span>
              <span class="fine">${ago(it.time)}</span>
              ${action(
                'diff',
                t('explorer.since', { title: it.title }),
                () => void this.toggleSince(it),
                {
                  pressed: this.changesOf?.id === it.id,
                },
              )}
              ${action('discard', t('explorer.restore', { title: it.title }), () => void this.restore(it))}
            </div>
            ${this.changesOf?.id === it.id ? this.since(it, this.changesOf.edits) : nothing}
          </li>`,
        )}
      </ul>
    </section>`;
  }

  private since(checkpoint: CheckpointItem, edits: readonly ProposedEdit[]): TemplateResult {
    const element = document.createElement('div');
    element.className = 'file-changes';
    showDiffs(element, edits, {
      open: ({ path, root }, line) => void this.page.ask({ kind: 'open_file', path, root, line }),
      name: (edit) => nameIn(this.page, edit),
      revert: ({ path, root }) => void this.restore(checkpoint, { path, root }),
    });
    return html`${element}`;
  }

  private async toggleSince({ id }: CheckpointItem): Promise<void> {
    if (this.changesOf?.id === id) {
      this.changesOf = undefined;
    } else {
      await this.showSince(id);
    }
    this.drawList();
  }

  private async showSince(checkpoint: string): Promise<void> {
    const session = this.session ?? '';
    const changes = await this.page.ask({ kind: 'changes', session, checkpoint });
    this.changesOf = changes === undefined ? undefined : { id: checkpoint, edits: changes.edits };
  }

  /** Brings back all files, or one. */
  private async restore(
    { id, entry, title }: CheckpointItem,
    file?: { path: string; root: number },
  ): Promise<void> {
    const question =
      file === undefined
        ? t('explorer.restoreConfirm', { title })
        : t('explorer.revertConfirm', { title, path: file.path });
    if (!(await this.page.confirm(question, t('rewind.action')))) {
      return;
    }
    const session = this.session ?? '';
    const only = file === undefined ? {} : { paths: [file.path], root: file.root };
    const back = await this.page.ask({ kind: 'rewind', session, entry, what: 'files', ...only });
    if (back === undefined) {
      return;
    }
    const files = counted('files', back.files.length);
    const kept = back.kept.join(', ');
    this.page.tell(kept ? t('rewind.kept', { files, kept }) : t('rewind.doneFiles', { files }));
    await this.fetch();
    if (file !== undefined) {
      await this.showSince(id);
    } else {
      this.changesOf = undefined;
    }
    this.drawList();
  }

  private toggle(key: string): void {
    if (!this.open.delete(key)) {
      this.open.add(key);
    }
    this.drawList();
  }

  private openFile({ path, root }: ExplorerFile): void {
    void this.page.ask({ kind: 'open_file', path, root });
  }

  private key(event: KeyboardEvent): void {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') {
      return;
    }
    const target = event.target as HTMLElement;
    const paths = [...this.element.querySelectorAll<HTMLElement>('.file > .path')];
    const at = paths.findIndex((it) => it.parentElement?.contains(target));
    if (at >= 0) {
      event.preventDefault();
      paths[at + (event.key === 'ArrowDown' ? 1 : -1)]?.focus();
    }
  }
}

function keyOf({ root, path }: ExplorerFile): string {
  return `${root}:${path}`;
}
