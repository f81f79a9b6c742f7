/** Words, icons and colours of a migration; what a screen reader says of a function. */

import { l10n, MarkdownString, ThemeColor, ThemeIcon } from 'vscode';
import type {
  FunctionState,
  MigrationFunction,
  MigrationResult,
  MigrationStage,
  StageState,
} from '../../protocol';

export function stateName(state: FunctionState): string {
  const names = {
    new: l10n.t('Not translated yet'),
    c: l10n.t('Stays in C'),
    baseline: l10n.t('Rust (baseline)'),
    idiomatic: l10n.t('Rust (idiomatic)'),
  };
  return names[state];
}

/** Another form for each state, so that colour alone says nothing. */
export function stateIcon(state: FunctionState): ThemeIcon {
  const icons: Record<FunctionState, [icon: string, color: string]> = {
    new: ['circle-outline', 'descriptionForeground'],
    c: ['circle-slash', 'problemsWarningIcon.foreground'],
    baseline: ['pass', 'testing.iconPassed'],
    idiomatic: ['pass-filled', 'testing.iconPassed'],
  };
  const [icon, color] = icons[state];
  return new ThemeIcon(icon, new ThemeColor(color));
}

/**
 * What is known of a function in Rust: translated, verified by a comparison with the C, or that it
 * differs; of others what they are written in.
 */
export function functionIcon({ state, tests: verdict }: MigrationFunction): ThemeIcon {
  if (verdict === 'differs') {
    return new ThemeIcon('warning', new ThemeColor('testing.iconFailed'));
  }
  if (state === 'new' || state === 'c') {
    return stateIcon(state);
  }
  return verdict === 'equal'
    ? new ThemeIcon('verified-filled', new ThemeColor('testing.iconPassed'))
    : new ThemeIcon('pass', new ThemeColor('charts.blue'));
}

export function stageName(name: string): string {
  const names: Record<string, string> = {
    scan: l10n.t('Scan'),
    baseline: l10n.t('Translate'),
    build: l10n.t('Build'),
    verify: l10n.t('Verify'),
    equivalence: l10n.t('Verify'),
    lift: l10n.t('Refactor'),
    'lib-replace': l10n.t('Libraries'),
    prepare: l10n.t('Interfaces'),
    transpile: l10n.t('Rewrite'),
    optimize: l10n.t('Optimize'),
  };
  return names[name] ?? name;
}

export function stageState(state: StageState): string {
  const names = {
    todo: l10n.t('not started'),
    running: l10n.t('in progress'),
    done: l10n.t('done'),
    failed: l10n.t('failed'),
  };
  return names[state];
}

export function stageIcon({ state }: MigrationStage): ThemeIcon {
  const icons: Record<StageState, ThemeIcon> = {
    todo: new ThemeIcon('circle-outline', new ThemeColor('descriptionForeground')),
    running: new ThemeIcon('sync~spin'),
    done: new ThemeIcon('pass', new ThemeColor('testing.iconPassed')),
    failed: new ThemeIcon('error', new ThemeColor('testing.iconFailed')),
  };
  return icons[state];
}

/** What a stage has made less of, such as `unsafe lines 120 → 40`. */
export function fewer({ counts }: Pick<MigrationStage, 'counts'>): string[] {
  const names: Record<string, (before: number, after: number) => string> = {
    unsafe_functions: (before, after) => l10n.t('unsafe functions {0} → {1}', before, after),
    unsafe_lines: (before, after) => l10n.t('unsafe lines {0} → {1}', before, after),
    raw_pointers: (before, after) => l10n.t('raw pointers {0} → {1}', before, after),
  };
  return counts.flatMap(({ name, before, after }) => names[name]?.(before, after) ?? []);
}

/** How many functions in Rust behave like the C, and how strong the tests are; empty before that. */
export function verifiedSentence({ functions, strength }: MigrationResult): string {
  const inRust = functions.filter(({ state }) => state !== 'new' && state !== 'c');
  const verified = inRust.filter(({ tests: verdict }) => verdict === 'equal').length;
  if (!inRust.some(({ tests: verdict }) => verdict === 'equal' || verdict === 'differs')) {
    return '';
  }
  if (strength === undefined || strength === null) {
    return l10n.t('{0} of {1} verified', verified, inRust.length);
  }
  const { killed, planted } = strength;
  return l10n.t(
    '{0} of {1} verified, {2} of {3} mutants found',
    verified,
    inRust.length,
    killed,
    planted,
  );
}

export function countOf(number: number): string {
  return number === 1 ? l10n.t('1 function') : l10n.t('{0} functions', number);
}

/** `sums.c:3` */
export function place({ path, range }: MigrationFunction): string {
  return `${path}:${range.start.line + 1}`;
}

export function spoken(it: MigrationFunction): string {
  const line = it.range.start.line + 1;
  const parts = [l10n.t('{0}: {1}, {2}, line {3}', it.name, stateName(it.state), it.path, line)];
  return [...parts, it.reason, tests(it)].filter(Boolean).join('. ');
}

/** What the tests of equivalence say, in words. */
export function tests({ tests: verdict, testsNote: note }: MigrationFunction): string {
  const names: Record<string, string> = {
    equal: l10n.t('behaves like the C'),
    differs: l10n.t('behaves differently from the C'),
    no_input: l10n.t('skipped: no valid input'),
    unstable: l10n.t('skipped: non-deterministic'),
    not_run: l10n.t('not tested'),
  };
  const name = names[verdict] ?? verdict;
  if (name === '' || note === '') {
    return name;
  }
  return verdict === 'equal' ? l10n.t('{0} in {1} cases', name, note) : `${name}: ${note}`;
}

export function tooltip(it: MigrationFunction): MarkdownString {
  const found = new MarkdownString('', true);
  found.appendMarkdown(`**${stateName(it.state)}** · `);
  found.appendText(`${it.name} · ${place(it)}`);
  for (const text of [it.reason, tests(it)].filter(Boolean)) {
    found.appendMarkdown('\n\n');
    found.appendText(text);
  }
  if (it.circle) {
    found.appendMarkdown(`\n\n$(sync) ${l10n.t('Part of a dependency cycle')}`);
  }
  return found;
}
