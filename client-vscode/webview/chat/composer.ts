/**
 * The input line: text that grows with what is typed, files and pictures that go along, what was said
 * before by the arrow keys. A draft is kept until it is sent.
 */

import type { Draft } from '../kept';
import { action, html, icon, nothing, render, type TemplateResult } from '../lit';
import { openMenu } from '../menu';
import type { Page } from '../page';
import { t } from '../strings';
import type { Attachment, Image, PanelStart, SessionInfo } from '../wire';
import { CHIP_ICONS, chip, nameOf, same } from './chips';
import { CompletionList } from './completion';
import { imageOf, MOST_PICTURES, PICTURES, refusalOf } from './pictures';

const MOST_HEIGHT = 260;
/** Codicons of the modes. */
/** What holds in a session: in a copy nothing of the user's changes before they decide on all of it. */
export type ShownMode = SessionInfo['mode'] | 'agent';

export const MODE_ICONS: Record<ShownMode, string> = {
  agent: 'tools',
  ask: 'shield',
  edits: 'edit',
  plan: 'checklist',
};
const NOTHING: Draft = { text: '', attachments: [] };

export interface Sent extends Draft {
  images: Image[];
}

export interface ComposerActions {
  send(sent: Sent): Promise<boolean>;
  stop(): void;
  pickModel(anchor: HTMLElement): void;
  pickMode(anchor: HTMLElement): void;
  /** Leaves plan mode and lets the agent carry its plan out. */
  carryOut(): void;
  /** Focus leaves upwards, to the conversation. */
  leave(): void;
}

export class Composer {
  readonly element = document.createElement('div');
  private readonly field = document.createElement('textarea');
  private readonly chips = document.createElement('div');
  private readonly waiting = document.createElement('div');
  private readonly bar = document.createElement('div');
  private readonly completions: CompletionList;
  private images: Image[] = [];
  private attachments: Attachment[] = [];
  /** Place in what was said before, counted from the end; 0 is the draft. */
  private back = 0;
  private draft = '';
  /** On their way, or waiting for the server to start, the oldest first. */
  private readonly sending: Sent[] = [];
  /** Where the draft that is shown is kept. */
  private shownKey: string;
  /** Nothing was shown yet: what is typed now is for the session that will be. */
  private isEarly = true;
  private isBusy = false;
  private life: PanelStart['life'] = 'starting';

  constructor(
    private readonly page: Page,
    private readonly actions: ComposerActions,
  ) {
    this.element.className = 'composer';
    this.chips.className = 'chips';
    this.waiting.className = 'waiting-said';
    this.waiting.hidden = true;
    this.bar.className = 'composer-bar';
    const { field } = this;
    field.rows = 1;
    field.setAttribute('aria-label', t('composer.label'));
    this.completions = new CompletionList(page, field, () => undefined);
    this.element.append(this.completions.element, this.waiting, this.chips, field, this.bar);
    field.addEventListener('input', () => this.typed());
    field.addEventListener('keydown', (event) => this.key(event));
    field.addEventListener('paste', (event) => this.pasted(event));
    this.element.addEventListener('dragover', (event) => this.dragged(event));
    this.element.addEventListener('dragleave', () => this.element.classList.remove('drop'));
    this.element.addEventListener('drop', (event) => this.dropped(event));
    this.shownKey = this.draftKey;
    const { waiting, drafts } = page.kept;
    this.put([...waiting, drafts[this.shownKey] ?? NOTHING]);
  }

  focus(): void {
    this.field.focus({ preventScroll: true });
  }

  get isEmpty(): boolean {
    return this.field.value.trim() === '' && this.images.length + this.attachments.length === 0;
  }

  /** Shows the draft of the session that is shown; what is being written in it stays as it is. */
  restore(): void {
    const key = this.draftKey;
    const wasEarly = this.isEarly;
    this.isEarly = false;
    if (key === this.shownKey) {
      return;
    }
    if (wasEarly && !this.isEmpty) {
      this.goOnIn(key);
      return;
    }
    this.back = 0;
    this.shownKey = key;
    this.images = [];
    this.put([this.page.kept.drafts[key] ?? NOTHING]);
  }

  /** What is being written goes on in another session: one that was only now made. */
  goOnIn(key: string): void {
    const { drafts } = this.page.kept;
    delete drafts[this.shownKey];
    this.shownKey = key;
    const before = drafts[key];
    if (before !== undefined) {
      this.put([before, { text: this.field.value, attachments: this.attachments }]);
    }
    this.keep();
  }

  /** Puts a text into the field in place of what is there. */
  edit(text: string): void {
    this.setText(text);
    this.typed();
    this.focus();
  }

