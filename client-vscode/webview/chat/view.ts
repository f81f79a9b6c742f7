/**
 * The conversation: who said and did what, what waits for the user, and the input line. It shows one
 * node's conversation at a time, at first the root's.
 */

import { APPLY_CODE, type ApplyWish, INSERT_CODE } from '../code';
import { begunOf, setBegun } from '../kept';
import { LongList } from '../list';
import { action, html, icon, nothing, render, type Shown, type TemplateResult } from '../lit';
import { openMenu } from '../menu';
import type { Page, View } from '../page';
import type { Changes, Conversation } from '../store';
import { counted, type Key, t } from '../strings';
import type { NoticeEntry, PanelEntry, ServerLife, SessionInfo, ToolEntry } from '../wire';
import { waits } from './asides';
import { Composer, MODE_ICONS, type Sent } from './composer';
import { leftOut } from './diff';
import { rowFor } from './entries';
import { GroupRow, grouped } from './group';
import { MeterView } from './meter';
import type { Chat, Row } from './row';
import { SessionsView } from './sessions';
import { runsBehind, ToolRow } from './tool';
import { inWords } from './verbs';
import { welcome } from './welcome';

const MODES: readonly SessionInfo['mode'][] = ['ask', 'edits', 'plan'];

/** Entries at the end of a conversation among which a running call is looked for. */
const LATEST = 20;

export class ChatView implements View, Chat {
  readonly element = document.createElement('div');
  readonly composer: Composer;
  private readonly head = document.createElement('div');
  private readonly banner = document.createElement('div');
  private readonly frame = document.createElement('div');
  private readonly empty = document.createElement('div');
  private readonly status = document.createElement('div');
  private readonly toEnd = document.createElement('div');
  private readonly list: LongList;
  private readonly sessions: SessionsView;
  private readonly meter: MeterView;
  private readonly rows = new Map<string, { row: Row; kind: string }>();
  private readonly groups = new Map<string, GroupRow>();
  private grouping = grouped(undefined);
  /** Entries that wait for the user, and the node each belongs to. */
  private readonly waiting = new Map<string, string>();
  /** Scripts in the background that run, by their entry, and the agents that started them. */
  private readonly behind = new Map<string, string>();
  private shownNode = '';

  constructor(
    readonly page: Page,
    private readonly life: () => ServerLife,
  ) {
    this.element.className = 'chat';
    this.head.className = 'chat-head';
    this.banner.className = 'banners';
    this.frame.className = 'entries';
    this.empty.className = 'welcome';
    this.status.className = 'status';
    this.toEnd.className = 'to-end';
    const body = document.createElement('div');
    body.className = 'chat-body';
    this.list = new LongList(
      this.frame,
      {
        ids: () => {
          this.grouping = grouped(this.conversation);
          return this.grouping.order;
        },
        draw: (id) => this.drawRow(id),
        gone: (id) => this.rows.delete(id) || this.groups.delete(id),
      },
      () => this.drawToEnd(),
    );
    this.list.element.setAttribute('aria-label', t('chat.label'));
    this.sessions = new SessionsView(page, () => this.composer.focus());
    this.meter = new MeterView(page);
    this.composer = new Composer(page, {
      send: (sent) => this.send(sent),
      stop: () => this.stop(),
      pickModel: (anchor) => this.pickModel(anchor),
      pickMode: (anchor) => this.pickMode(anchor),
      carryOut: () => void this.carryOut(),
      leave: () => this.list.focus(),
    });
    body.append(this.frame, this.empty, this.toEnd);
    this.element.append(
      ...[this.head, this.banner, body, this.status, this.composer.element],
      ...[this.meter.element, this.sessions.element],
    );
    this.frame.addEventListener('scroll', () => this.keepPlace(), { passive: true });
    // Before a button that has the focus takes the key as a click.
    this.element.addEventListener('keydown', (event) => this.key(event), true);
    this.element.addEventListener(APPLY_CODE, (event) => {
      void this.apply((event as CustomEvent<ApplyWish>).detail);
    });
    this.element.addEventListener(INSERT_CODE, (event) => {
      void this.page.ask({ kind: 'insert_code', text: (event as CustomEvent<string>).detail });
    });
  }

