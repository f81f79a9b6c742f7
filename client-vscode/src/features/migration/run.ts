/**
 * Runs of the migration: the user sees a notification with the stage and a Cancel button that ends
 * the compilers too, and in the end one sentence with the result and the ways on from there.
 */

import { commands, l10n, Uri, window, workspace } from 'vscode';
import type { JarvisContext } from '../../context';
import {
  MIGRATION_RUN,
  type MigrationRunParams,
  type MigrationRunResult,
  type MigrationScope,
} from '../../protocol';
import { withWork } from '../../work';
import { countOf, fewer } from './labels';

/** What to run; the token is added here. */
export type Wanted = Omit<MigrationRunParams, 'workDoneToken'>;

/** Parts that `resume` does not go on with: asking for them again does. */
const ALONE: readonly MigrationScope[] = ['scan', 'verify', 'lift', 'rewrite', 'revert'];

/** Runs after everything is saved: compilers read files. */
export async function run(
  context: JarvisContext,
  wanted: Wanted,
): Promise<MigrationRunResult | undefined> {
  if (!(await isTrusted())) {
    return undefined;
  }
  await workspace.saveAll(false);
  const titles: Partial<Record<MigrationScope, string>> = {
    scan: l10n.t('Scanning the C project'),
    verify: l10n.t('Verifying Rust against C'),
    lift: l10n.t('Refactoring the Rust code'),
    rewrite: l10n.t('Rewriting {0} with a model', wanted.function ?? ''),
    revert: l10n.t('Putting the baseline of {0} back', wanted.function ?? ''),
  };
  const title = titles[wanted.scope] ?? l10n.t('Migrating C to Rust');
  const result = await withWork(context, title, (workDoneToken) =>
    context.request(MIGRATION_RUN, { ...wanted, workDoneToken }),
  );
  void summarise(wanted, result);
  return result;
}

/** In a workspace that is not trusted nothing runs; the user is told why and how to trust it. */
async function isTrusted(): Promise<boolean> {
  if (workspace.isTrusted) {
    return true;
  }
  const manage = l10n.t('Manage Workspace Trust');
  const answer = await window.showWarningMessage(
    l10n.t(
      'Migrating C to Rust runs compilers and build scripts, so it needs a trusted workspace.',
    ),
    manage,
  );
  if (answer === manage) {
    await commands.executeCommand('workbench.trust.manage');
  }
  return false;
}

async function summarise(wanted: Wanted, result: MigrationRunResult): Promise<void> {
  if (result.cancelled) {
    const resume = l10n.t('Resume');
    const text = l10n.t('Stopped. Completed work is kept.');
    const ways = ALONE.includes(wanted.scope) ? [] : [resume];
    if ((await window.showInformationMessage(text, ...ways)) === resume) {
      await commands.executeCommand('jarvisLs.migration.resume');
    }
    return;
  }
  const view = l10n.t('Show Functions');
  const open = l10n.t('Open Crate');
  if (wanted.scope === 'verify') {
    await tellVerdict(result);
    return;
  }
  const ways = result.crate === undefined ? [view] : [view, open];
  const answer = await window.showInformationMessage(sentence(wanted, result), ...ways);
  if (answer === view) {
    await commands.executeCommand('jarvisLs.migration.showFunctions');
  } else if (answer === open && result.crate !== undefined) {
    const crate = Uri.parse(result.crate);
    await commands.executeCommand('vscode.openFolder', crate, { forceNewWindow: true });
  }
}

/** What the comparison found; a difference is a warning. */
async function tellVerdict({ functions, left, differs }: MigrationRunResult): Promise<void> {
  const report = l10n.t('Open Report');
  const all = functions + left;
  const ask =
    differs > 0
      ? window.showWarningMessage(
          l10n.t('{0} of {1} functions behave differently from the C.', differs, all),
          report,
        )
      : window.showInformationMessage(
          l10n.t('{0} of {1} functions were verified and behave like the C.', functions, all),
          report,
        );
  if ((await ask) === report) {
    await commands.executeCommand('jarvisLs.migration.openReport');
  }
}

function sentence(wanted: Wanted, result: MigrationRunResult): string {
  if (result.told !== undefined && result.told !== null) {
    return wanted.function === undefined ? result.told : `${wanted.function}: ${result.told}`;
  }
  const seconds = (result.milliseconds / 1000).toFixed(1);
  if (wanted.scope === 'scan') {
    return l10n.t('Scanned the C project in {0} s: {1}.', seconds, countOf(result.functions));
  }
  if (wanted.scope === 'lift') {
    const less = fewer(result).join(' · ');
    return result.functions === 0
      ? l10n.t('Nothing left to refactor.')
      : l10n.t('Refactored in {0} s: {1}.', seconds, less);
  }
  const inRust = result.functions - result.left;
  if (result.again) {
    return l10n.t(
      'Nothing has changed: {0} of {1} functions are in Rust.',
      inRust,
      result.functions,
    );
  }
  const done = l10n.t(
    '{0} of {1} functions are in Rust, and the crate builds ({2} s).',
    inRust,
    result.functions,
    seconds,
  );
  return result.skipped > 0 ? `${done} ${leftOut(result.skipped)}` : done;
}

function leftOut(files: number): string {
  return files === 1
    ? l10n.t('1 file was not translated.')
    : l10n.t('{0} files were not translated.', files);
}
