/**
 * What can follow `@` or `/` in the input: a list box above it. Arrow keys choose, Enter or Tab
 * takes, Escape closes; the text field keeps the focus all the time.
 */

import { html, icon, render, repeat } from '../lit';
import type { Page } from '../page';
import { t } from '../strings';
import type { Completion, CompletionKind } from '../wire';

const ICONS: Record<CompletionKind, string> = {
  file: 'file',
  folder: 'folder',
  command: 'symbol-event',
  skill: 'mortar-board',
  rule: 'shield',
  finding: 'bug',
};
const QUIET_MS = 60;

export class CompletionList {
  readonly element = document.createElement('div');
  private items: readonly Completion[] = [];
  private at = 0;
  private start = 0;
  /** What the items that are shown are for. */
  private shown = '';
  private asked = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** Where the user closed the list: it stays closed there. */
  private closedAt = -1;

  constructor(
    private readonly page: Page,
    private readonly field: HTMLTextAreaElement,
    private readonly taken: (item: Completion) => void,
  ) {
    this.element.id = 'completions';
    this.element.className = 'completions';
    this.element.setAttribute('role', 'listbox');
    this.element.setAttribute('aria-label', t('completion.label'));
    this.element.hidden = true;
    field.setAttribute('aria-autocomplete', 'list');
    field.setAttribute('aria-controls', this.element.id);
    field.addEventListener('blur', () => this.close());
    document.addEventListener('selectionchange', () => {
      if (document.activeElement === field) {
        this.update();
      }
    });
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  /** Looks at what stands before the cursor. */
  update(): void {
    const { selectionStart, selectionEnd, value } = this.field;
    const before = value.slice(0, selectionStart);
    const match = /(?:^|\s)(@[^\s@]*)$/.exec(before) ?? /^(\/[^\s]*)$/.exec(before);
    if (match?.[1] === undefined || selectionStart !== selectionEnd) {
      this.closedAt = -1;
      this.close();
      return;
    }
    const start = selectionStart - match[1].length;
    if (start === this.closedAt) {
      return;
    }
    clearTimeout(this.timer);
    if (this.isOpen && start === this.start && match[1] === this.shown) {
      this.asked += 1; // nothing else is wanted any more: what is chosen stays
      return;
    }
    this.start = start;
    const trigger = match[1][0] as '@' | '/';
    const text = match[1].slice(1);
    this.timer = setTimeout(() => void this.fetch(trigger, text), QUIET_MS);
  }

  /** Returns whether the key was for the list. */
  key(event: KeyboardEvent): boolean {
    if (!this.isOpen) {
      return false;
    }
    const { length } = this.items;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      this.at = (this.at + (event.key === 'ArrowDown' ? 1 : length - 1)) % length;
      this.draw();
    } else if (event.key === 'Enter' && this.isTyped) {
      this.close();
      return false; // nothing is left to complete: the key is for the message
    } else if ((event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey) {
      this.take(this.at);
    } else if (event.key === 'Escape') {
      this.closedAt = this.start;
      this.close();
    } else {
      return false;
    }
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  /** Whether what is chosen stands in the field already. */
  private get isTyped(): boolean {
    const { value, selectionStart } = this.field;
    return this.items[this.at]?.insert.trim() === value.slice(this.start, selectionStart);
  }

  close(): void {
    clearTimeout(this.timer);
    this.asked += 1;
    this.element.hidden = true;
    this.field.removeAttribute('aria-activedescendant');
  }

  private async fetch(trigger: '@' | '/', text: string): Promise<void> {
    this.asked += 1;
    const number = this.asked;
    const answer = await this.page.bridge
      .ask({ kind: 'complete', trigger, text })
      .catch(() => ({ items: [] })); // without a server nothing can follow
    if (number !== this.asked) {
      return; // the user has typed on
    }
    this.items = answer.items;
    this.shown = trigger + text;
    this.at = 0;
    if (this.items.length === 0 || document.activeElement !== this.field) {
      this.close();
      return;
    }
    this.element.hidden = false;
    this.draw();
  }

  private take(index: number): void {
    const item = this.items[index];
    if (item === undefined) {
      return;
    }
    const { selectionStart } = this.field;
    const space = item.kind === 'folder' ? '' : ' ';
    this.close();
    this.field.setRangeText(item.insert + space, this.start, selectionStart, 'end');
    this.field.dispatchEvent(new Event('input', { bubbles: true }));
    this.taken(item);
  }

  private draw(): void {
    render(
      repeat(
        this.items,
        (_, index) => index,
        (item, index) =>
          html`<div
            role="option"
            id=${`completion-${index}`}
            aria-selected=${String(index === this.at)}
            @pointerdown=${(event: Event) => {
              event.preventDefault();
              this.take(index);
            }}
          >
            ${icon(ICONS[item.kind])}<span class="completion-label">${item.label}</span
            ><span class="completion-detail">${item.detail}</span>
          </div>`,
      ),
      this.element,
    );
    this.field.setAttribute('aria-activedescendant', `completion-${this.at}`);
    this.element.children[this.at]?.scrollIntoView({ block: 'nearest' });
  }
}
