/**
 * Repairing a finding. The user asks for it in the light bulb, the hover, the code lens or the
 * findings view; the rule's rewrite and then an agent are tried on copies, with a notification that
 * can be cancelled. A patch that has passed all gates is shown as a diff, with Accept and Refuse in
 * its title and in a message; what was checked can be read. Nothing is written before Accept.
 */

import {
  commands,
  EventEmitter,
  l10n,
  TabInputTextDiff,
  type TextDocumentContentProvider,
  Uri,
  window,
  workspace,
} from 'vscode';
import type { JarvisContext } from '../context';
import { type FindingRef, REPAIR, REPAIR_APPLY, type RepairResult } from '../protocol';
import { withWork } from '../work';
import type { Node } from './findings/tree';

const SCHEME = 'jarvis-repair';
const PAGE_SCHEME = 'jarvis-repair-report';

export function activate(context: JarvisContext): void {
  const waiting = new Waiting(context);
  context.subscriptions.push(
    waiting,
    workspace.registerTextDocumentContentProvider(SCHEME, waiting.files),
    workspace.registerTextDocumentContentProvider(PAGE_SCHEME, waiting.pages),
  );
  context.command('jarvisLs.repair', async (...clicked: [(FindingRef | Node)?, Node[]?]) => {
    const finding = findingMeant(context, clicked);
    if (finding === undefined) {
      void window.showInformationMessage(
        l10n.t('Place the cursor on a finding in C or C++, or select one in the Findings view.'),
      );
      return;
    }
    await repair(context, waiting, finding);
  });
  context.command('jarvisLs.acceptRepair', () => waiting.accept());
  context.command('jarvisLs.refuseRepair', () => waiting.refuse());
}

function findingMeant(
  context: JarvisContext,
  clicked: [(FindingRef | Node)?, Node[]?],
): FindingRef | undefined {
  const [first] = clicked;
  if (first !== undefined && 'fingerprint' in first) {
    return first;
  }
  return context
    .chooseFindings(clicked as [Node?, Node[]?])
    .find(({ suppressed, baselined, uri }) => !suppressed && !baselined && !uri.endsWith('.rs'));
}

async function repair(
  context: JarvisContext,
  waiting: Waiting,
  { uri, fingerprint }: FindingRef,
): Promise<void> {
  const document = workspace.textDocuments.find((it) => it.uri.toString() === uri);
  if (document?.isDirty && !(await document.save())) {
    throw new Error(l10n.t('Save the file first: what is on disk is run.'));
  }
  const ask = (workDoneToken: string) =>
    context.request(REPAIR, { uri, finding: fingerprint, workDoneToken });
  const result = await withWork(context, l10n.t('Fix with Jarvis'), ask);
  if (result.status === 'repaired') {
    await waiting.show(result);
  } else if (result.status !== 'cancelled') {
    await tellFailure(waiting, result);
  }
}

async function tellFailure(waiting: Waiting, result: RepairResult): Promise<void> {
  const report = l10n.t('Show What Was Checked');
  const setUp = l10n.t('Set Up a Model');
  const choices = result.status === 'no_model' ? [setUp, report] : [report];
  const answer = await window.showWarningMessage(result.summary, ...choices);
  if (answer === setUp) {
    await commands.executeCommand('jarvisLs.setUpModel');
  } else if (answer === report) {
    await waiting.showReport(result.markdown);
  }
}

/** The repair that is shown, until the user decides; the next one takes its place. */
class Waiting {
  readonly files = new Texts();
  readonly pages = new Texts();
  private current: RepairResult | undefined;
  private reports = 0;

  constructor(private readonly context: JarvisContext) {}

  async show(result: RepairResult): Promise<void> {
    await this.close();
    this.current = result;
    for (const { uri, path, text } of result.files) {
      const proposed = Uri.from({ scheme: SCHEME, path: `/${path}` });
      this.files.set(proposed, text);
      const title = l10n.t('{0} (repair)', path);
      await commands.executeCommand('vscode.diff', Uri.parse(uri), proposed, title, {
        preview: false,
      });
    }
    await this.ask(result);
  }

  async showReport(markdown: string): Promise<void> {
    this.reports += 1;
    const page = Uri.from({ scheme: PAGE_SCHEME, path: `/${this.reports}.md` });
    this.pages.set(page, markdown);
    await commands.executeCommand('markdown.showPreviewToSide', page);
  }

  async accept(): Promise<void> {
    const result = this.current;
    if (result === undefined) {
      void window.showInformationMessage(l10n.t('No repair is waiting.'));
      return;
    }
    const { files } = await this.context.request(REPAIR_APPLY, { name: result.name });
    await this.close();
    const [first] = files;
    if (first !== undefined) {
      await window.showTextDocument(Uri.parse(first));
    }
  }

  async refuse(): Promise<void> {
    await this.close();
  }

  dispose(): void {
    this.files.dispose();
    this.pages.dispose();
  }

  private async ask(result: RepairResult): Promise<void> {
    const accept = l10n.t('Accept');
    const refuse = l10n.t('Refuse');
    const report = l10n.t('Show What Was Checked');
    const answer = await window.showInformationMessage(result.summary, accept, refuse, report);
    if (this.current !== result) {
      return; // it was decided by the diff's own buttons
    }
    if (answer === accept) {
      await this.accept();
    } else if (answer === refuse) {
      await this.refuse();
    } else if (answer === report) {
      await this.showReport(result.markdown);
      await this.ask(result);
    }
  }

  /** Closes the diffs. */
  private async close(): Promise<void> {
    this.current = undefined;
    const tabs = window.tabGroups.all
      .flatMap(({ tabs }) => tabs)
      .filter(({ input }) => input instanceof TabInputTextDiff && input.modified.scheme === SCHEME);
    await window.tabGroups.close(tabs);
    this.files.clear();
  }
}

/** Texts that are shown and belong to no file. */
class Texts implements TextDocumentContentProvider {
  private readonly changed = new EventEmitter<Uri>();
  private readonly texts = new Map<string, string>();

  readonly onDidChange = this.changed.event;

  provideTextDocumentContent(uri: Uri): string {
    return this.texts.get(uri.path) ?? '';
  }

  set(uri: Uri, text: string): void {
    this.texts.set(uri.path, text);
    this.changed.fire(uri);
  }

  clear(): void {
    this.texts.clear();
  }

  dispose(): void {
    this.changed.dispose();
  }
}
