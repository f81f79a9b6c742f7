/**
 * The output channel "Jarvis": what the client and the server did, with levels the user can choose.
 * One channel for both, so that "Show Output" is the single place to look when something is wrong.
 */

import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { type LogOutputChannel, l10n, window } from 'vscode';
import { ErrorCodes, ResponseError, type StdioOptions } from 'vscode-languageclient/node';

const LAST_WORD_MS = 3000;

/** Creates the channel; the caller disposes it. */
export function createLog(): LogOutputChannel {
  return window.createOutputChannel('Jarvis', { log: true });
}

/** The text of anything that was thrown. */
export function reason(error: unknown): string {
  if (error instanceof ResponseError && error.code === ErrorCodes.PendingResponseRejected) {
    return l10n.t(
      'The language server stopped before it finished. Completed work is kept; try again.',
    );
  }
  return error instanceof Error ? error.message : String(error);
}

/**
 * What the server writes beside the protocol: all of it goes to the channel, and the last line is
 * kept, since that is where Python says why it ended.
 */
export class ServerOutput {
  private lastLine = '';
  private ended: Promise<unknown> = Promise.resolve();

  readonly options: Required<StdioOptions> = {
    stdout: (input, channel) => {
      createInterface({ input }).on('line', (line) => channel.info(line));
    },
    stderr: (input, channel) => {
      const lines = createInterface({ input });
      this.ended = new Promise((resolve) => lines.once('close', resolve));
      lines.on('line', (line) => {
        channel.error(line);
        this.lastLine = line.trim() === '' ? this.lastLine : line.trim();
      });
    },
  };

  /**
   * The last line of a server that failed to start; empty when it wrote none. The connection may
   * close before that line is read, so the end of the output is waited for, but not for long:
   * a process that the server started may hold it open.
   */
  async lastWord(): Promise<string> {
    await Promise.race([this.ended, setTimeout(LAST_WORD_MS)]);
    return this.lastLine;
  }
}
