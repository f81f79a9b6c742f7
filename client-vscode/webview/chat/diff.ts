/**
 * Proposed edits as diffs. While they wait, each hunk can be taken or left; what is left out is not
 * written. The same view shows what was changed.
 */

import { action, html, icon, nothing, render, repeat, type TemplateResult } from '../lit';
import { counted, t } from '../strings';
import type { Hunk, ProposedEdit } from '../wire';

export interface DiffActions {
  /** Shows the file in the editor. */
  open(edit: ProposedEdit, line: number): void;
  /** Shows the whole change as a diff in the editor. */
  compare?(edit: ProposedEdit): void;
  /** Brings the file back to how it was. */
  revert?(edit: ProposedEdit): void;
  /** Told when the choice of hunks changed. */
  chosen?(): void;
  /** What the file is called, where there are several folders. */
  name?(edit: ProposedEdit): string;
}

const CHANGE_ICONS = { create: 'diff-added', modify: 'diff-modified', delete: 'diff-removed' };
/** Lines of a hunk shown at first. */
const MOST_LINES = 200;

/** Which hunks are taken: all, until the user says otherwise. */
export class Choice {
  private readonly refused: Set<string>;

  constructor(refused: readonly string[] = []) {
    this.refused = new Set(refused);
  }

  /** What is not taken, for another choice of the same edits. */
  get left(): string[] {
    return [...this.refused];
  }

  has(edit: ProposedEdit, hunk: Hunk): boolean {
    return !this.refused.has(`${hunk.index} ${edit.path}`);
  }

  set(edit: ProposedEdit, hunk: Hunk, taken: boolean): void {
    const key = `${hunk.index} ${edit.path}`;
    if (taken) {
      this.refused.delete(key);
    } else {
      this.refused.add(key);
    }
  }

  /** Indices of taken hunks by path; files without any are left out. */
  accepted(edits: readonly ProposedEdit[]): Record<string, number[]> {
    const accepted: Record<string, number[]> = {};
    for (const edit of edits) {
      const hunks = edit.hunks.filter((hunk) => this.has(edit, hunk)).map(({ index }) => index);
      if (hunks.length > 0 || edit.hunks.length === 0) {
        accepted[edit.path] = hunks;
      }
    }
    return accepted;
  }

  count(edits: readonly ProposedEdit[]): { taken: number; all: number } {
    let taken = 0;
    let all = 0;
    for (const edit of edits) {
      all += edit.hunks.length;
      taken += edit.hunks.filter((hunk) => this.has(edit, hunk)).length;
    }
    return { taken, all };
  }
}

/** What `Choice` begins with where these hunks are accepted. */
export function leftOut(
  edits: readonly ProposedEdit[],
  accepted: Record<string, readonly number[]>,
): string[] {
  return edits.flatMap(({ path, hunks }) =>
    hunks
      .filter(({ index }) => !accepted[path]?.includes(index))
      .map(({ index }) => `${index} ${path}`),
  );
}

/** Lines added and removed. */
export function size(edit: ProposedEdit): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const hunk of edit.hunks) {
    added += hunk.newLines.length;
    removed += hunk.oldLines.length;
  }
  return { added, removed };
}

export function counts({ added, removed }: { added: number; removed: number }): TemplateResult {
  const label = t('diff.counts', { added, removed });
  return html`<span class="counts" role="img" aria-label=${label} title=${label}
    ><span class="added">+${added}</span> <span class="removed">−${removed}</span></span
  >`;
}

/** Diffs of files; with a choice, every hunk has a box. */
export function diffs(
  edits: readonly ProposedEdit[],
  actions: DiffActions,
  choice?: Choice,
): TemplateResult {
  return html`<div class="diffs">
    ${repeat(
      edits,
      (edit) => `${edit.root}:${edit.path}`,
      (edit) => fileDiff(edit, actions, choice),
    )}
  </div>`;
}

