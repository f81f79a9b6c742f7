/**
 * Repairing a finding. The user asks for it in the light bulb, the hover, the code lens or the
 * findings view; the rule's rewrite and then an agent are tried on copies, with a notification that
 * can be cancelled. A patch that has passed all gates is shown as a diff, with Accept and Refuse in
 * its title and in a message; what was checked can be read. Nothing is written before Accept.
 */

import { commands, l10n, Uri, window } from 'vscode';
import type { JarvisContext } from '../context';
import { type FindingRef, REPAIR, REPAIR_APPLY, type RepairResult } from '../protocol';
import { VirtualDocuments } from '../virtual-documents';
import { withWork } from '../work';
import { type Clicked, findingsMeant, saveFile } from './finding-commands';

const SCHEME = 'jarvis-repair';
const PAGE_SCHEME = 'jarvis-repair-report';

export function activate(context: JarvisContext): void {
  const waiting = new Waiting(context);
  context.subscriptions.push(waiting);
  context.command('jarvisLs.repair', async (...clicked: Clicked<FindingRef>) => {
    const finding = findingsMeant(context, clicked).find(({ uri }) => !uri.endsWith('.rs'));
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

async function repair(
  context: JarvisContext,
  waiting: Waiting,
  { uri, fingerprint }: FindingRef,
): Promise<void> {
  await saveFile(uri, l10n.t('Save the file first: what is on disk is run.'));
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
  private readonly files = new VirtualDocuments(SCHEME);
  private readonly pages = new VirtualDocuments(PAGE_SCHEME);
  private current: RepairResult | undefined;

  constructor(private readonly context: JarvisContext) {}

  async show(result: RepairResult): Promise<void> {
    await this.close();
    this.current = result;
    for (const { uri, path, text } of result.files) {
      await this.files.showDiff(Uri.parse(uri), path, text, l10n.t('{0} (repair)', path));
    }
    await this.ask(result);
  }

  async showReport(markdown: string): Promise<void> {
    await this.pages.showPage(markdown);
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

  private async close(): Promise<void> {
    this.current = undefined;
    await this.files.close();
  }
}
