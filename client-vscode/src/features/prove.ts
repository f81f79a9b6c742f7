/**
 * Evidence by execution. The user asks for it on a finding or a file; the code is built and run on a
 * copy in a sandbox, with a notification that can be cancelled, and the finding says from then on
 * what was shown. Of a run that shows a flaw they can read the input, run it again, and keep it as a
 * test of the project, whose files they see before they are written.
 */

import { commands, l10n, type TextDocumentContentProvider, Uri, window, workspace } from 'vscode';
import type { JarvisContext } from '../context';
import {
  CASE,
  type CaseParams,
  type FindingItem,
  type FindingRef,
  PROVE,
  type ProofItem,
  type ProveResult,
  REGRESSION_TEST,
  REPLAY,
  type TestFile,
} from '../protocol';
import { VirtualDocuments } from '../virtual-documents';
import { withWork } from '../work';
import { type Clicked, findingsMeant, saveFile } from './finding-commands';
import { place, verdictName } from './findings/labels';
import { VERDICTS } from './findings/model';
import type { Node } from './findings/tree';

const CASE_SCHEME = 'jarvis-case';
const TEST_SCHEME = 'jarvis-test';

export function activate(context: JarvisContext): void {
  const pages = new CasePages(context);
  const planned = new VirtualDocuments(TEST_SCHEME);
  context.subscriptions.push(
    workspace.registerTextDocumentContentProvider(CASE_SCHEME, pages),
    planned,
  );
  context.command('jarvisLs.prove', async (...clicked: Clicked<FindingRef>) => {
    const meant = findingsMeant(context, clicked);
    const findings = meant.length > 0 ? meant : await oneOf(context.openFindings());
    if (findings.length > 0) {
      await prove(context, findings);
    }
  });
  context.command('jarvisLs.proveFile', async () => {
    const document = window.activeTextEditor?.document;
    if (document === undefined) {
      throw new Error(l10n.t('Open the file whose findings are to be proven.'));
    }
    await prove(context, [{ uri: document.uri.toString() }]);
  });
  context.command('jarvisLs.openCase', async (...clicked: Clicked<CaseParams>) => {
    const { uri, case: name } = caseMeant(context, clicked);
    const page = Uri.from({ scheme: CASE_SCHEME, path: `/${name}.md`, query: uri });
    await commands.executeCommand('markdown.showPreviewToSide', page);
  });
  context.command('jarvisLs.replay', async (...clicked: Clicked<CaseParams>) => {
    const { uri, case: name } = caseMeant(context, clicked);
    const ask = (workDoneToken: string) =>
      context.request(REPLAY, { uri, case: name, workDoneToken });
    const result = await withWork(context, l10n.t('Running the case again'), ask);
    if (!result.cancelled) {
      void (result.reproduced
        ? window.showWarningMessage(result.text)
        : window.showInformationMessage(result.text));
    }
  });
  context.command('jarvisLs.saveTest', async (...clicked: Clicked<CaseParams>) => {
    const { uri, case: name } = caseMeant(context, clicked);
    await saveTest(context, planned, { uri, case: name });
  });
}

/** Where the cursor is on no finding, as in the walkthrough: the user picks one, the gravest first. */
async function oneOf(all: readonly FindingItem[]): Promise<FindingItem[]> {
  if (all.length === 0) {
    void window.showInformationMessage(l10n.t('There are no findings. Scan the workspace first.'));
    return [];
  }
  const items = [...all]
    .sort((one, other) => other.score - one.score)
    .map((finding) => ({
      label: finding.message,
      description: `${finding.rule} · ${place(finding)}`,
      finding,
    }));
  const placeHolder = l10n.t('Which finding? Its code is built and run on a copy in a sandbox.');
  const chosen = await window.showQuickPick(items, { placeHolder, matchOnDescription: true });
  return chosen === undefined ? [] : [chosen.finding];
}

/** A finding, or with no fingerprint all of a file. */
interface Asked {
  uri: string;
  fingerprint?: string;
}

