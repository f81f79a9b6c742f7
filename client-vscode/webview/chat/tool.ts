/**
 * One tool call as a card: what it was called with, what it wants, what it changes, what it gave. A
 * call that waits for consent is open and says exactly what it asks for.
 */

import { copyButton } from '../buttons';
import { highlighted } from '../code';
import { begunOf, isOpen, setBegun, setOpen } from '../kept';
import { html, icon, nothing, render, type Shown, type TemplateResult } from '../lit';
import { openMenu } from '../menu';
import { nameIn } from '../page';
import { type Key, seconds, t } from '../strings';
import type {
  AskedTarget,
  GrantScope,
  ProposedEdit,
  ScriptRun,
  ToolEntry,
  ToolState,
} from '../wire';
import { Choice, counts, diffs, size } from './diff';
import type { Chat } from './row';
import { brief, inWords as callInWords, verb } from './verbs';

const STATE_ICONS: Record<ToolState, string> = {
  asked: 'shield',
  running: 'loading',
  done: 'check',
  failed: 'error',
  denied: 'circle-slash',
  cancelled: 'debug-stop',
};
const TARGET_ICONS: Record<AskedTarget['kind'], string> = {
  read: 'eye',
  write: 'edit',
  execute: 'terminal',
  connect: 'globe',
};
const SCOPES: GrantScope[] = ['session', 'workspace', 'user'];
/** Characters of output in the page; the middle of more is left out. */
const MOST_OUTPUT = 60_000;
/** Characters at the end of an output in which its last line is looked for. */
const LAST_LINE = 400;
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours of terminals begin with one
const COLOURS = /\u001b\[[0-9;?]*[A-Za-z]/g;

export class ToolRow {
  readonly element = document.createElement('div');
  private readonly output = document.createElement('pre');
  private choice = new Choice();
  private outputShown = '';
  private entry: ToolEntry | undefined;
  private arguments: { text: string; node: HTMLElement } | undefined;
  private note = '';

  constructor(private readonly chat: Chat) {
    this.output.className = 'output';
    this.output.tabIndex = 0;
    this.output.setAttribute('aria-label', t('tool.output'));
  }

  show(entry: ToolEntry): void {
    const wasAsked = this.entry?.state === 'asked';
    const asks = entry.state === 'asked';
    if (asks && !wasAsked) {
      const { text, refused } = begunOf(this.chat.page.kept, entry.id);
      this.note = text;
      this.choice = new Choice(refused);
      if (refused.length > 0) {
        this.tellChoice(entry); // the window may have been loaded anew since
      }
    }
    this.entry = entry;
    const name = callInWords(entry, this.chat.page);
    const label = t('tool.label', { name, state: t(`tool.${entry.state}`) });
    this.element.setAttribute('aria-label', label);
    this.element.dataset.state = entry.state;
    const details = this.element.querySelector('details');
    if (details !== null && wasAsked && !asks) {
      details.open = isOpen(this.chat.page.kept, entry.id);
    }
    render(this.card(entry), this.element);
    // What it asks for must be seen; where there is a diff, that says it better than arguments.
    const shown = this.element.querySelector('details');
    if (asks && shown !== null && entry.edits.length === 0) {
      shown.open = true;
    }
    if (this.isOpen) {
      this.showOutput(entry);
    }
  }

  /** Shows the choice of parts that is kept: it was made in the editor's diff. */
  chooseAgain(): void {
    if (this.entry?.state === 'asked') {
      this.choice = new Choice(begunOf(this.chat.page.kept, this.entry.id).refused);
      this.show(this.entry);
    }
  }

  private get isOpen(): boolean {
    return this.element.querySelector('details')?.open ?? false;
  }

  private card(entry: ToolEntry): TemplateResult {
    const isRunning = entry.state === 'running';
    return html`<details
        class="tool-card"
        ?open=${isOpen(this.chat.page.kept, entry.id)}
        @toggle=${(event: Event) => this.toggled(event.currentTarget as HTMLDetailsElement)}
      >
        <summary>
          <span class="state" title=${t(`tool.${entry.state}`)}>${icon(STATE_ICONS[entry.state], isRunning)}</span>
          <span class="name" title=${entry.name} data-tool=${entry.name}>${verb(entry.name)}</span>
          <span class="brief"><bdi>${brief(entry, (edit) => nameIn(this.chat.page, edit))}</bdi></span>
          ${this.marks(entry)}
        </summary>
        <div class="tool-body">${this.body(entry)}</div>
      </details>
      ${entry.state === 'denied' ? this.reason(entry) : nothing}
      ${entry.state === 'asked' ? this.question(entry) : nothing}
      ${runsBehind(entry) ? this.behind(entry) : nothing}`;
  }

  /** A script that its call has left running: where it is, and its end. */
  private behind(entry: ToolEntry): TemplateResult {
    const { page } = this.chat;
    const session = page.store.session?.id ?? '';
    const stop = () => void page.ask({ kind: 'end_script', session, entry: entry.id });
    return html`<div class="behind">
      ${icon('server-process')}<span>${t('tool.background', { id: entry.background })}</span>
      <code><bdi>${lastLine(entry.output)}</bdi></code>
      <button type="button" class="link-button" data-part="end-script" @click=${stop}>
        ${t('tool.end')}
      </button>
    </div>`;
  }

  /** Why it was refused is read without opening the card. */
  private reason(entry: ToolEntry): Shown {
    return entry.reason ? html`<p class="reason">${icon('info')}${entry.reason}</p>` : nothing;
  }

  private marks(entry: ToolEntry): Shown {
    const total = { added: 0, removed: 0 };
    for (const edit of entry.edits) {
      const { added, removed } = size(edit);
      total.added += added;
      total.removed += removed;
    }
    const waits = entry.state === 'asked';
    return html`<span class="marks"
      >${waits ? html`<span class="badge waits">${t('tool.asked')}</span>` : nothing}
      ${entry.edits.length > 0 ? counts(total) : nothing}
      ${entry.isolation ? isolated(entry.isolation) : nothing}
      ${entry.seconds >= 0.1 ? html`<span class="fine">${seconds(entry.seconds)}</span>` : nothing}</span
    >`;
  }

  private body(entry: ToolEntry): TemplateResult {
    const hasOutput = entry.output !== '';
    return html`${entry.state === 'asked' || entry.state === 'denied' ? nothing : this.reason(entry)}
    ${this.argumentsOf(entry)}
    ${entry.state !== 'asked' && entry.edits.length > 0 ? this.changes(entry) : nothing}
    ${hasOutput ? html`<div class="part-head">${t('tool.output')} ${this.copyOutput()}</div>${this.output}` : nothing}
    ${entry.child ? this.toChild(entry.child) : nothing}`;
  }

  private copy: HTMLElement | undefined;

  private copyOutput(): HTMLElement {
    this.copy ??= copyButton(() => this.entry?.output ?? '');
    return this.copy;
  }

  /** A script as one block with what it can reach; else the arguments by name, as they were given. */
  private argumentsOf({ arguments: text, script }: ToolEntry): Shown {
    if (script !== undefined) {
      return html`<div class="part-head">${t('tool.script', { language: script.language })}</div>
        ${this.block(script.text, script.language, t('tool.script', { language: script.language }))}
        ${reach(script)}`;
    }
    if (text === '' || text === '{}') {
      return nothing;
    }
    return html`<div class="part-head">${t('tool.arguments')}</div>
      ${this.block(inWords(text), 'yaml', t('tool.arguments'))}`;
  }

  private block(text: string, language: string, label: string): HTMLElement {
    if (this.arguments?.text !== text) {
      const node = document.createElement('pre');
      node.className = 'arguments';
      node.tabIndex = 0;
      node.setAttribute('aria-label', label);
      node.append(highlighted(text, language));
      this.arguments = { text, node };
    }
    return this.arguments.node;
  }

  private changes(entry: ToolEntry, choice?: Choice): TemplateResult {
    const { page } = this.chat;
    const session = page.store.session?.id ?? '';
    const where = ({ path, root }: ProposedEdit) => ({ path, root });
    return diffs(
      entry.edits,
      {
        open: (edit, line) => void page.ask({ kind: 'open_file', ...where(edit), line }),
        name: (edit) => nameIn(page, edit),
        compare: (edit) =>
          void page.ask({ kind: 'show_diff', session, entry: entry.id, ...where(edit) }),
        chosen: () => {
          this.tellChoice(entry);
          this.begin();
          this.show(this.entry ?? entry);
        },
      },
      choice,
    );
  }

  private tellChoice(entry: ToolEntry): void {
    const { page } = this.chat;
    const session = page.store.session?.id ?? '';
    const accepted = this.choice.accepted(entry.edits);
    void page.ask({ kind: 'choose_hunks', session, entry: entry.id, accepted });
  }

  private toChild(node: string): TemplateResult {
    return html`<button type="button" class="link-button" @click=${() => this.chat.page.look(node)}>
      ${icon('type-hierarchy-sub')} ${t('tool.child')}
    </button>`;
  }

  private question(entry: ToolEntry): TemplateResult {
    // Its commands are in the block of the script, and whether it may use the network is below it.
    const asked = entry.asked.filter(
      ({ kind }) => entry.script === undefined || kind === 'read' || kind === 'write',
    );
    return html`<div class="consent" role="group" aria-label=${t('tool.consent', { name: callInWords(entry, this.chat.page) })}>
      ${entry.reason ? html`<p class="reason">${icon('shield')}${entry.reason}</p>` : nothing}
      ${
        asked.length > 0
          ? html`<ul class="targets">
              ${asked.map(target)}
            </ul>`
          : nothing
      }
      ${
        entry.edits.length > 0
          ? html`${this.changes(entry, this.choice)}${this.reviewButtons(entry)}`
          : this.permitButtons(entry)
      }
    </div>`;
  }

  private permitButtons(entry: ToolEntry): TemplateResult {
    return html`<div class="consent-buttons">
        <vscode-button title=${t('tool.allowKey')} @click=${() => this.permit(entry, true, 'call')}
          >${t('tool.allow')}</vscode-button
        >
        ${entry.lasting ? this.alwaysButton((scope) => this.permit(entry, true, scope)) : nothing}
        <vscode-button
          secondary
          title=${t('tool.denyKey')}
          @click=${() => this.permit(entry, false, 'call')}
          >${t('tool.deny')}</vscode-button
        >
      </div>
      ${this.noteField()}`;
  }

  private reviewButtons(entry: ToolEntry): TemplateResult {
    const { taken, all } = this.choice.count(entry.edits);
    const label = taken === all ? t('diff.acceptAll') : t('diff.acceptSome', { taken, all });
    return html`<div class="consent-buttons">
        <vscode-button
          title=${t('tool.allowKey')}
          ?disabled=${taken === 0 && all > 0}
          @click=${() => this.review(entry, true)}
          >${label}</vscode-button
        >
        ${taken === all ? this.alwaysButton((scope) => this.review(entry, true, scope)) : nothing}
        <vscode-button
          secondary
          title=${t('tool.denyKey')}
          @click=${() => this.review(entry, false)}
          >${t('diff.refuse')}</vscode-button
        >
      </div>
      ${this.noteField()}`;
  }

  private alwaysButton(run: (scope: GrantScope) => Promise<unknown>): TemplateResult {
    return html`<vscode-button
      secondary
      icon-after="chevron-down"
      aria-haspopup="menu"
      aria-expanded="false"
      @click=${(event: Event) => this.always(event.currentTarget as HTMLElement, run)}
      >${t('tool.always')}</vscode-button
    >`;
  }

  private noteField(): TemplateResult {
    return html`<input
      class="field note"
      autocomplete="off"
      aria-label=${t('tool.note')}
      placeholder=${t('tool.note')}
      .value=${this.note}
      @input=${(event: Event) => {
        this.note = (event.target as HTMLInputElement).value;
        this.begin();
      }}
    />`;
  }

  /** What is chosen and written stays when the row goes out of sight, or the page. */
  private begin(): void {
    const { page } = this.chat;
    if (this.entry !== undefined) {
      setBegun(page.kept, this.entry.id, { text: this.note, refused: this.choice.left });
      page.remember();
    }
  }

  private always(anchor: HTMLElement, run: (scope: GrantScope) => Promise<unknown>): void {
    openMenu(
      anchor,
      t('tool.always'),
      SCOPES.map((scope) => ({
        label: t(`scope.${scope}` as Key),
        detail: t(`scope.${scope}.detail` as Key),
        run: () => void run(scope),
      })),
    );
  }

  private permit(entry: ToolEntry, allowed: boolean, scope: GrantScope): Promise<unknown> {
    const { page } = this.chat;
    const session = page.store.session?.id ?? '';
    const note = this.note.trim();
    return page.ask({ kind: 'permit', session, entry: entry.id, allowed, scope, note });
  }

  private review(entry: ToolEntry, accept: boolean, scope: GrantScope = 'call'): Promise<unknown> {
    const { page } = this.chat;
    const session = page.store.session?.id ?? '';
    const accepted = accept ? this.choice.accepted(entry.edits) : {};
    const note = this.note.trim();
    return page.ask({ kind: 'review', session, entry: entry.id, accepted, scope, note });
  }

  /** What the keys of the page do: consent to all that is chosen, or refuse. */
  settle(allowed: boolean): void {
    const entry = this.entry;
    if (entry?.state !== 'asked') {
      return;
    }
    if (entry.edits.length === 0) {
      void this.permit(entry, allowed, 'call');
    } else if (!allowed || this.choice.count(entry.edits).taken > 0) {
      void this.review(entry, allowed);
    }
  }

  private toggled(details: HTMLDetailsElement): void {
    const { page } = this.chat;
    const entry = this.entry;
    if (entry === undefined) {
      return;
    }
    if (entry.state !== 'asked') {
      setOpen(page.kept, entry.id, details.open);
      page.remember();
    }
    if (details.open) {
      this.showOutput(entry);
    }
  }

  /** Output that only grew is only added to. */
  private showOutput({ output }: ToolEntry): void {
    if (output.length > MOST_OUTPUT) {
      const half = MOST_OUTPUT / 2;
      const left = output.length - MOST_OUTPUT;
      const cut = `${output.slice(0, half)}\n\n… ${t('tool.cut', { n: left })} …\n\n${output.slice(-half)}`;
      this.output.textContent = cut.replace(COLOURS, '');
      this.outputShown = '';
    } else if (this.outputShown !== '' && output.startsWith(this.outputShown)) {
      const atEnd =
        this.output.scrollTop + this.output.clientHeight >= this.output.scrollHeight - 4;
      this.output.append(output.slice(this.outputShown.length).replace(COLOURS, ''));
      this.outputShown = output;
      if (atEnd) {
        this.output.scrollTop = this.output.scrollHeight;
      }
    } else {
      const follows = this.entry !== undefined && runsBehind(this.entry);
      this.output.textContent = output.replace(COLOURS, '');
      this.outputShown = output;
      if (follows) {
        this.output.scrollTop = this.output.scrollHeight;
      }
    }
  }
}

/** Whether it shows a script that runs though its call has ended. */
export function runsBehind({ background, state }: ToolEntry): boolean {
  return Boolean(background) && state === 'running';
}

function lastLine(output: string): string {
  const line = output.slice(-LAST_LINE).trimEnd().split('\n').at(-1) ?? '';
  return line.replace(COLOURS, '').trim();
}

function target({ kind, target: text }: AskedTarget): TemplateResult {
  return html`<li>
    ${icon(TARGET_ICONS[kind])}<span class="target-kind">${t(`target.${kind}`)}</span>
    <code>${text}</code>
  </li>`;
}

/** What confined a script; that nothing did is said in words. */
function isolated(by: string): TemplateResult {
  const isBare = by.startsWith('none');
  return html`<span class="badge" title=${t('tool.isolation')}
    >${icon(isBare ? 'warning' : 'package')}${isBare ? t('tool.noSandbox') : by}</span
  >`;
}

/** Where a script runs, and what it can reach. */
function reach({ folder, network, isolation }: ScriptRun): TemplateResult {
  const sandbox =
    isolation === 'none' ? t('tool.noSandbox') : t('tool.sandbox', { name: isolation || '?' });
  return html`<ul class="reach">
    <li>${icon('folder')}<bdi>${folder}</bdi></li>
    <li>${icon('globe')}${t(network ? 'tool.network' : 'tool.noNetwork')}</li>
    <li>${icon(isolation === 'none' ? 'warning' : 'package')}${sandbox}</li>
  </ul>`;
}

/** Arguments by name, each on its lines; text that is no whole JSON, because it was cut, as it is. */
function inWords(text: string): string {
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch {
    return text;
  }
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    return text;
  }
  return Object.entries(values)
    .map(([name, value]) => `${name}: ${written(value, '  ')}`)
    .join('\n');
}

function written(value: unknown, indent: string): string {
  if (typeof value === 'string') {
    return value.includes('\n') ? `\n${indent}${value.split('\n').join(`\n${indent}`)}` : value;
  }
  if (Array.isArray(value)) {
    return value.map((item) => `\n${indent}- ${written(item, `${indent}  `).trimStart()}`).join('');
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([name, item]) => `\n${indent}${name}: ${written(item, `${indent}  `)}`)
      .join('');
  }
  return String(value);
}
