/**
 * The output channel "Jarvis": what the client and the server did, with levels the user can choose.
 * One channel for both, so that "Show Output" is the single place to look when something is wrong.
 */

import { type LogOutputChannel, window } from 'vscode';

/** Creates the channel; the caller disposes it. */
export function createLog(): LogOutputChannel {
  return window.createOutputChannel('Jarvis', { log: true });
}

/** The text of anything that was thrown. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
