/** The sessions: found by words, come back to, renamed, saved as Markdown, deleted with a way back. */

import { action, html, icon, nothing, render, repeat, type TemplateResult } from '../lit';
import { type MenuItem, openMenu } from '../menu';
import type { Page } from '../page';
import { ago, cost, counted, t } from '../strings';
import type { SessionInfo } from '../wire';

const QUIET_MS = 150;
const PAGE = 50;
/** So long a deleted session can be had back. */
const UNDO_MS = 6000;

export class SessionsView {
  readonly element = document.createElement('div');
  private open = false;
  private query = '';
  private found: SessionInfo[] | undefined;
  private total = 0;
  private renaming = '';
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Sessions that are deleted in a moment. */
  private readonly leaving = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(
    private readonly page: Page,
    private readonly closed: () => void,
  ) {
    this.element.className = 'sessions';
    this.element.hidden = true;
    this.element.setAttribute('role', 'dialog');
    this.element.setAttribute('aria-label', t('sessions.label'));
    this.element.addEventListener('keydown', (event) => this.key(event));
    // A page that goes away deletes what it said was deleted.
    window.addEventListener('pagehide', () => this.deleteNow());
  }

  get isOpen(): boolean {
    return this.open;
  }

  toggle(): void {
    this.open = !this.open;
    this.element.hidden = !this.open;
    if (this.open) {
      void this.search();
      this.draw();
      this.element.querySelector('input')?.focus();
    } else {
      this.renaming = '';
      this.closed();
    }
    this.page.store.list([...this.page.store.sessions.values()]);
  }

  /** What can be done with a session. */
  actionsFor(id: string, info: SessionInfo | undefined): MenuItem[] {
    return [
      { label: t('session.rename'), icon: 'edit', run: () => this.rename(id) },
      {
        label: t('session.export'),
        icon: 'markdown',
        run: () => void this.page.ask({ kind: 'save_export', session: id }),
      },
      {
        label: t('session.delete'),
        icon: 'trash',
        run: () => void this.delete(id, info?.title || t('session.new')),
      },
    ];
  }

  draw(): void {
    if (!this.open) {
      return;
    }
    const all = this.found ?? [...this.page.store.sessions.values()].sort(latestFirst);
    const shown = all
      .map((it) => this.page.store.sessions.get(it.id) ?? it)
      .filter(({ id }) => !this.leaving.has(id));
    render(
      html`<div class="sessions-head">
          <input
            class="field"
            type="search"
            .value=${this.query}
            aria-label=${t('sessions.search')}
            placeholder=${t('sessions.search')}
            @input=${(event: Event) => this.typed((event.target as HTMLInputElement).value)}
          />
          ${action('close', t('close'), () => this.toggle())}
        </div>
        <ul class="session-list" aria-label=${t('sessions.label')}>
          ${repeat(
            shown,
            ({ id }) => id,
            (info) => this.line(info),
          )}
        </ul>
        ${shown.length === 0 ? html`<p class="fine nothing">${t(this.query ? 'sessions.none' : 'sessions.noneYet')}</p>` : nothing}
        ${
          this.found !== undefined && this.found.length < this.total
            ? html`<button type="button" class="link-button" @click=${() => void this.search(this.found?.length)}>
                ${t('sessions.more')}
              </button>`
            : nothing
        }`,
      this.element,
    );
  }

  private line(info: SessionInfo): TemplateResult {
    const isShown = info.id === this.page.store.session?.id;
    const title = info.title || t('session.new');
    if (this.renaming === info.id) {
      return html`<li>${this.renameField(info)}</li>`;
    }
    const spent = info.usage.cost > 0 ? ` · ${cost(info.usage.cost)}` : '';
    return html`<li ?data-shown=${isShown}>
      <button
        type="button"
        class="session"
        aria-current=${isShown ? 'true' : nothing}
        @click=${() => this.resume(info.id)}
      >
        <span class="session-title">${info.working ? icon('loading', true) : nothing}<bdi>${title}</bdi></span>
        <span class="fine">${ago(info.updated)} · ${counted('messages', info.messages)}${spent}</span>
      </button>
      ${action(
        'ellipsis',
        t('session.moreOf', { title }),
        (event) =>
          openMenu(event.currentTarget as HTMLElement, title, this.actionsFor(info.id, info)),
        { menu: true },
      )}
    </li>`;
  }

