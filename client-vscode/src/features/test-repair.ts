/**
 * Repair of failing tests. The tests of the workspace run in a copy and a sandbox, and a model repairs
 * what fails; every patch with which all of them pass is offered as a diff. Nothing is written before
 * the user accepts one, and a file that has changed in the meantime is not overwritten.
 */

import {
  commands,
  l10n,
  type QuickPickItem,
  Range,
  Uri,
  WorkspaceEdit,
  window,
  workspace,
} from 'vscode';
import type { JarvisContext } from '../context';
import { TEST_REPAIR, type TestRepairCandidate, type TestRepairResult } from '../protocol';
import { VirtualDocuments } from '../virtual-documents';
import { withWork } from '../work';

const SCHEME = 'jarvis-test-repair';

interface Choice extends QuickPickItem {
  candidate: TestRepairCandidate;
}

export function activate(context: JarvisContext): void {
  const files = new VirtualDocuments(SCHEME);
  context.subscriptions.push(files);
  context.command('jarvisLs.repairTests', async () => {
    await workspace.saveAll(false);
    const hint = await window.showInputBox({
      title: l10n.t('Repair Failing Tests'),
      prompt: l10n.t('How to repair, if you know. The tests run in a sandbox, on a copy.'),
    });
    if (hint === undefined) {
      return;
    }
    const ask = (workDoneToken: string) =>
      context.request(TEST_REPAIR, { ...here(), hint, workDoneToken });
    const result = await withWork(context, l10n.t('Repairing tests'), ask);
    await tell(files, result);
  });
}

async function tell(files: VirtualDocuments, result: TestRepairResult): Promise<void> {
  switch (result.status) {
    case 'cancelled':
      return;
    case 'passed':
      void window.showInformationMessage(result.summary);
      return;
    case 'no_model': {
      const setUp = l10n.t('Set Up a Model');
      if ((await window.showWarningMessage(result.summary, setUp)) === setUp) {
        await commands.executeCommand('jarvisLs.setUpModel');
      }
      return;
    }
    case 'unfixable':
      void window.showWarningMessage(result.summary);
      return;
    case 'candidates':
      await offer(files, result);
  }
}

async function offer(files: VirtualDocuments, { candidates, summary }: TestRepairResult) {
  const before = new Map<string, string>();
  for (const { uri } of candidates.flatMap((candidate) => candidate.files)) {
    before.set(uri, await textOf(uri));
  }
  const candidate = await choose(candidates);
  if (candidate === undefined) {
    return;
  }
  for (const { uri, path, text } of candidate.files) {
    await files.showDiff(Uri.parse(uri), path, text, l10n.t('{0} (repair)', path));
  }
  const accept = l10n.t('Accept');
  const answer = await window.showInformationMessage(
    `${summary} ${candidate.description}`,
    accept,
    l10n.t('Refuse'),
  );
  await files.close();
  if (answer === accept) {
    await write(candidate, before);
  }
}

/** The only patch, or the one that the user picks. */
async function choose(
  candidates: readonly TestRepairCandidate[],
): Promise<TestRepairCandidate | undefined> {
  const [only] = candidates;
  if (candidates.length === 1) {
    return only;
  }
  const choices: Choice[] = candidates.map((candidate) => ({
    label: candidate.id,
    description: l10n.t('risk: {0}', candidate.risk),
    detail: candidate.description,
    candidate,
  }));
  const title = l10n.t('Choose a patch to look at');
  return (await window.showQuickPick(choices, { title }))?.candidate;
}

async function write(
  { files }: TestRepairCandidate,
  before: ReadonlyMap<string, string>,
): Promise<void> {
  const edit = new WorkspaceEdit();
  for (const { uri, path, text } of files) {
    const document = await workspace.openTextDocument(Uri.parse(uri));
    if (document.getText() !== before.get(uri)) {
      throw new Error(l10n.t('{0} has changed in the meantime; nothing was written.', path));
    }
    const end = document.lineAt(document.lineCount - 1).range.end;
    edit.replace(document.uri, new Range(document.positionAt(0), end), text);
  }
  if (!(await workspace.applyEdit(edit))) {
    throw new Error(l10n.t('The patch could not be written.'));
  }
  for (const { uri } of files) {
    await (await workspace.openTextDocument(Uri.parse(uri))).save();
  }
}

async function textOf(uri: string): Promise<string> {
  return (await workspace.openTextDocument(Uri.parse(uri))).getText();
}

/** The file that is open tells which folder is meant. */
function here(): { uri?: string } {
  const uri = window.activeTextEditor?.document.uri;
  return uri?.scheme === 'file' ? { uri: uri.toString() } : {};
}