  /** Puts a text into the input line. */
  edit(text: string): void {
    this.composer.edit(text);
  }

  /** Parts of a waiting change were taken or left in the editor's diff. */
  choose(id: string, accepted: Record<string, readonly number[]>): void {
    const { session } = this.page.store;
    for (const conversation of session?.conversations.values() ?? []) {
      const entry = conversation.get(id);
      if (entry?.kind === 'tool') {
        const { text } = begunOf(this.page.kept, id);
        setBegun(this.page.kept, id, { text, refused: leftOut(entry.edits, accepted) });
        this.page.remember();
      }
    }
    const row = this.rows.get(id)?.row;
    if (row instanceof ToolRow) {
      row.chooseAgain();
    }
  }

  toggleSessions(): void {
    this.sessions.toggle();
  }

  /** Another session, or everything anew. */
  reset(): void {
    this.shownNode = this.page.node;
    this.list.clear();
    this.composer.restore();
    const place = this.page.kept.place;
    if (place !== undefined && this.grouping.order.includes(place.id)) {
      this.list.show(place.id, place.above);
    }
  }

  draw(changes?: Changes): void {
    const isEmpty = (this.conversation?.order.length ?? 0) === 0;
    this.empty.hidden = !isEmpty;
    this.frame.hidden = isEmpty;
    if (changes === undefined || changes.everything) {
      this.findWaiting();
      this.skipAnnouncing();
      this.reset();
    } else {
      this.note(changes);
      if (this.shownNode !== this.page.node) {
        this.reset();
      } else if (changes.lists.has(this.page.node) || this.isRegrouped(changes)) {
        this.refresh();
      }
      for (const id of changes.entries.get(this.page.node) ?? []) {
        this.update(id);
      }
    }
    this.drawRest();
  }

  /** Everything around the conversation. */
  drawRest(): void {
    const { session } = this.page.store;
    const isEmpty = (this.conversation?.order.length ?? 0) === 0;
    this.empty.hidden = !isEmpty;
    this.frame.hidden = isEmpty;
    if (isEmpty) {
      render(
        welcome(this.page, (text) => this.edit(text)),
        this.empty,
      );
    }
    render(this.heading(), this.head);
    render(this.banners(), this.banner);
    this.drawStatus();
    this.drawToEnd();
    this.composer.draw(this.life(), this.isWorking);
    this.meter.draw(session?.meters.get(this.page.node), session?.info?.usage);
    this.sessions.draw();
  }

  private get conversation(): Conversation | undefined {
    const { session } = this.page.store;
    return session?.conversations.get(this.page.node);
  }

  private get isWorking(): boolean {
    const { session } = this.page.store;
    if (session?.info?.working) {
      return true;
    }
    const state = session?.nodes.get(this.page.node)?.state;
    return state === 'running';
  }

  /** Whether calls that are done now are folded into another row. */
  private isRegrouped(changes: Changes): boolean {
    const ids = [...(changes.entries.get(this.page.node) ?? [])];
    if (!ids.some((id) => this.conversation?.get(id)?.kind === 'tool')) {
      return false;
    }
    const { order } = grouped(this.conversation);
    return order.length !== this.grouping.order.length;
  }

  /** Shows the rows as they are; the group of a row that had the focus has it then. */
  private refresh(): void {
    const row = document.activeElement?.closest<HTMLElement>('.row')?.dataset.id ?? '';
    this.list.refresh();
    const group = this.grouping.of.get(row);
    if (group !== undefined) {
      this.list.focus(group);
    }
  }

