/**
 * Settling findings that are no problem. The user chooses one finding or many, says for how much of
 * the code and why, and gets a comment with that reason in the source, or an entry in the baseline
 * file. Files that had no unsaved changes are saved.
 */

import { l10n, type QuickPickItem, window, workspace } from 'vscode';
import type { JarvisContext } from '../context';
import {
  type FindingItem,
  type FindingRef,
  SUPPRESS,
  type SuppressParams,
  type SuppressScope,
} from '../protocol';
import { countOf } from './findings/labels';
import type { Node } from './findings/tree';

export function activate(context: JarvisContext): void {
  context.command('jarvisLs.suppress', async (...clicked: [Node?, Node[]?]) => {
    const findings = unsettled(context.chooseFindings(clicked));
    if (findings.length === 0) {
      nothingChosen();
      return;
    }
    const scope = await askScope(findings.length);
    if (scope !== undefined) {
      await settle(context, findings, scope);
    }
  });
  context.command('jarvisLs.addToBaseline', (...clicked: [Node?, Node[]?]) =>
    settle(context, unsettled(context.chooseFindings(clicked)), 'baseline'),
  );
  // The light bulb's "Suppress …" actions come here, so that the reason is asked for.
  context.command('jarvisLs.suppressHere', (items: FindingRef[], scope: SuppressScope) =>
    settle(context, items, scope),
  );
}

function nothingChosen(): void {
  void window.showInformationMessage(
    l10n.t('Place the cursor on a finding, or select findings in the Findings view.'),
  );
}

function unsettled(findings: readonly FindingItem[]): FindingItem[] {
  return findings.filter((finding) => !finding.suppressed && !finding.baselined);
}

async function settle(
  context: JarvisContext,
  findings: readonly FindingRef[],
  scope: SuppressScope,
): Promise<void> {
  if (findings.length === 0) {
    nothingChosen();
    return;
  }
  const reason = await askReason(scope);
  if (reason === undefined) {
    return;
  }
  const items = findings.map(({ uri, fingerprint }) => ({ uri, fingerprint }));
  await write(context, { items, scope, reason });
}

async function write(context: JarvisContext, params: SuppressParams): Promise<void> {
  const { edit, baseline } = await context.request(SUPPRESS, params);
  if (baseline > 0) {
    void window.setStatusBarMessage(l10n.t('{0} added to the baseline', countOf(baseline)), 5000);
  }
  const client = context.runningClient;
  if (edit === undefined || client === undefined) {
    return;
  }
  const changes = await client.protocol2CodeConverter.asWorkspaceEdit(edit);
  const dirty = new Set(
    workspace.textDocuments.filter((it) => it.isDirty).map((it) => it.uri.toString()),
  );
  if (!(await workspace.applyEdit(changes))) {
    throw new Error(l10n.t('The comments could not be written because a file has changed.'));
  }
  const files = changes.entries().map(([uri]) => uri);
  for (const uri of files.filter((file) => !dirty.has(file.toString()))) {
    await (await workspace.openTextDocument(uri)).save();
  }
}

async function askScope(count: number): Promise<SuppressScope | undefined> {
  const choices: Array<QuickPickItem & { scope: SuppressScope }> = [
    {
      label: `$(comment) ${l10n.t('This line')}`,
      detail: l10n.t('Comment at the end of the line or above it'),
      scope: 'line',
    },
    {
      label: `$(symbol-function) ${l10n.t('The whole function')}`,
      detail: l10n.t('Comment above the function; applies to the whole function'),
      scope: 'function',
    },
    {
      label: `$(file) ${l10n.t('The whole file')}`,
      detail: l10n.t('Comment at the top of the file; applies to the whole file'),
      scope: 'file',
    },
    {
      label: `$(archive) ${l10n.t('The baseline')}`,
      detail: l10n.t('No comment; an entry in .jarvis/sec/baseline.json'),
      scope: 'baseline',
    },
  ];
  const title = l10n.t('Suppress {0}', countOf(count));
  return (await window.showQuickPick(choices, { title }))?.scope;
}

/** A comment needs a reason; for the baseline it may stay empty. */
async function askReason(scope: SuppressScope): Promise<string | undefined> {
  const needed = scope !== 'baseline';
  const text = await window.showInputBox({
    title: needed ? l10n.t('Reason for suppressing') : l10n.t('Reason (optional)'),
    placeHolder: l10n.t('For example: length is checked by the caller'),
    validateInput: (value) =>
      needed && value.trim() === ''
        ? l10n.t('A reason is required. It is stored with the code.')
        : '',
  });
  return text?.trim();
}