function caseMeant(context: JarvisContext, clicked: Clicked<CaseParams>): CaseParams {
  const [first] = clicked;
  if (first !== undefined && 'case' in first) {
    return first;
  }
  for (const { uri, proof } of context.chooseFindings(clicked as [Node?, Node[]?])) {
    if (proof?.case) {
      return { uri, case: proof.case };
    }
  }
  throw new Error(l10n.t('No run has shown this finding. Prove it first.'));
}

/** What is run is what is on disk, so files are saved; one request for each finding. */
async function prove(context: JarvisContext, asked: readonly Asked[]): Promise<void> {
  const proofs: ProofItem[] = [];
  let last: ProveResult | undefined;
  for (const [at, { uri, fingerprint }] of asked.entries()) {
    await saveFile(uri, l10n.t('Save the file first: what is on disk is run.'));
    const ask = (workDoneToken: string) =>
      context.request(PROVE, {
        uri,
        ...(fingerprint === undefined ? {} : { finding: fingerprint }),
        workDoneToken,
      });
    last = await withWork(context, titleOf(at, asked.length), ask);
    proofs.push(...last.proofs);
    if (last.cancelled) {
      break;
    }
  }
  if (last !== undefined) {
    await tell(asked, proofs, last);
  }
}

function titleOf(at: number, count: number): string {
  return count === 1
    ? l10n.t('Proving by running')
    : l10n.t('Proving by running: {0} of {1}', at + 1, count);
}

async function tell(
  asked: readonly Asked[],
  proofs: readonly ProofItem[],
  last: ProveResult,
): Promise<void> {
  const [only] = asked;
  const proof = proofs.length === 1 ? proofs[0] : undefined;
  if (only === undefined || proofs.length === 0) {
    return; // it was cancelled before anything was known
  }
  const text = asked.length === 1 ? last.summary : sumUp(proofs);
  if (!proof?.case) {
    void window.showInformationMessage(text);
    return;
  }
  const open = l10n.t('Open the Input');
  const test = l10n.t('Save as Regression Test');
  const answer = await window.showWarningMessage(text, open, test);
  const meant = { uri: only.uri, case: proof.case };
  if (answer === open) {
    await commands.executeCommand('jarvisLs.openCase', meant);
  } else if (answer === test) {
    await commands.executeCommand('jarvisLs.saveTest', meant);
  }
}

function sumUp(proofs: readonly ProofItem[]): string {
  const parts = VERDICTS.map((verdict) => ({
    name: verdictName(verdict),
    count: proofs.filter((proof) => proof.verdict === verdict).length,
  })).filter(({ count }) => count > 0);
  const counts = parts.map(({ name, count }) => `${name} ${count}`).join(' · ');
  return l10n.t('{0} examined: {1}', proofs.length, counts);
}

async function saveTest(
  context: JarvisContext,
  planned: VirtualDocuments,
  meant: CaseParams,
): Promise<void> {
  const { files } = await context.request(REGRESSION_TEST, { ...meant, write: false });
  const [script] = files;
  if (script === undefined) {
    return;
  }
  await showPlanned(planned, files);
  const write = l10n.t('Write');
  const others = files.slice(1).map(({ path }) => path);
  const question = l10n.t('Write {0}, with {1}?', script.path, others.join(', '));
  const answer = await window.showInformationMessage(question, write, l10n.t('Cancel'));
  await planned.close();
  if (answer === write) {
    await context.request(REGRESSION_TEST, { ...meant, write: true });
    await window.showTextDocument(Uri.parse(script.uri));
  }
}

/** The page of a case. */
class CasePages implements TextDocumentContentProvider {
  constructor(private readonly context: JarvisContext) {}

  async provideTextDocumentContent(page: Uri): Promise<string> {
    const name = page.path.slice(1, -'.md'.length);
    return (await this.context.request(CASE, { uri: page.query, case: name })).markdown;
  }
}

/** Shows files of a test before they are written: the new script, and those that change as diffs. */
async function showPlanned(planned: VirtualDocuments, files: readonly TestFile[]): Promise<void> {
  const preview = l10n.t('preview');
  for (const { path, text, uri, exists } of files) {
    if (exists) {
      await planned.showDiff(Uri.parse(uri), path, text, `${path} (${preview})`);
    }
  }
  for (const { path, text } of files.slice(0, 1)) {
    await window.showTextDocument(planned.set(path, text), { preview: false });
  }
}