  private drawRow(id: string): HTMLElement {
    if (this.grouping.members.has(id)) {
      const group = new GroupRow(this, id);
      this.groups.set(id, group);
      this.showGroup(id);
      return group.element;
    }
    const entry = this.conversation?.get(id) as PanelEntry;
    const row = rowFor(this, entry);
    this.rows.set(id, { row, kind: entry.kind });
    return row.element;
  }

  private showGroup(id: string): void {
    const ids = this.grouping.members.get(id) ?? [];
    this.groups.get(id)?.show(ids.map((it) => this.conversation?.get(it) as ToolEntry));
  }

  private update(id: string): void {
    const group = this.grouping.of.get(id);
    if (group !== undefined) {
      this.showGroup(group);
      return;
    }
    const shown = this.rows.get(id);
    const entry = this.conversation?.get(id);
    if (shown === undefined || entry === undefined) {
      return;
    }
    if (shown.kind === entry.kind) {
      shown.row.show(entry);
    } else {
      this.list.redraw(id);
    }
  }

  // What waits for the user, and what is said to screen readers -----------------------------------

  private findWaiting(): void {
    this.waiting.clear();
    this.behind.clear();
    for (const [node, conversation] of this.page.store.session?.conversations ?? []) {
      for (const entry of conversation.all()) {
        if (waits(entry)) {
          this.waiting.set(entry.id, node);
        } else if (entry.kind === 'tool' && runsBehind(entry)) {
          this.behind.set(entry.id, node);
        }
      }
    }
  }

  private skipAnnouncing(): void {
    for (const conversation of this.page.store.session?.conversations.values() ?? []) {
      for (const entry of conversation.all()) {
        if (entry.kind === 'answer') {
          this.page.announcer.skip(entry.id, entry.text);
        }
      }
    }
  }

  private note(changes: Changes): void {
    const { session } = this.page.store;
    for (const [node, ids] of changes.entries) {
      for (const id of ids) {
        const entry = session?.conversations.get(node)?.get(id);
        this.behind.delete(id);
        if (entry === undefined) {
          this.waiting.delete(id);
          continue;
        }
        if (entry.kind === 'tool' && runsBehind(entry)) {
          this.behind.set(id, node);
        }
        const wasWaiting = this.waiting.has(id);
        if (waits(entry)) {
          this.waiting.set(id, node);
        } else {
          this.waiting.delete(id);
        }
        this.announce(entry, node, !wasWaiting && this.waiting.has(id));
      }
    }
    for (const noted of [this.waiting, this.behind]) {
      for (const [id, node] of noted) {
        const isStale = changes.lists.has(node) || changes.tree;
        if (isStale && session?.conversations.get(node)?.get(id) === undefined) {
          noted.delete(id);
        }
      }
    }
    if (this.waiting.size === 0) {
      this.page.announcer.alert('');
    }
  }

  private announce(entry: PanelEntry, node: string, asksNow: boolean): void {
    const { announcer } = this.page;
    if (asksNow && entry.kind === 'tool') {
      announcer.alert(t('tool.consent', { name: inWords(entry, this.page) }));
    } else if (asksNow && entry.kind === 'question') {
      announcer.alert(`${t('question.label')}: ${entry.text}`);
    } else if (node !== this.page.node) {
      return;
    } else if (entry.kind === 'answer') {
      announcer.sentences(entry.id, entry.text, entry.streaming);
    } else if (entry.kind === 'notice') {
      announcer.say(`${t(`notice.${entry.level}`)}: ${entry.text}`);
    }
  }

  // Parts -----------------------------------------------------------------------------------------

