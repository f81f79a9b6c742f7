/**
 * Tokens of progress. Work that the user asked for has tokens of its own: it shows its notification
 * itself, so the bar of the findings view leaves it out.
 */

import type { ProgressToken } from 'vscode-languageclient/node';

const OWN = 'jarvis-work-';
let tokens = 0;

/** A new token for work the user asked for. */
export function newToken(): string {
  tokens += 1;
  return `${OWN}${tokens}`;
}

/** Whether progress belongs to work the user asked for. */
export function isAskedFor(token: ProgressToken): boolean {
  return String(token).startsWith(OWN);
}
