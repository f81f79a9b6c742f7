/** What the commands on a finding share: which one is meant, and its file on the disk. */

import { workspace } from 'vscode';
import type { JarvisContext } from '../context';
import type { FindingItem, FindingRef } from '../protocol';
import type { Node } from './findings/tree';

/** Arguments of a command: a finding of the light bulb, or rows of the findings view. */
export type Clicked<T> = [(T | Node)?, Node[]?];

/** The findings meant by arguments, selection or cursor; not those that are settled. */
export function findingsMeant<T extends FindingRef>(
  context: JarvisContext,
  clicked: Clicked<T>,
): (T | FindingItem)[] {
  const [first] = clicked;
  if (first !== undefined && 'fingerprint' in first) {
    return [first];
  }
  return context
    .chooseFindings(clicked as [Node?, Node[]?])
    .filter(({ suppressed, baselined }) => !suppressed && !baselined);
}

/** Saves a file that has changes; throws an error with the reason when it is not saved. */
export async function saveFile(uri: string, reason: string): Promise<void> {
  const document = workspace.textDocuments.find((it) => it.uri.toString() === uri);
  if (document?.isDirty && !(await document.save())) {
    throw new Error(reason);
  }
}