  private heading(): TemplateResult {
    const { session, sessions } = this.page.store;
    const node = session?.nodes.get(this.page.node);
    const isChild = node?.parent !== undefined;
    const title = session?.info?.title || t('session.new');
    return html`${
      isChild
        ? html`${action('arrow-left', t('chat.toRoot'), () => this.page.look(session?.root?.id ?? ''))}
            <h2 class="title" title=${node.title}>${node.title}</h2>`
        : html`<h2 class="title">
            <button
              type="button"
              class="title-button"
              data-part="sessions"
              title=${t('sessions.show', { n: sessions.size })}
              aria-expanded=${String(this.sessions.isOpen)}
              @click=${() => this.sessions.toggle()}
            >
              <span>${title}</span>${icon('chevron-down')}
            </button>
          </h2>`
    }
    ${
      session === undefined
        ? nothing
        : action(
            'ellipsis',
            t('session.more'),
            (event) => this.more(event.currentTarget as HTMLElement),
            {
              menu: true,
            },
          )
    }`;
  }

  private more(anchor: HTMLElement): void {
    const { session } = this.page.store;
    if (session !== undefined) {
      openMenu(anchor, t('session.more'), this.sessions.actionsFor(session.id, session.info));
    }
  }

  private banners(): Shown {
    const life = this.life();
    const { picture } = this.page;
    return html`${
      life === 'running'
        ? nothing
        : html`<p class="banner" data-level=${life === 'starting' ? 'info' : 'error'} role="status">
            ${icon(life === 'starting' ? 'loading' : 'error', life === 'starting')}${t(`life.${life}` as Key)}
          </p>`
    }
    ${
      picture?.trusted === false
        ? html`<p class="banner" data-level="warning">${icon('workspace-untrusted')}${t('untrusted')}</p>`
        : nothing
    }`;
  }

  private drawStatus(): void {
    const { session } = this.page.store;
    const parts: TemplateResult[] = [];
    for (const [id, node] of this.waiting) {
      const isShown = node === this.page.node && this.isInSight(id);
      const entry = session?.conversations.get(node)?.get(id);
      if (isShown || entry === undefined) {
        continue;
      }
      const name = session?.nodes.get(node)?.title ?? '';
      const what =
        entry.kind === 'tool'
          ? t('tool.consent', { name: inWords(entry, this.page) })
          : t('question.label');
      parts.push(
        html`<div class="attention">
          ${icon('bell-dot')}<span>${node === this.page.node ? what : `${name}: ${what}`}</span>
          <button type="button" class="link-button" @click=${() => this.bring(id, node)}>
            ${t('chat.show')}
          </button>
        </div>`,
      );
      break; // one at a time: the next shows when this one is settled
    }
    const running = [...(session?.nodes.values() ?? [])].filter(({ state }) => state === 'running');
    if (this.isWorking) {
      const others = running.length > 1 ? ` · ${counted('agents', running.length)}` : '';
      parts.push(
        html`<div class="working">${icon('loading', true)}<span>${this.activity()}${others}</span></div>`,
      );
    } else {
      const failed = session?.nodes.get(this.page.node)?.state === 'failed';
      const fault = this.fault();
      if (failed || fault !== undefined) {
        parts.push(this.failure(failed, fault));
      }
    }
    const [behind] = this.behind;
    if (behind !== undefined) {
      parts.push(
        html`<div class="behind">
          ${icon('server-process')}<span>${counted('scripts', this.behind.size)}</span>
          <button type="button" class="link-button" data-part="show-script" @click=${() => this.bring(...behind)}>
            ${t('chat.show')}
          </button>
        </div>`,
      );
    }
    this.status.hidden = parts.length === 0;
    render(parts, this.status);
  }

  /** What was wrong with the model, when that is the last that was said. */
  private fault(): NoticeEntry | undefined {
    const last = this.conversation?.get(this.conversation.order.at(-1) ?? '');
    const isOver = last?.kind === 'notice' && last.wrong === 'none' && this.page.models?.ready;
    return last?.kind === 'notice' && last.wrong && !isOver ? last : undefined;
  }

