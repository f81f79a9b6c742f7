/**
 * The two sides of a function: its C on the left, its Rust on the right, each at its first line. Of
 * a function that is in C only, the C and one sentence that says why.
 */

import {
  l10n,
  Range,
  type TextEditor,
  TextEditorRevealType,
  Uri,
  ViewColumn,
  window,
} from 'vscode';
import type { JarvisContext } from '../../context';
import { MIGRATION_RUST, type MigrationRustParams, type MigrationRustResult } from '../../protocol';

/** Shows both sides of a function. */
export async function showSides(context: JarvisContext, wanted: MigrationRustParams) {
  const found = await context.request(MIGRATION_RUST, wanted);
  const left = await show(Uri.parse(wanted.uri), found.cRange, ViewColumn.One, false);
  if (found.uri !== undefined && found.range !== undefined) {
    const right = await show(Uri.parse(found.uri), found.range, ViewColumn.Two, true);
    right.revealRange(right.selection, TextEditorRevealType.AtTop);
  } else {
    void window.showInformationMessage(whyNot(found));
  }
  left.revealRange(left.selection, TextEditorRevealType.AtTop);
  return found;
}

function whyNot({ function: name, state, reason }: MigrationRustResult): string {
  if (state === 'new') {
    return l10n.t('{0} has not been translated yet.', name);
  }
  return state === 'c'
    ? l10n.t('{0} stays in C: {1}', name, reason)
    : l10n.t('The Rust code of {0} was not found in the crate.', name);
}

async function show(
  uri: Uri,
  lines: MigrationRustResult['cRange'],
  viewColumn: ViewColumn,
  preserveFocus: boolean,
): Promise<TextEditor> {
  const start = new Range(lines.start.line, 0, lines.start.line, 0);
  return window.showTextDocument(uri, {
    viewColumn,
    preserveFocus,
    preview: true,
    selection: start,
  });
}
