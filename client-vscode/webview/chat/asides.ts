/** Rows that are neither said nor done: notices of the runtime, the plan, questions to the user. */

import { begunOf, setBegun } from '../kept';
import { html, icon, render, type TemplateResult } from '../lit';
import { renderMarkdown } from '../markdown';
import { type Key, t } from '../strings';
import type { NoticeEntry, PlanEntry, PlanStep, QuestionEntry } from '../wire';
import type { Chat } from './row';

/** What a command lists is Markdown; faults hold words of others, and are shown as they are. */
const MARKS = /[`*]|^- /m;

export class NoticeRow {
  readonly element = document.createElement('div');

  constructor(private readonly chat: Chat) {}

  show({ level, text }: NoticeEntry): void {
    const isMarkdown = level === 'info' && MARKS.test(text);
    const words = isMarkdown ? renderMarkdown(text, (href) => this.chat.page.follow(href)) : text;
    const label = t(`notice.${level}`);
    this.element.dataset.level = level;
    this.element.setAttribute('aria-label', label);
    render(
      html`${icon(level)}<span class="spoken">${label}: </span><div class="notice-text">${words}</div>`,
      this.element,
    );
  }
}

const STEP_ICONS: Record<PlanStep['state'], string> = {
  pending: 'circle-large-outline',
  active: 'arrow-circle-right',
  done: 'pass-filled',
  dropped: 'circle-slash',
};

export class PlanRow {
  readonly element = document.createElement('div');

  show({ steps }: PlanEntry): void {
    const done = steps.filter(({ state }) => state === 'done').length;
    const of = steps.filter(({ state }) => state !== 'dropped').length;
    this.element.setAttribute('aria-label', t('plan.label'));
    render(
      html`<div class="plan-head">
          ${icon('checklist')}<strong>${t('plan.label')}</strong>
          <span class="fine">${t('plan.progress', { done, of })}</span>
        </div>
        <ol class="plan-steps">
          ${steps.map(step)}
        </ol>`,
      this.element,
    );
  }
}

function step({ text, state }: PlanStep): TemplateResult {
  return html`<li data-state=${state}>
    ${icon(STEP_ICONS[state])}<span class="spoken">${t(`plan.${state}` as Key)}: </span><span>${text}</span>
  </li>`;
}

export class QuestionRow {
  readonly element = document.createElement('div');
  private asked = '';
  private text: HTMLElement | undefined;

  constructor(private readonly chat: Chat) {}

  show(entry: QuestionEntry): void {
    this.element.setAttribute('aria-label', t('question.label'));
    if (this.text === undefined || this.asked !== entry.text) {
      this.asked = entry.text;
      this.text = renderMarkdown(entry.text, (href) => this.chat.page.follow(href));
    }
    const isOpen = entry.answer === null || entry.answer === undefined;
    this.element.classList.toggle('waiting', isOpen);
    render(
      html`<div class="question-head">${icon('question')}<div>${this.text}</div></div>
        ${isOpen ? this.input(entry) : html`<div class="said">${entry.answer}</div>`}`,
      this.element,
    );
  }

  private input(entry: QuestionEntry): TemplateResult {
    if (entry.choices.length > 0) {
      return html`<div class="choices">
        ${entry.choices.map(
          (choice, index) =>
            html`<vscode-button ?secondary=${index > 0} @click=${() => this.answer(entry, choice)}
              >${choice}</vscode-button
            >`,
        )}
      </div>`;
    }
    return html`<form
      class="answer-form"
      @submit=${(event: SubmitEvent) => {
        event.preventDefault();
        const field = (event.currentTarget as HTMLFormElement).elements.namedItem('answer');
        void this.answer(entry, (field as HTMLInputElement).value);
      }}
    >
      <input
        name="answer"
        class="field"
        autocomplete="off"
        aria-label=${t('question.answer')}
        .value=${begunOf(this.chat.page.kept, entry.id).text}
        @input=${(event: Event) => this.begin(entry, (event.target as HTMLInputElement).value)}
      />
      <button type="submit" class="plain-button">${t('question.send')}</button>
    </form>`;
  }

  /** What is written stays when the row goes out of sight, or the page. */
  private begin({ id }: QuestionEntry, text: string): void {
    const { page } = this.chat;
    setBegun(page.kept, id, { text, refused: [] });
    page.remember();
  }

  private async answer(entry: QuestionEntry, text: string): Promise<void> {
    const session = this.chat.page.store.session?.id ?? '';
    await this.chat.page.ask({ kind: 'answer', session, entry: entry.id, text });
  }
}

/** Whether an entry waits for the user. */
export function waits(entry: { kind: string; state?: string; answer?: string | null }): boolean {
  return (
    (entry.kind === 'tool' && entry.state === 'asked') ||
    (entry.kind === 'question' && (entry.answer === null || entry.answer === undefined))
  );
}
