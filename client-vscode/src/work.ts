/**
 * Work the user asked for: a notification with what is being done and a Cancel button that really
 * stops it. Cancelling tells the server by the progress token; it then answers with what it has.
 */

import { type CancellationToken, l10n, ProgressLocation, window } from 'vscode';
import {
  type LanguageClient,
  WorkDoneProgress,
  WorkDoneProgressCancelNotification,
} from 'vscode-languageclient/node';
import type { JarvisContext } from './context';
import { newToken } from './progress-token';

type Report = (step: { message?: string; increment?: number }) => void;

/**
 * Asks the server by `ask`, which sends the token it is given, and shows how far it is.
 *
 * @param stop cancels the work from elsewhere than the notification
 * @param patienceMs how long nothing is shown: of work that is mostly done at once the user reads
 *   only the result, which VS Code keeps back when several messages come in a second
 */
export async function withWork<T>(
  context: JarvisContext,
  title: string,
  ask: (workDoneToken: string) => Promise<T>,
  stop?: CancellationToken,
  patienceMs = 0,
): Promise<T> {
  const client = context.runningClient;
  if (client === undefined) {
    throw new Error(l10n.t('The Jarvis language server is not running.'));
  }
  const token = newToken();
  const cancel = () => client.sendNotification(WorkDoneProgressCancelNotification.type, { token });
  const steps: Parameters<Report>[0][] = [];
  let show: Report = (step) => steps.push(step);
  const listening = [
    listen(client, token, (step) => show(step)),
    ...(stop === undefined ? [] : [stop.onCancellationRequested(cancel)]),
  ];
  const answer = ask(token);
  try {
    if (patienceMs > 0 && (await isEnded(answer, patienceMs))) {
      return await answer;
    }
    return await window.withProgress(
      { location: ProgressLocation.Notification, title, cancellable: true },
      (progress, cancelled) => {
        listening.push(cancelled.onCancellationRequested(cancel));
        show = (step) => progress.report(step);
        steps.forEach(show);
        return answer;
      },
    );
  } finally {
    for (const one of listening) {
      one.dispose();
    }
  }
}

/** Whether something has an outcome, good or bad, within some milliseconds. */
async function isEnded(outcome: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  const ended = outcome.then(
    () => true,
    () => true,
  );
  return Promise.race([ended, late]).finally(() => clearTimeout(timer));
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
