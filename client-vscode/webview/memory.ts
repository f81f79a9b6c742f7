/** What the agents remember: found by words, written, changed and deleted. */

import type { MemoryDraft } from './kept';
import { action, html, icon, nothing, render, repeat, type TemplateResult } from './lit';
import type { Page, View } from './page';
import type { Changes } from './store';
import { ago, type Key, t } from './strings';
import type { MemoryItem, MemoryKind } from './wire';

const KINDS: MemoryKind[] = ['project', 'global', 'short_term'];
const ICONS: Record<MemoryKind, string> = { short_term: 'clock', project: 'repo', global: 'globe' };
const QUIET_MS = 150;

export class MemoryView implements View {
  readonly element = document.createElement('div');
  private items: MemoryItem[] | undefined;
  private query = '';
  private session: string | undefined;
  private draft: MemoryDraft | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly page: Page) {
    this.element.className = 'memory';
    this.draft = page.kept.memory;
    this.element.addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && this.draft !== undefined) {
        event.stopPropagation();
        this.close();
      }
    });
  }

  draw(changes?: Changes): void {
    const session = this.page.store.session?.id;
    if (changes === undefined || session !== this.session) {
      this.session = session;
      void this.search();
    }
    this.drawList();
  }

  private drawList(): void {
    const items = this.items ?? [];
    render(
      html`<div class="memory-head">
          <input
            class="field"
            type="search"
            .value=${this.query}
            aria-label=${t('memory.search')}
            placeholder=${t('memory.search')}
            @input=${(event: Event) => this.typed((event.target as HTMLInputElement).value)}
          />
          ${action('add', t('memory.add'), () => this.edit(undefined), { part: 'add' })}
        </div>
        ${this.draft?.id === '' ? this.form(this.draft) : nothing}
        ${this.items !== undefined && items.length === 0 && this.draft === undefined ? html`<p class="nothing">${t(this.query ? 'memory.notFound' : 'memory.none')}</p>` : nothing}
        <div class="memory-list">
          ${KINDS.map((kind) =>
            this.group(
              kind,
              items.filter(({ memory }) => memory === kind),
            ),
          )}
        </div>`,
      this.element,
    );
  }

  private group(kind: MemoryKind, items: readonly MemoryItem[]): TemplateResult | typeof nothing {
    if (items.length === 0) {
      return nothing;
    }
    return html`<section aria-labelledby=${`memory-${kind}`}>
      <h2 id=${`memory-${kind}`}>${icon(ICONS[kind])} ${t(`memory.${kind}`)} <span class="fine">${items.length}</span></h2>
      <ul>
        ${repeat(
          items,
          ({ id }) => id,
          (item) =>
            this.draft?.id === item.id ? html`<li>${this.form(this.draft)}</li>` : this.item(item),
        )}
      </ul>
    </section>`;
  }

  private item(item: MemoryItem): TemplateResult {
    const name = item.content.slice(0, 40);
    return html`<li class="memory-item">
      <div class="memory-text">${item.content}</div>
      <div class="memory-foot">
        ${item.tags.map((tag) => html`<span class="badge">${tag}</span>`)}
        <span class="fine">${item.updated > 0 ? ago(item.updated) : ''}</span>
        <span class="space"></span>
        ${action('edit', t('memory.edit', { name }), () => this.edit(item))}
        ${action('trash', t('memory.delete', { name }), () => void this.delete(item))}
      </div>
    </li>`;
  }

  private form(draft: MemoryDraft): TemplateResult {
    return html`<form
      class="memory-form"
      @submit=${(event: SubmitEvent) => {
        event.preventDefault();
        void this.save();
      }}
    >
      <textarea
        class="field"
        rows="4"
        required
        aria-label=${t('memory.content')}
        placeholder=${t('memory.content')}
        .value=${draft.content}
        @input=${(event: Event) => {
          draft.content = (event.target as HTMLTextAreaElement).value;
          this.keep();
        }}
      ></textarea>
      <input
        class="field"
        autocomplete="off"
        aria-label=${t('memory.tags')}
        placeholder=${t('memory.tags')}
        .value=${draft.tags}
        @input=${(event: Event) => {
          draft.tags = (event.target as HTMLInputElement).value;
          this.keep();
        }}
      />
      <div class="memory-form-foot">
        <select
          class="field"
          aria-label=${t('memory.kind')}
          ?disabled=${draft.id !== ''}
          @change=${(event: Event) => {
            draft.memory = (event.target as HTMLSelectElement).value as MemoryKind;
            this.keep();
          }}
        >
          ${KINDS.map((kind) => html`<option value=${kind} ?selected=${kind === draft.memory}>${t(`memory.${kind}` as Key)}</option>`)}
        </select>
        <button type="submit" class="plain-button">${t('save')}</button>
        <button type="button" class="plain-button secondary" @click=${() => this.close()}>${t('cancel')}</button>
      </div>
    </form>`;
  }

  private edit(item: MemoryItem | undefined): void {
    this.draft = {
      id: item?.id ?? '',
      memory: item?.memory ?? 'project',
      content: item?.content ?? '',
      tags: item?.tags.join(', ') ?? '',
    };
    this.keep();
    this.drawList();
    this.element.querySelector('textarea')?.focus();
  }

  /** What is being written is there again when the page is. */
  private keep(): void {
    const { kept } = this.page;
    if (this.draft === undefined) {
      delete kept.memory;
    } else {
      kept.memory = this.draft;
    }
    this.page.remember();
  }

  private close(): void {
    this.draft = undefined;
    this.keep();
    this.drawList();
    this.element.querySelector<HTMLElement>('[data-part=add]')?.focus();
  }

  private async save(): Promise<void> {
    const { draft } = this;
    if (draft === undefined || draft.content.trim() === '') {
      return;
    }
    const tags = draft.tags
      .split(/[,，]/)
      .map((it) => it.trim())
      .filter((it) => it !== '');
    const saved = await this.page.ask({
      kind: 'save_memory',
      memory: draft.memory,
      content: draft.content.trim(),
      tags,
      id: draft.id,
      session: this.session ?? '',
    });
    if (saved === undefined) {
      return;
    }
    if (this.draft !== draft) {
      await this.search(); // another was begun meanwhile
      return;
    }
    this.draft = undefined;
    this.keep();
    await this.search();
    this.element.querySelector<HTMLElement>('[data-part=add]')?.focus();
  }

  private async delete(item: MemoryItem): Promise<void> {
    const { memory, id } = item;
    if (!(await this.page.confirm(t('memory.deleteConfirm'), t('memory.deleteAction')))) {
      return;
    }
    const session = this.session ?? '';
    if ((await this.page.ask({ kind: 'delete_memory', memory, id, session })) !== undefined) {
      await this.search();
    }
  }

  private typed(query: string): void {
    this.query = query;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.search(), QUIET_MS);
  }

  private async search(): Promise<void> {
    const { query } = this;
    const session = this.session ?? '';
    const found = await this.page.ask({ kind: 'memories', query, session });
    if (found !== undefined && query === this.query) {
      this.items = found.items;
      this.drawList();
    }
  }
}
