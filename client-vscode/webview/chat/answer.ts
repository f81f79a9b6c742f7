/** What the model said: its thoughts folded, its words as Markdown while they stream in. */

import { isOpen, setOpen } from '../kept';
import { action, html, icon, nothing, render } from '../lit';
import { Markdown } from '../markdown';
import { cost, short, t } from '../strings';
import type { AnswerEntry } from '../wire';
import type { Chat } from './row';

export class AnswerRow {
  readonly element = document.createElement('div');
  private readonly thinking = document.createElement('details');
  private readonly summary = document.createElement('summary');
  private readonly thoughts = document.createElement('div');
  private readonly words: Markdown;
  private readonly foot = document.createElement('div');
  private thoughtsShown = '';
  private footShown = '';

  constructor(private readonly chat: Chat) {
    this.words = new Markdown((href) => chat.page.follow(href));
    this.thinking.className = 'thinking';
    this.thoughts.className = 'thoughts';
    this.thinking.append(this.summary, this.thoughts);
    this.foot.className = 'row-actions';
    this.element.append(this.thinking, this.words.element, this.foot);
  }

  show(entry: AnswerEntry): void {
    this.element.setAttribute('aria-label', t('answer.label'));
    this.element.setAttribute('aria-busy', String(entry.streaming));
    this.element.classList.toggle('streaming', entry.streaming);
    this.showThinking(entry);
    this.words.show(entry.text, entry.streaming);
    this.showFoot(entry);
  }

  private showThinking(entry: AnswerEntry): void {
    this.thinking.hidden = entry.thinking === '';
    if (entry.thinking === '') {
      return;
    }
    if (this.thinking.ontoggle === null) {
      this.thinking.open = isOpen(this.chat.page.kept, entry.id);
      this.thinking.ontoggle = () => {
        setOpen(this.chat.page.kept, entry.id, this.thinking.open);
        this.chat.page.remember();
        this.showThoughts(this.latest);
      };
    }
    const isThinking = entry.streaming && entry.text === '';
    render(
      html`${icon(isThinking ? 'loading' : 'lightbulb', isThinking)}
      ${t(isThinking ? 'answer.thinking' : 'answer.thought')}`,
      this.summary,
    );
    this.showThoughts(entry.thinking);
  }

  private latest = '';

  private showThoughts(text: string): void {
    this.latest = text;
    if (!this.thinking.open) {
      return;
    }
    if (text.startsWith(this.thoughtsShown)) {
      this.thoughts.append(text.slice(this.thoughtsShown.length));
    } else {
      this.thoughts.textContent = text;
    }
    this.thoughtsShown = text;
  }

  private showFoot(entry: AnswerEntry): void {
    const { usage } = entry;
    const used = usage.input + usage.output;
    const state = `${entry.streaming} ${entry.model} ${used} ${usage.cost}`;
    if (state === this.footShown) {
      return;
    }
    this.footShown = state;
    const tokens = t('answer.tokens', { input: short(usage.input), output: short(usage.output) });
    const price = usage.cost > 0 ? ` · ${cost(usage.cost)}` : '';
    const numbers = used > 0 ? html` · <span>${tokens}${price}</span>` : nothing;
    render(
      entry.streaming
        ? nothing
        : html`<span class="fine" title=${entry.model}>${entry.model.split('/').at(-1)}${numbers}</span>
            ${action('copy', t('copy'), () => {
              void this.chat.page.ask({ kind: 'copy', text: this.text });
            })}`,
      this.foot,
    );
  }

  private get text(): string {
    return this.words.text;
  }
}
