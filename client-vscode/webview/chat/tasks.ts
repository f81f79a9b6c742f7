/**
 * The tasks of auto mode as a graph: each below those that it needs, coloured by state, walked with
 * the arrow keys. Enter or a click opens the conversation of its agent.
 */

import { svg } from 'lit/html.js';
import { html, icon, nothing, render, repeat, type TemplateResult } from '../lit';
import { type Key, t } from '../strings';
import type { TaskGraphEntry, TaskShown } from '../wire';
import type { Chat } from './row';
import { type LaidOut, layOut, SIZE } from './task-layout';

const STATE_ICONS: Record<TaskGraphEntry['state'], string> = {
  running: 'loading',
  done: 'pass-filled',
  failed: 'error',
  stopped: 'debug-stop',
};
/** Signs that are in every font, so that a state is seen without its colour. */
const SIGNS: Record<TaskShown['state'], string> = {
  waiting: '○',
  running: '▶',
  done: '✓',
  failed: '✗',
  skipped: '–',
  cancelled: '■',
};
/** Columns of a title that fit; a Chinese character takes two. */
const TITLE = 15;

export class TasksRow {
  readonly element = document.createElement('div');
  private entry: TaskGraphEntry | undefined;
  private laidOut: LaidOut = { places: new Map(), width: 0, height: 0 };
  private shape = '';
  private at: string | undefined;

  constructor(private readonly chat: Chat) {}

  show(entry: TaskGraphEntry): void {
    this.entry = entry;
    const shape = JSON.stringify(entry.tasks.map(({ id, needs }) => [id, needs]));
    if (shape !== this.shape) {
      this.shape = shape;
      this.laidOut = layOut(entry.tasks);
    }
    if (!entry.tasks.some(({ id }) => id === this.at)) {
      this.at = entry.tasks[0]?.id;
    }
    this.draw();
  }

  private draw(): void {
    const { entry } = this;
    if (entry === undefined) {
      return;
    }
    const done = entry.tasks.filter(({ state }) => state === 'done').length;
    const state = t(`tasks.${entry.state}` as Key);
    this.element.dataset.state = entry.state;
    this.element.setAttribute('aria-label', `${t('tasks.label')}, ${state}`);
    render(
      html`<div class="plan-head">
          ${icon(STATE_ICONS[entry.state], entry.state === 'running')}<strong>${t('tasks.label')}</strong>
          <span class="fine">${t('plan.progress', { done, of: entry.tasks.length })} · ${state}</span>
        </div>
        ${this.graph(entry.tasks)} ${this.detail()}`,
      this.element,
    );
  }

  private graph(tasks: readonly TaskShown[]): TemplateResult {
    const { places, width, height } = this.laidOut;
    return html`<div class="tasks-scroll">
      <svg
        role="group"
        aria-label=${t('tasks.graph')}
        width=${width}
        height=${height}
        viewBox="0 0 ${width} ${height}"
        @keydown=${(event: KeyboardEvent) => this.key(event)}
      >
        ${tasks.flatMap(({ id, needs }) => needs.map((need) => this.edge(need, id, places)))}
        ${repeat(
          tasks,
          ({ id }) => id,
          (task) => this.node(task),
        )}
      </svg>
    </div>`;
  }

  private edge(from: string, to: string, places: LaidOut['places']) {
    const above = places.get(from);
    const below = places.get(to);
    if (above === undefined || below === undefined) {
      return nothing;
    }
    const [x, y] = [above.x + SIZE.width / 2, above.y + SIZE.height];
    const [toX, toY] = [below.x + SIZE.width / 2, below.y];
    const middle = (y + toY) / 2;
    const near = from === this.at || to === this.at ? ' near' : '';
    return svg`<path class=${`task-edge${near}`} d=${`M${x} ${y}C${x} ${middle} ${toX} ${middle} ${toX} ${toY}`} />`;
  }