  /** What can be done about a turn that failed. */
  private failure(failed: boolean, fault: NoticeEntry | undefined): TemplateResult {
    const { wrong = '', provider = '' } = fault ?? {};
    const buttons: TemplateResult[] = [];
    if (wrong === 'key') {
      const ask = { kind: 'set_key', provider } as const;
      buttons.push(link('set-key', t('failure.setKey'), () => void this.page.ask(ask)));
    } else if (wrong === 'none') {
      const ask = { kind: 'set_up_model' } as const;
      buttons.push(link('set-up', t('noModel.setUp'), () => void this.page.ask(ask)));
    } else if (wrong === 'model' || wrong === 'credit' || wrong === 'address') {
      // Of an account without credit, or an address that does not answer, no model helps.
      const ask = { kind: 'set_up_model', provider: wrong === 'model' ? provider : '' } as const;
      buttons.push(link('choose-model', t('failure.model'), () => void this.page.ask(ask)));
    }
    if (failed) {
      buttons.push(link('retry', t('control.retry'), () => void this.retry()));
    }
    const text = t(wrong === 'none' ? 'noModel.title' : 'chat.failed');
    return html`<div class="attention">${icon('error')}<span>${text}</span>${buttons}</div>`;
  }

  private isInSight(id: string): boolean {
    const row = this.list.row(id);
    if (row === undefined) {
      return false;
    }
    const { top, bottom } = row.getBoundingClientRect();
    const frame = this.frame.getBoundingClientRect();
    return bottom > frame.top + 40 && top < frame.bottom - 20;
  }

  private bring(id: string, node: string): void {
    if (node !== this.page.node) {
      this.page.look(node);
    }
    requestAnimationFrame(() => {
      this.list.show(id);
      this.list.focus(id);
      this.drawStatus();
    });
  }

  /** What goes on in the conversation that is shown. */
  private activity(): string {
    const node = this.page.node;
    if ([...this.waiting.values()].includes(node)) {
      return t('chat.waits');
    }
    const latest = this.conversation?.order.slice(-LATEST).reverse() ?? [];
    const calls = latest.map((id) => this.conversation?.get(id));
    const call = calls.find((it) => it?.kind === 'tool' && it.state === 'running');
    if (call?.kind === 'tool' && !runsBehind(call)) {
      return inWords(call, this.page);
    }
    return this.page.store.session?.nodes.get(node)?.activity || t('chat.working');
  }

  private drawToEnd(): void {
    const show = !this.list.atEnd && !this.frame.hidden;
    this.toEnd.hidden = !show;
    render(
      show ? action('arrow-down', t('chat.toEnd'), () => this.list.toEnd()) : nothing,
      this.toEnd,
    );
  }

  private keepPlace(): void {
    const { place } = this.list;
    if (place === undefined) {
      delete this.page.kept.place;
    } else {
      this.page.kept.place = place;
    }
    this.page.remember();
    if (this.waiting.size > 0) {
      this.drawStatus();
    }
  }

  // What the user does ----------------------------------------------------------------------------