function fileDiff(edit: ProposedEdit, actions: DiffActions, choice?: Choice): TemplateResult {
  const line = edit.hunks[0]?.newStart ?? 1;
  const name = actions.name?.(edit) ?? edit.path;
  const open = () => {
    // What is not there before it is accepted, is shown where it is proposed.
    if (choice !== undefined && edit.change === 'create' && actions.compare) {
      actions.compare(edit);
    } else {
      actions.open(edit, line);
    }
  };
  return html`<section class="diff" aria-label=${name}>
    <div class="diff-head">
      <span title=${t(`diff.${edit.change}`)}>${icon(CHANGE_ICONS[edit.change])}</span>
      <span class="spoken">${t(`diff.${edit.change}`)}</span>
      <button type="button" class="path" title=${name} @click=${open}>
        <bdi>${name}</bdi>
      </button>
      ${counts(size(edit))}
      ${
        actions.compare
          ? action('diff', t('diff.compare', { path: name }), () => actions.compare?.(edit))
          : nothing
      }
      ${
        actions.revert
          ? action('discard', t('diff.revert', { path: name }), () => actions.revert?.(edit))
          : nothing
      }
    </div>
    ${edit.hunks.map((hunk) => hunkView(edit, hunk, actions, choice))}
  </section>`;
}

function hunkView(
  edit: ProposedEdit,
  hunk: Hunk,
  actions: DiffActions,
  choice?: Choice,
): TemplateResult {
  const taken = choice?.has(edit, hunk) ?? true;
  const name = t('diff.hunk', { n: hunk.index + 1, line: hunk.newStart });
  const toggle = (event: Event) => {
    choice?.set(edit, hunk, (event.target as HTMLInputElement).checked);
    actions.chosen?.();
  };
  const box = choice
    ? html`<label class="hunk-choice">
        <input type="checkbox" .checked=${taken} @change=${toggle} />
        <span>${name}</span>
        <span class="fine">${t(taken ? 'diff.taken' : 'diff.left')}</span>
      </label>`
    : nothing;
  return html`<div class="hunk" ?data-left=${!taken}>
    ${box}
    <div class="lines" tabindex="0" role="region" aria-label=${`${edit.path}: ${name}`}>
      ${lines(hunk)}
    </div>
  </div>`;
}

/** The lines of a hunk; built once, because hunks never change. */
const BUILT = new WeakMap<Hunk, HTMLElement>();

function lines(hunk: Hunk): HTMLElement {
  let table = BUILT.get(hunk);
  if (table === undefined || table.isConnected) {
    table = build(hunk, MOST_LINES);
    BUILT.set(hunk, table);
  }
  return table;
}

function build(hunk: Hunk, most: number): HTMLElement {
  const table = document.createElement('div');
  table.className = 'line-table';
  const before = hunk.before ?? [];
  let old = hunk.oldStart - before.length;
  let now = hunk.newStart - before.length;
  const all: [sign: string, old: number | undefined, now: number | undefined, text: string][] = [];
  for (const text of before) {
    all.push([' ', old++, now++, text]);
  }
  for (const text of hunk.oldLines) {
    all.push(['−', old++, undefined, text]);
  }
  for (const text of hunk.newLines) {
    all.push(['+', undefined, now++, text]);
  }
  for (const text of hunk.after ?? []) {
    all.push([' ', old++, now++, text]);
  }
  for (const line of all.slice(0, most)) {
    table.append(lineRow(...line));
  }
  if (all.length > most) {
    const more = document.createElement('button');
    more.type = 'button';
    more.className = 'link-button';
    more.textContent = t('diff.more', { n: all.length - most });
    more.addEventListener('click', () => {
      more.replaceWith(...all.slice(most).map((line) => lineRow(...line)));
    });
    table.append(more);
  }
  return table;
}

function lineRow(
  sign: string,
  old: number | undefined,
  now: number | undefined,
  text: string,
): HTMLElement {
  const row = document.createElement('div');
  row.className = sign === '+' ? 'line added' : sign === '−' ? 'line removed' : 'line';
  for (const number of [old, now]) {
    const cell = document.createElement('span');
    cell.className = 'number';
    cell.setAttribute('aria-hidden', 'true');
    cell.textContent = number === undefined ? '' : String(number);
    row.append(cell);
  }
  const mark = document.createElement('span');
  mark.className = 'sign';
  mark.textContent = sign;
  const content = document.createElement('span');
  content.className = 'text';
  content.textContent = text === '' ? ' ' : text;
  row.append(mark, content);
  return row;
}

/** Diffs drawn into an element of their own. */
export function showDiffs(
  element: HTMLElement,
  edits: readonly ProposedEdit[],
  actions: DiffActions,
): void {
  render(
    edits.length > 0 ? diffs(edits, actions) : html`<p class="fine">${counted('files', 0)}</p>`,
    element,
  );
}