  private node(task: TaskShown) {
    const place = this.laidOut.places.get(task.id);
    if (place === undefined) {
      return nothing;
    }
    const titles = new Map(this.entry?.tasks.map(({ id, title }) => [id, title]));
    const needs = task.needs.map((need) => titles.get(need) ?? need).join(', ');
    const after = needs === '' ? '' : `, ${t('tasks.after', { tasks: needs })}`;
    const spoken = `${task.title}, ${t(`task.${task.state}` as Key)}${after}`;
    // The tip is outside of the button, whose name is not to be read twice.
    return svg`<g>
      <title>${spoken}</title>
      <g
        class="task"
        role="button"
        tabindex=${task.id === this.at ? 0 : -1}
        data-id=${task.id}
        data-state=${task.state}
        aria-label=${spoken}
        @click=${() => this.choose(task, true)}
        @focus=${() => this.choose(task, false)}
      >
        <rect x=${place.x} y=${place.y} width=${SIZE.width} height=${SIZE.height} rx="4" />
        <text x=${place.x + 8} y=${place.y + SIZE.height / 2 + 4}>${SIGNS[task.state]} ${shortened(task.title)}</text>
      </g>
    </g>`;
  }

  /** What there is to know of the chosen task. */
  private detail(): TemplateResult | typeof nothing {
    const task = this.entry?.tasks.find(({ id }) => id === this.at);
    if (task === undefined) {
      return nothing;
    }
    return html`<div class="task-detail">
      <strong>${task.title}</strong>
      <span class="fine">
        ${t(`task.${task.state}` as Key)}${task.attempts > 1 ? ` · ${t('tasks.attempts', { n: task.attempts })}` : nothing}
      </span>
      ${task.error === '' ? nothing : html`<p>${icon('error')} ${task.error}</p>`}
      ${
        task.corrections.length === 0
          ? nothing
          : html`<ul>
            ${task.corrections.map(
              ({ cause, kind, text }) =>
                html`<li>
                ${t(`cause.${cause}` as Key)}: ${t(`correction.${kind}` as Key)}
                ${text === '' ? nothing : html`<span class="fine">${text}</span>`}
              </li>`,
            )}
          </ul>`
      }
    </div>`;
  }

  private choose(task: TaskShown, opens: boolean): void {
    if (this.at !== task.id) {
      this.at = task.id;
      this.draw();
    }
    if (opens && task.node !== '') {
      this.chat.page.look(task.node);
    }
  }

  /** Down and up along the lines, left and right in the row. */
  private key(event: KeyboardEvent): void {
    const tasks = this.entry?.tasks ?? [];
    const task = tasks.find(({ id }) => id === this.at);
    if (task === undefined) {
      return;
    }
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      this.choose(task, true);
      return;
    }
    const row = this.laidOut.places.get(task.id)?.y;
    const beside = tasks
      .filter(({ id }) => this.laidOut.places.get(id)?.y === row)
      .sort((a, b) => this.x(a.id) - this.x(b.id));
    const place = beside.indexOf(task);
    const goals: Record<string, TaskShown | undefined> = {
      ArrowDown: tasks.find(({ needs }) => needs.includes(task.id)),
      ArrowUp: tasks.find(({ id }) => task.needs.includes(id)),
      ArrowRight: beside[place + 1],
      ArrowLeft: beside[place - 1],
      Home: tasks[0],
      End: tasks.at(-1),
    };
    if (event.key in goals) {
      event.preventDefault();
      const goal = goals[event.key];
      if (goal !== undefined) {
        this.choose(goal, false);
        const mark = this.element.querySelector<SVGGElement>(`g[data-id="${CSS.escape(goal.id)}"]`);
        mark?.focus();
        mark?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      }
    }
  }

  private x(id: string): number {
    return this.laidOut.places.get(id)?.x ?? 0;
  }
}

/** A title, or as much of it as fits into its box: whole words, since it is also read out. */
function shortened(title: string): string {
  let columns = 0;
  let shown = '';
  for (const character of title) {
    columns += character > '\u2e7f' ? 2 : 1;
    if (columns > TITLE) {
      const word = shown.lastIndexOf(' ');
      return `${word > 0 ? shown.slice(0, word) : shown.slice(0, -1)}…`;
    }
    shown += character;
  }
  return title;
}