  /** Adds what a command, a menu or a drop gave. */
  insert(text: string, attachments: readonly Attachment[]): void {
    for (const given of attachments) {
      if (!this.attachments.some((it) => same(it, given))) {
        this.attachments.push(given);
      }
    }
    if (text !== '') {
      const { value, selectionStart } = this.field;
      const gap = selectionStart > 0 && !/\s$/.test(value.slice(0, selectionStart)) ? ' ' : '';
      this.field.setRangeText(gap + text, selectionStart, this.field.selectionEnd, 'end');
      this.typed();
    }
    this.keep();
    this.drawChips();
    this.focus();
  }

  draw(life: PanelStart['life'], working: boolean): void {
    this.life = life;
    this.drawWaiting();
    const { models } = this.page;
    this.field.placeholder = t(working ? 'composer.queue' : 'composer.placeholder');
    const model = models?.current ?? '';
    render(
      html`${action('mention', t('composer.context'), (event) => this.contextMenu(event.currentTarget as HTMLElement), { menu: true })}
        ${action('file-media', t('composer.picture'), () => this.pickPictures())}
        ${
          models !== undefined && models.choices.length > 0
            ? html`<button
                type="button"
                class="model-button"
                aria-haspopup="menu"
                aria-expanded="false"
                aria-label=${t('composer.model', { model })}
                title=${t('composer.model', { model })}
                @click=${(event: Event) => this.actions.pickModel(event.currentTarget as HTMLElement)}
              >
                <span>${model}</span>${icon('chevron-down')}
              </button>`
            : nothing
        }
        ${this.modeButton()}
        ${working ? nothing : action('type-hierarchy-sub', t('composer.auto'), () => this.begin('/auto'), { part: 'auto' })}
        <span class="space"></span>
        ${this.canCarryOut(working) ? this.carryOutButton() : nothing}
        ${working ? this.stopButton() : nothing}
        ${action(
          'send',
          t(working ? 'composer.sendQueued' : 'composer.send'),
          () => void this.send(),
          {
            disabled: !this.canSend || this.isEmpty,
            part: 'send',
          },
        )}`,
      this.bar,
    );
  }

  /** What is written becomes a task for auto mode or Agent mode; it is still to be sent. */
  begin(command: '/auto' | '/change'): void {
    const [word, ...rest] = this.field.value.trimStart().split(/(?<=\s)/);
    if (word?.trim() !== command) {
      const isOther = ['/auto', '/change'].includes(word?.trim() ?? '');
      const task = isOther ? rest.join('') : this.field.value.trimStart();
      this.setText(`${command} ${task}`);
      this.typed();
    }
    this.focus();
  }

  private get mode(): SessionInfo['mode'] {
    return this.page.store.session?.info?.mode ?? 'ask';
  }

  get shownMode(): ShownMode {
    const isInCopy = this.page.store.session?.info?.inCopy ?? false;
    return isInCopy && this.mode !== 'plan' ? 'agent' : this.mode;
  }

  private modeButton(): TemplateResult {
    const mode = this.shownMode;
    const name = t(`mode.${mode}`);
    return html`<button
      type="button"
      class="mode-button"
      data-part="mode"
      data-mode=${mode}
      aria-haspopup="menu"
      aria-expanded="false"
      aria-label=${t('mode.label', { mode: name })}
      title=${t('mode.label', { mode: name })}
      @click=${(event: Event) => this.actions.pickMode(event.currentTarget as HTMLElement)}
    >
      ${icon(MODE_ICONS[mode])}<span>${name}</span>
    </button>`;
  }

  /** There is a plan, or at least an answer, that plan mode keeps from being carried out. */
  private canCarryOut(working: boolean): boolean {
    return this.mode === 'plan' && !working && (this.page.store.session?.info?.messages ?? 0) > 1;
  }

  private carryOutButton(): TemplateResult {
    return html`<button
      type="button"
      class="link-button"
      data-part="carry-out"
      @click=${() => this.actions.carryOut()}
    >
      ${t('mode.carryOut')}
    </button>`;
  }

  private stopButton(): TemplateResult {
    return action('debug-stop', t('composer.stop'), () => this.actions.stop(), { part: 'stop' });
  }

  private get draftKey(): string {
    const { store, kept } = this.page;
    return (this.isEarly ? kept.session : store.session?.id) || 'new';
  }

  /** Shows drafts as one. */
  private put(drafts: readonly Draft[]): void {
    const texts = drafts.map(({ text }) => text).filter((text) => text !== '');
    this.setText(texts.join('\n'));
    this.attachments = drafts.flatMap(({ attachments }) => attachments);
    this.drawChips();
  }

