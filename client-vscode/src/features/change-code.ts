/**
 * Changing code with an agent: what is to be changed is asked, at the cursor or above a function, and
 * becomes a task of the panel's Agent mode. It is sent there by the user; the agent works in a copy.
 */

import { commands, l10n, Uri, window, workspace } from 'vscode';
import type { JarvisContext } from '../context';

/** A function, as its code lens names it; `line` counts from 1. */
interface Place {
  uri: string;
  line: number;
  name: string;
}

export function activate(context: JarvisContext): void {
  context.command('jarvisLs.changeCode', async (clicked?: Place) => {
    const task = await window.showInputBox({
      title: l10n.t('Change Code with an Agent'),
      prompt: l10n.t('What is to be changed? The agent works in a copy; you decide on its patch.'),
    });
    if (!task?.trim()) {
      return;
    }
    await workspace.saveAll(false); // what is on disk is copied
    const where = clicked === undefined ? atCursor() : inFunction(clicked);
    await commands.executeCommand('jarvisLs.askInChat', `/change ${task.trim()}${where}`);
  });
}

function inFunction({ uri, line, name }: Place): string {
  return ` (${name}, ${workspace.asRelativePath(Uri.parse(uri))}:${line})`;
}

/** Where the cursor is, or which lines are selected. */
function atCursor(): string {
  const editor = window.activeTextEditor;
  if (editor?.document.uri.scheme !== 'file') {
    return '';
  }
  const { start, end, isEmpty } = editor.selection;
  const lines = isEmpty ? `${start.line + 1}` : `${start.line + 1}-${end.line + 1}`;
  return ` (${workspace.asRelativePath(editor.document.uri)}:${lines})`;
}
