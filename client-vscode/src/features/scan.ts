/**
 * Scanning the whole workspace on request. The user sees a notification with the number of files
 * done and a Cancel button that really stops the work, and at the end one sentence with the result;
 * files that were not analysed are named in the output.
 */

import { type CancellationToken, commands, l10n, ProgressLocation, window } from 'vscode';
import {
  CancellationTokenSource,
  type LanguageClient,
  WorkDoneProgress,
  WorkDoneProgressCancelNotification,
} from 'vscode-languageclient/node';
import type { JarvisContext } from '../context';
import { SCAN_WORKSPACE, type ScanWorkspaceResult } from '../protocol';
import { countOf } from './findings/labels';

type Report = (step: { message?: string; increment?: number }) => void;

let tokens = 0;

export function activate(context: JarvisContext): void {
  let running: CancellationTokenSource | undefined;

  async function scan(changedOnly: boolean): Promise<ScanWorkspaceResult | undefined> {
    running?.cancel();
    const source = new CancellationTokenSource();
    running = source;
    const title = changedOnly ? l10n.t('Scanning changed files') : l10n.t('Scanning the workspace');
    try {
      const result = await window.withProgress(
        { location: ProgressLocation.Notification, title, cancellable: true },
        (progress, cancelled) => {
          cancelled.onCancellationRequested(() => source.cancel());
          return request(context, changedOnly, (step) => progress.report(step), source.token);
        },
      );
      if (result !== undefined) {
        void summarise(context, result);
      }
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

/**
 * Asks the server to scan and draws its progress. Cancelling tells the server to stop by the
 * progress token: it then answers with what it has found so far.
 */
async function request(
  context: JarvisContext,
  changedOnly: boolean,
  report: Report,
  cancelled: CancellationToken,
): Promise<ScanWorkspaceResult> {
  const client = context.runningClient;
  if (client === undefined) {
    throw new Error(l10n.t('The Jarvis language server is not running.'));
  }
  const workDoneToken = `jarvis-scan-${++tokens}`;
  const listening = listen(client, workDoneToken, report);
  const stopping = cancelled.onCancellationRequested(() =>
    client.sendNotification(WorkDoneProgressCancelNotification.type, { token: workDoneToken }),
  );
  try {
    return await context.request(SCAN_WORKSPACE, { changedOnly, workDoneToken });
  } finally {
    listening.dispose();
    stopping.dispose();
  }
}

function listen(client: LanguageClient, token: string, report: Report) {
  let done = 0;
  return client.onProgress(WorkDoneProgress.type, token, (step) => {
    if (step.kind === 'end') {
      return;
    }
    const percentage = step.percentage ?? done;
    report({
      ...(step.message === undefined ? {} : { message: step.message }),
      increment: percentage - done,
    });
    done = percentage;
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