  /** What is not sent yet is there again when the page is. */
  private keep(): void {
    const { kept } = this.page;
    const { attachments } = this;
    const text = this.field.value;
    delete kept.drafts[this.shownKey]; // the latest come last
    if (text !== '' || attachments.length > 0) {
      kept.drafts[this.shownKey] = { text, attachments };
    }
    kept.waiting = this.sending.map((it) => ({ text: it.text, attachments: it.attachments }));
    this.drawWaiting();
    this.page.remember();
  }

  /** What waits for the server is seen, and can be had back. */
  private drawWaiting(): void {
    const waiting = this.life === 'running' ? [] : this.sending;
    this.waiting.hidden = waiting.length === 0;
    render(
      waiting.map(
        (it) => html`<div class="waiting-line" title=${t('composer.waiting')}>
          ${icon('clock')}<span class="spoken">${t('composer.waiting')}: </span>
          <span class="waiting-text"><bdi>${it.text}</bdi></span>
          ${action('edit', t('composer.takeBack', { text: it.text }), () => this.unsay(it))}
        </div>`,
      ),
      this.waiting,
    );
  }

  private unsay(sent: Sent): void {
    const at = this.sending.indexOf(sent);
    if (at >= 0 && !this.isBusy) {
      this.takeBack(this.sending.splice(at, 1));
      this.focus();
    }
  }

  private setText(text: string): void {
    this.completions.close();
    this.field.value = text;
    this.grow();
  }

  /** As high as its text, up to a limit. */
  private grow(): void {
    this.field.style.height = 'auto';
    this.field.style.height = `${Math.min(this.field.scrollHeight + 2, MOST_HEIGHT)}px`;
  }

  private typed(): void {
    this.grow();
    this.back = 0;
    this.keep();
    this.completions.update();
    this.drawSend();
  }

  private drawSend(): void {
    const send = this.bar.querySelector<HTMLButtonElement>('[data-part=send]');
    if (send !== null) {
      send.disabled = !this.canSend || this.isEmpty;
    }
  }

  private key(event: KeyboardEvent): void {
    if (event.isComposing || this.completions.key(event)) {
      return;
    }
    const { value, selectionStart, selectionEnd } = this.field;
    const plain = !event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey;
    if (event.key === 'Enter' && plain) {
      event.preventDefault();
      void this.send();
    } else if (event.key === 'Escape' && plain) {
      if (this.isEmpty) {
        this.actions.stop();
      }
    } else if (event.key === 'ArrowUp' && plain && selectionEnd === 0 && selectionStart === 0) {
      this.recall(1, event);
    } else if (event.key === 'ArrowUp' && plain && this.back > 0 && !value.includes('\n')) {
      this.recall(1, event);
    } else if (
      event.key === 'ArrowDown' &&
      plain &&
      this.back > 0 &&
      selectionStart === value.length
    ) {
      this.recall(-1, event);
    } else if (event.key === 'ArrowUp' && event.altKey) {
      event.preventDefault();
      this.actions.leave();
    } else if (event.key === 'Backspace' && plain && selectionEnd === 0 && this.hasChips) {
      this.removeLastChip();
    }
  }

  private recall(step: 1 | -1, event: KeyboardEvent): void {
    const { history } = this.page.kept;
    const back = Math.max(0, this.back + step);
    if (back > history.length) {
      return;
    }
    event.preventDefault();
    if (this.back === 0) {
      this.draft = this.field.value;
    }
    this.setText(back === 0 ? this.draft : (history.at(-back) ?? ''));
    this.keep();
    this.back = back;
    const end = step > 0 ? 0 : this.field.value.length;
    this.field.setSelectionRange(end, end);
    this.drawSend();
  }

  /** What waited for the server goes to it. */
  async flush(): Promise<void> {
    if (!this.isBusy && this.sending.length > 0) {
      await this.sendAll();
    }
  }

  /** What waited for a server that does not come stands in the field again. */
  giveBack(): void {
    if (!this.isBusy && this.sending.length > 0) {
      this.takeBack(this.sending.splice(0));
    }
  }

  private async send(): Promise<void> {
    if (this.isEmpty || !this.canSend) {
      return;
    }
    const { images, attachments } = this;
    const text = this.field.value.trim();
    this.sending.push({ text, images, attachments });
    const { history } = this.page.kept;
    this.page.kept.history = [...history.filter((it) => it !== text), text].slice(-100);
    this.back = 0;
    this.setText('');
    this.images = [];
    this.attachments = [];
    this.keep();
    this.drawChips();
    if (this.life === 'running') {
      await this.flush();
    } else {
      this.page.announcer.say(t('composer.waiting'));
    }
  }