  private renameField(info: SessionInfo): TemplateResult {
    return html`<form
      class="rename"
      @submit=${(event: SubmitEvent) => {
        event.preventDefault();
        const field = (event.currentTarget as HTMLFormElement).elements.namedItem('title');
        void this.renamed(info, (field as HTMLInputElement).value.trim());
      }}
    >
      <input name="title" class="field" autocomplete="off" .value=${info.title} aria-label=${t('session.rename')} />
      <button type="submit" class="plain-button">${t('save')}</button>
    </form>`;
  }

  private rename(id: string): void {
    if (!this.open) {
      this.toggle();
    }
    this.renaming = id;
    this.draw();
    this.element.querySelector<HTMLInputElement>('.rename input')?.select();
  }

  private async renamed(info: SessionInfo, title: string): Promise<void> {
    this.renaming = '';
    if (title !== '' && title !== info.title) {
      const done = await this.page.ask({ kind: 'rename', session: info.id, title });
      if (done !== undefined) {
        this.found = this.found?.map((it) => (it.id === info.id ? { ...it, title } : it));
        this.page.store.apply([{ kind: 'session_put', session: { ...info, title } }]);
      }
    }
    this.draw();
  }

  private async delete(id: string, title: string): Promise<void> {
    if (this.page.store.sessions.get(id)?.working) {
      if (!(await this.page.confirm(t('session.deleteWorking', { title }), t('session.delete')))) {
        return;
      }
    }
    this.leaving.set(
      id,
      setTimeout(() => void this.deleteFor(id), UNDO_MS),
    );
    this.draw();
    this.page.tell(t('session.deleted', { title }), {
      label: t('undo'),
      run: () => {
        clearTimeout(this.leaving.get(id));
        this.leaving.delete(id);
        this.draw();
      },
    });
    if (id === this.page.store.session?.id) {
      await this.page.attach('new');
    }
  }

  private async deleteFor(id: string): Promise<void> {
    const done = await this.page.ask({ kind: 'delete', session: id });
    this.leaving.delete(id);
    if (done !== undefined) {
      this.found = this.found?.filter((it) => it.id !== id);
      this.page.store.list([...this.page.store.sessions.values()].filter((it) => it.id !== id));
    }
    this.draw();
  }

  private deleteNow(): void {
    for (const [id, timer] of this.leaving) {
      clearTimeout(timer);
      void this.deleteFor(id);
    }
  }

  private async resume(id: string): Promise<void> {
    this.toggle();
    await this.page.attach(id);
  }

  private typed(query: string): void {
    this.query = query;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.search(), QUIET_MS);
  }

  private async search(offset = 0): Promise<void> {
    const { query } = this;
    const answer = await this.page.ask({ kind: 'sessions', query, offset, limit: PAGE });
    if (answer === undefined || query !== this.query) {
      return;
    }
    this.found = offset > 0 ? [...(this.found ?? []), ...answer.sessions] : answer.sessions;
    this.total = answer.total;
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    if (event.key === 'Escape') {
      event.stopPropagation();
      if (this.renaming !== '') {
        this.renaming = '';
        this.draw();
        this.element.querySelector('input')?.focus();
      } else {
        this.toggle();
      }
      return;
    }
    const buttons = [...this.element.querySelectorAll<HTMLButtonElement>('.session')];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const next = at + (event.key === 'ArrowDown' ? 1 : -1);
      event.preventDefault();
      if (next < 0) {
        this.element.querySelector('input')?.focus();
      } else {
        buttons[Math.min(next, buttons.length - 1)]?.focus();
      }
    } else if (at >= 0 && (event.key === 'F2' || event.key === 'Delete')) {
      const id = this.ids[at];
      if (id !== undefined) {
        const item = this.actionsFor(id, this.page.store.sessions.get(id))[
          event.key === 'F2' ? 0 : 2
        ];
        item?.run();
      }
    }
  }

  /** Ids of the lines in their order. */
  private get ids(): string[] {
    const all = this.found ?? [...this.page.store.sessions.values()].sort(latestFirst);
    return all.map(({ id }) => id).filter((id) => !this.leaving.has(id));
  }
}

function latestFirst(one: SessionInfo, other: SessionInfo): number {
  return other.updated - one.updated;
}