  private key(event: KeyboardEvent): void {
    if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) {
      return;
    }
    const allowed = event.key === 'Enter' ? true : event.key === 'Backspace' ? false : undefined;
    const isTyping = event.target instanceof HTMLTextAreaElement && !this.composer.isEmpty;
    if (allowed === undefined || isTyping) {
      return;
    }
    for (const [id, node] of this.waiting) {
      const row = node === this.page.node ? this.rows.get(id)?.row : undefined;
      if (row instanceof ToolRow && this.isInSight(id)) {
        settled(event);
        row.settle(allowed);
        return;
      }
    }
    const [first] = this.waiting;
    if (first !== undefined) {
      settled(event);
      this.bring(...first); // nothing is settled that was not seen
    }
  }

  private async send({ text, images, attachments }: Sent): Promise<boolean> {
    const { store, kept } = this.page;
    const session = store.session?.id ?? kept.session;
    const isRoot = store.session?.nodes.get(this.page.node)?.parent === undefined;
    const node = isRoot ? '' : this.page.node;
    this.list.toEnd();
    const opened = await this.page.ask({ kind: 'send', session, text, node, images, attachments });
    if (opened !== undefined && opened.session !== session) {
      this.composer.goOnIn(opened.session);
      await this.page.attach(opened.session);
    }
    return opened !== undefined;
  }

  stop(): void {
    const { session } = this.page.store;
    if (session !== undefined && this.isWorking) {
      void this.page.ask({ kind: 'stop', session: session.id });
    }
  }

  async begin(): Promise<void> {
    await this.page.attach('new');
    this.composer.focus();
  }

  private pickModel(anchor: HTMLElement): void {
    const { models, store } = this.page;
    openMenu(anchor, t('model.pick'), [
      ...(models?.choices ?? []).map(({ name, models: names, ready }) => ({
        label: name,
        detail: ready ? names.join(', ') : t('model.noKey', { models: names.join(', ') }),
        checked: name === models?.current,
        run: () => void this.pick(store.session?.id ?? '', name),
      })),
      { label: t('noModel.setUp'), run: () => void this.page.ask({ kind: 'set_up_model' }) },
    ]);
  }

  private pickMode(anchor: HTMLElement): void {
    const current = this.composer.shownMode;
    openMenu(anchor, t('mode.pick'), [
      ...MODES.map((mode) => ({
        label: t(`mode.${mode}`),
        detail: t(`mode.${mode}.detail`),
        icon: MODE_ICONS[mode],
        checked: mode === current,
        run: () => void this.setMode(mode),
      })),
      {
        label: t('mode.agent'),
        detail: t('mode.agent.detail'),
        icon: MODE_ICONS.agent,
        checked: current === 'agent',
        run: () => this.composer.begin('/change'),
      },
    ]);
  }

  private async setMode(mode: SessionInfo['mode']): Promise<boolean> {
    const { store, kept } = this.page;
    const session = store.session?.id ?? kept.session;
    const opened = await this.page.ask({ kind: 'set_mode', session, mode });
    if (opened === undefined) {
      return false;
    }
    if (opened.session !== session) {
      this.composer.goOnIn(opened.session);
      await this.page.attach(opened.session);
    }
    this.page.announcer.say(t('mode.label', { mode: t(`mode.${mode}`) }));
    this.composer.focus();
    return true;
  }

  /** Shows what a block of code changes; nothing is written before the user accepts it there. */
  private async apply(wish: ApplyWish): Promise<void> {
    const session = this.page.store.session?.id ?? '';
    const applied = await this.page.ask({ kind: 'apply_code', session, ...wish });
    if (applied !== undefined && applied.said !== '') {
      this.page.tell(applied.said);
    }
  }

  /** Lets an agent that failed go on from what was said so far. */
  private async retry(): Promise<void> {
    const session = this.page.store.session?.id ?? '';
    await this.page.ask({ kind: 'control', session, node: this.page.node, action: 'retry' });
  }

  private async carryOut(): Promise<void> {
    if (await this.setMode('ask')) {
      await this.send({ text: t('mode.carryOutSaid'), images: [], attachments: [] });
    }
  }

  private async pick(session: string, group: string): Promise<void> {
    const node = this.page.store.session?.nodes.get(this.page.node);
    const of = node?.parent === undefined ? '' : this.page.node;
    const models = await this.page.ask({ kind: 'pick_model', session, group, node: of });
    if (models !== undefined) {
      this.page.models = models;
      this.drawRest();
      this.composer.focus();
    }
  }
}

/** Nothing else takes the key. */
function settled(event: Event): void {
  event.preventDefault();
  event.stopPropagation();
}

function link(part: string, label: string, run: () => void): TemplateResult {
  return html`<button type="button" class="link-button" data-part=${part} @click=${run}>${label}</button>`;
}
