/**
 * What the migration view shows, without the editor: the functions in order of translation, how
 * many are in which state, and what a filter leaves of them.
 */

import type { FunctionState, MigrationFunction, MigrationResult } from '../../protocol';

export const STATES: readonly FunctionState[] = ['new', 'c', 'baseline', 'idiomatic'];

export interface Filter {
  /** Words of name, file, reason or tests; all must occur. */
  text: string;
  states: readonly FunctionState[];
}

export const EVERYTHING: Filter = { text: '', states: STATES };

export const NOTHING: MigrationResult = {
  folder: '',
  revision: -1,
  trusted: true,
  running: false,
  stages: [],
  functions: [],
  skipped: [],
  passes: [],
  notes: [],
  log: '',
  partial: false,
  resumable: false,
};

export function narrows({ text, states }: Filter): boolean {
  return text.trim() !== '' || states.length < STATES.length;
}

/** The functions a filter leaves, in their order. */
export function visible(
  functions: readonly MigrationFunction[],
  { text, states }: Filter,
): MigrationFunction[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return functions.filter((it) => {
    const all = `${it.name} ${it.path} ${it.reason} ${it.tests} ${it.testsNote}`.toLowerCase();
    return states.includes(it.state) && words.every((word) => all.includes(word));
  });
}

export function counts(functions: readonly MigrationFunction[]): Record<FunctionState, number> {
  const found: Record<FunctionState, number> = { new: 0, c: 0, baseline: 0, idiomatic: 0 };
  for (const { state } of functions) {
    found[state] += 1;
  }
  return found;
}

/** Whether anybody has scanned the project. */
export function isKnown(migration: MigrationResult): boolean {
  return migration.functions.length > 0 || migration.stages.some(({ state }) => state !== 'todo');
}