  /** Whether a message reaches the server, now or once it has started. */
  private get canSend(): boolean {
    return this.life !== 'failed' && this.life !== 'noPython';
  }

  /** What is typed while a message is on its way follows it; what cannot be sent comes back. */
  private async sendAll(): Promise<void> {
    this.isBusy = true;
    await this.sendInOrder();
    this.isBusy = false;
  }

  private async sendInOrder(): Promise<void> {
    for (let first = this.sending[0]; first !== undefined; first = this.sending[0]) {
      if (!(await this.actions.send(first))) {
        this.takeBack(this.sending.splice(0));
        return;
      }
      this.sending.shift();
      this.keep();
    }
  }

  private takeBack(sent: readonly Sent[]): void {
    this.images = [...sent.flatMap(({ images }) => images), ...this.images];
    this.put([...sent, { text: this.field.value, attachments: this.attachments }]);
    this.keep();
  }

  private get hasChips(): boolean {
    return this.images.length + this.attachments.length > 0;
  }

  private removeLastChip(): void {
    (this.images.length > 0 ? this.images : this.attachments).pop();
    this.keep();
    this.drawChips();
  }

  private drawChips(): void {
    this.chips.hidden = !this.hasChips;
    render(
      html`${this.attachments.map((it, index) =>
        chip(CHIP_ICONS[it.kind], nameOf(it), () => {
          this.attachments.splice(index, 1);
          this.keep();
          this.drawChips();
          this.focus();
        }),
      )}
      ${this.images.map((_, index) =>
        chip('file-media', t('composer.pictureName', { n: index + 1 }), () => {
          this.images.splice(index, 1);
          this.drawChips();
          this.focus();
        }),
      )}`,
      this.chips,
    );
    this.drawSend();
  }

  private contextMenu(anchor: HTMLElement): void {
    openMenu(anchor, t('composer.context'), [
      {
        label: t('context.files'),
        icon: 'file-add',
        run: () => void this.page.ask({ kind: 'pick_files' }),
      },
      {
        label: t('context.file'),
        icon: 'file',
        run: () => void this.page.ask({ kind: 'editor_context', what: 'file' }),
      },
      {
        label: t('context.selection'),
        icon: 'list-selection',
        run: () => void this.page.ask({ kind: 'editor_context', what: 'selection' }),
      },
      {
        label: t('context.problems'),
        icon: 'warning',
        run: () => void this.page.ask({ kind: 'editor_context', what: 'diagnostics' }),
      },
      { label: t('context.mention'), icon: 'mention', run: () => this.trigger('@') },
      { label: t('context.command'), icon: 'symbol-event', run: () => this.trigger('/') },
    ]);
  }

  private trigger(sign: '@' | '/'): void {
    if (sign === '/') {
      this.field.setRangeText('/', 0, 0, 'end');
      this.field.setSelectionRange(1, 1);
      this.typed();
      this.focus();
    } else {
      this.insert('@', []);
    }
  }

  private pickPictures(): void {
    const input = document.createElement('input');
    input.type = 'file';
    input.accept = PICTURES.join(',');
    input.multiple = true;
    input.addEventListener('change', () => void this.addFiles([...(input.files ?? [])]));
    input.click();
  }

  private pasted(event: ClipboardEvent): void {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length > 0) {
      event.preventDefault();
      void this.addFiles(files);
    }
  }

  private dragged(event: DragEvent): void {
    const types = event.dataTransfer?.types ?? [];
    if (types.includes('Files') || types.includes('text/uri-list')) {
      event.preventDefault();
      this.element.classList.add('drop');
    }
  }

  private dropped(event: DragEvent): void {
    this.element.classList.remove('drop');
    const list = event.dataTransfer?.getData('text/uri-list') ?? '';
    const uris = list.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#'));
    const files = [...(event.dataTransfer?.files ?? [])].filter(({ type }) =>
      PICTURES.includes(type),
    );
    if (uris.length === 0 && files.length === 0) {
      return;
    }
    event.preventDefault();
    if (files.length > 0) {
      void this.addFiles(files);
    } else {
      void this.page.ask({ kind: 'drop', uris });
    }
  }

  private async addFiles(files: readonly File[]): Promise<void> {
    for (const file of files) {
      const isFull = this.images.length >= MOST_PICTURES;
      const refused = refusalOf(file) ?? (isFull ? t('picture.many', { n: MOST_PICTURES }) : '');
      if (refused !== '') {
        this.page.tell(refused);
      } else {
        this.images.push(await imageOf(file));
        this.drawChips();
      }
    }
  }
}
