/**
 * Work the user asked for: a notification with what is being done and a Cancel button that really
 * stops it. Cancelling tells the server by the progress token; it then answers with what it has.
 */

import { type CancellationToken, l10n, ProgressLocation, window } from 'vscode';
import {
  type LanguageClient,
  type ProgressToken,
  WorkDoneProgress,
  WorkDoneProgressCancelNotification,
} from 'vscode-languageclient/node';
import type { JarvisContext } from './context';

type Report = (step: { message?: string; increment?: number }) => void;

const OWN = 'jarvis-work-';
let tokens = 0;

/** Whether progress belongs to work the user asked for, which shows it itself. */
export function isAskedFor(token: ProgressToken): boolean {
  return String(token).startsWith(OWN);
}

/**
 * Asks the server by `ask`, which sends the token it is given, and shows how far it is.
 *
 * @param stop cancels the work from elsewhere than the notification
 */
export async function withWork<T>(
  context: JarvisContext,
  title: string,
  ask: (workDoneToken: string) => Promise<T>,
  stop?: CancellationToken,
): Promise<T> {
  const client = context.runningClient;
  if (client === undefined) {
    throw new Error(l10n.t('The Jarvis language server is not running.'));
  }
  const token = `${OWN}${++tokens}`;
  const cancel = () => client.sendNotification(WorkDoneProgressCancelNotification.type, { token });
  return window.withProgress(
    { location: ProgressLocation.Notification, title, cancellable: true },
    async (progress, cancelled) => {
      const listening = [
        listen(client, token, (step) => progress.report(step)),
        cancelled.onCancellationRequested(cancel),
        ...(stop === undefined ? [] : [stop.onCancellationRequested(cancel)]),
      ];
      try {
        return await ask(token);
      } finally {
        for (const one of listening) {
          one.dispose();
        }
      }
    },
  );
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
