/**
 * Results of other tools: the user chooses a SARIF log, and its results appear in the editor and in
 * the Problems panel as diagnostics of that tool, until they are cleared.
 */

import { commands, l10n, window, workspace } from 'vscode';
import type { JarvisContext } from '../context';
import { COMMAND_CLEAR_IMPORTED, IMPORT_SARIF } from '../protocol';

export function activate(context: JarvisContext): void {
  context.command('jarvisLs.importSarif', async () => {
    const folder = workspace.workspaceFolders?.[0];
    const [file] =
      (await window.showOpenDialog({
        title: l10n.t('Import SARIF'),
        ...(folder === undefined ? {} : { defaultUri: folder.uri }),
        filters: { SARIF: ['sarif', 'json'] },
      })) ?? [];
    if (file !== undefined) {
      await take(context, file.fsPath);
    }
  });
  context.command('jarvisLs.clearImported', async () => {
    await commands.executeCommand(COMMAND_CLEAR_IMPORTED);
    await offerClearing(false);
  });
}

async function take(context: JarvisContext, path: string): Promise<void> {
  const { tools, shown, leftOut } = await context.request(IMPORT_SARIF, { path });
  await offerClearing(true);
  const show = l10n.t('Show Problems');
  const sentence = l10n.t(
    'Results imported from {1}: {0}. Left out: {2}, suppressed or not in a file of this workspace.',
    shown,
    tools.join(', ') || 'SARIF',
    leftOut,
  );
  if ((await window.showInformationMessage(sentence, show)) === show) {
    await commands.executeCommand('workbench.actions.view.problems');
  }
}

/** Menus and the palette offer to clear imported results only while there are some. */
function offerClearing(there: boolean): Thenable<unknown> {
  return commands.executeCommand('setContext', 'jarvisLs.imported', there);
}
