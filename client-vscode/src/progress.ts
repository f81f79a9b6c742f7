/**
 * Long work the server begins by itself, such as the scan at start-up. The user gets a quiet bar at
 * the top of the findings view instead of a pop-up, and "Cancel Scan" stops it. Work that the user
 * asked for shows its own notification with a Cancel button (`work.ts`).
 */

import { type Disposable, EventEmitter, window } from 'vscode';
import {
  type HandleWorkDoneProgressSignature,
  type LanguageClient,
  type ProgressToken,
  type WorkDoneProgressBegin,
  WorkDoneProgressCancelNotification,
  type WorkDoneProgressEnd,
  type WorkDoneProgressReport,
} from 'vscode-languageclient/node';
import { isAskedFor } from './progress-token';

type Step = WorkDoneProgressBegin | WorkDoneProgressReport | WorkDoneProgressEnd;

export const FINDINGS_VIEW = 'jarvisLs.findings';

export class ServerProgress implements Disposable {
  private readonly running = new Map<ProgressToken, () => void>();
  private readonly changed = new EventEmitter<boolean>();

  /** Fires with whether any work of the server is going on. */
  readonly onChange = this.changed.event;

  /** The client's middleware; the view's bar replaces the client's own status bar entry. */
  readonly handle = (token: ProgressToken, step: Step, next: HandleWorkDoneProgressSignature) => {
    if (isAskedFor(token)) {
      next(token, step);
    } else if (step.kind === 'begin') {
      this.begin(token);
    } else if (step.kind === 'end') {
      this.end(token);
    }
  };

  /** Asks the server to stop everything it began by itself. */
  async cancel(client: LanguageClient): Promise<void> {
    for (const token of this.running.keys()) {
      await client.sendNotification(WorkDoneProgressCancelNotification.type, { token });
    }
  }

  /** Takes the bars away when the server that drew them is gone. */
  endAll(): void {
    for (const token of [...this.running.keys()]) {
      this.end(token);
    }
  }

  dispose(): void {
    this.endAll();
    this.changed.dispose();
  }

  private begin(token: ProgressToken): void {
    const finished = new Promise<void>((resolve) => this.running.set(token, resolve));
    void window.withProgress({ location: { viewId: FINDINGS_VIEW } }, () => finished);
    this.changed.fire(true);
  }

  private end(token: ProgressToken): void {
    this.running.get(token)?.();
    this.running.delete(token);
    this.changed.fire(this.running.size > 0);
  }
}
