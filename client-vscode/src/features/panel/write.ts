/**
 * Files that agents change while the editor has them open: the editor makes the change, so that it
 * shows at once and can be undone, and saves it where the file was saved before.
 */

import { EndOfLine, l10n, Range, type TextDocument, Uri, WorkspaceEdit, workspace } from 'vscode';
import type { PanelWriteParams } from '../../protocol';

/**
 * Changes a file in the editor; false when it is not open, so that the server writes it.
 *
 * @throws when it is open with another text, which must not be lost.
 */
export async function write({ uri, before, after }: PanelWriteParams): Promise<boolean> {
  const wanted = Uri.parse(uri).toString();
  const document = workspace.textDocuments.find((it) => it.uri.toString() === wanted);
  if (document === undefined || document.isClosed) {
    return false;
  }
  const wasDirty = document.isDirty;
  const text = document.getText();
  if (plain(text) !== before) {
    if (!wasDirty) {
      return false; // the file on disk has changed and is read anew: the server compares it
    }
    throw new Error(l10n.t('{0} has unsaved changes.', workspace.asRelativePath(document.uri)));
  }
  const edit = new WorkspaceEdit();
  const [range, inserted] = difference(document, before, after);
  edit.replace(document.uri, range, inserted);
  if (!(await workspace.applyEdit(edit))) {
    throw new Error(
      l10n.t('{0} has changed in the meantime.', workspace.asRelativePath(document.uri)),
    );
  }
  if (!wasDirty) {
    await document.save();
  }
  return true;
}

/** The smallest range to replace, and what comes there. */
function difference(document: TextDocument, before: string, after: string): [Range, string] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) {
    head++;
  }
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) {
    tail++;
  }
  head -= isInsidePair(before, head) ? 1 : 0;
  tail -= isInsidePair(before, before.length - tail) ? 1 : 0;
  const start = place(before, head);
  const end = place(before, before.length - tail);
  const inserted = after.slice(head, after.length - tail);
  const lineEnd = document.eol === EndOfLine.CRLF ? '\r\n' : '\n';
  return [new Range(...start, ...end), inserted.replaceAll('\n', lineEnd)];
}

/** Whether a place lies between the two halves of one character. */
function isInsidePair(text: string, at: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1));
}

function place(text: string, at: number): [number, number] {
  const lines = text.slice(0, at).split('\n');
  return [lines.length - 1, lines.at(-1)?.length ?? 0];
}

function plain(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}
