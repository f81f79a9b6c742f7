/**
 * Scanning the whole workspace on request. The user sees a notification with the number of files
 * done and a Cancel button that really stops the work, and at the end one sentence with the result;
 * files that were not analysed are named in the output.
 */

import { CancellationTokenSource, commands, l10n, window } from 'vscode';
import type { JarvisContext } from '../context';
import { SCAN_WORKSPACE, type ScanWorkspaceResult } from '../protocol';
import { withWork } from '../work';
import { countOf } from './findings/labels';

export function activate(context: JarvisContext): void {
  let running: CancellationTokenSource | undefined;

  async function scan(changedOnly: boolean): Promise<ScanWorkspaceResult | undefined> {
    running?.cancel();
    const source = new CancellationTokenSource();
    running = source;
    const title = changedOnly ? l10n.t('Scanning changed files') : l10n.t('Scanning the workspace');
    try {
      const ask = (workDoneToken: string) =>
        context.request(SCAN_WORKSPACE, { changedOnly, workDoneToken });
      const result = await withWork(context, title, ask, source.token);
      void summarise(context, result);
      return result;
    } finally {
      running = running === source ? undefined : running;
      source.dispose();
    }
  }

  context.command('jarvisLs.scanWorkspace', () => scan(false));
  context.command('jarvisLs.rescan', () => scan(true));
  context.command('jarvisLs.cancelScan', async () => {
    running?.cancel();
    const client = context.runningClient;
    if (client !== undefined) {
      await context.progress.cancel(client);
    }
  });
}

async function summarise(context: JarvisContext, result: ScanWorkspaceResult): Promise<void> {
  for (const { uri, reason } of result.skipped) {
    context.log.warn(`Not analysed: ${uri}: ${reason}`);
  }
  const findings = l10n.t('Show Findings');
  const output = l10n.t('Show Output');
  const sentence = result.cancelled
    ? l10n.t('Scan cancelled after {0} files: {1}.', result.files, countOf(result.findings))
    : l10n.t(
        'Scanned {0} files in {1} s: {2}.',
        result.files,
        (result.milliseconds / 1000).toFixed(1),
        countOf(result.findings),
      );
  const skipped =
    result.skipped.length > 0 ? l10n.t('{0} files were not analysed.', result.skipped.length) : '';
  const ways = skipped === '' ? [findings] : [findings, output];
  const answer = await window.showInformationMessage(`${sentence} ${skipped}`.trim(), ...ways);
  if (answer === findings) {
    await commands.executeCommand('jarvisLs.showFindings');
  } else if (answer === output) {
    context.log.show();
  }
}
