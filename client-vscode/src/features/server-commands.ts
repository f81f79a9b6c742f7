/**
 * Looking after the server by hand: restart it, read what it wrote, choose its Python. A new
 * interpreter takes effect at once.
 */

import { ConfigurationTarget, commands, l10n, window, workspace } from 'vscode';
import type { JarvisContext } from '../context';
import { SETTINGS_SECTION } from '../protocol';
import { refusal } from '../python';

export function activate(context: JarvisContext): void {
  context.command('jarvisLs.restartServer', () => context.restart());
  context.command('jarvisLs.showOutput', () => context.log.show());
  context.command('jarvisLs.chooseInterpreter', () =>
    chooseInterpreter(context.extension.extensionPath),
  );
  context.command('jarvisLs.openWalkthrough', () =>
    commands.executeCommand(
      'workbench.action.openWalkthrough',
      `${context.extension.extension.id}#jarvisLs.start`,
      false,
    ),
  );
  context.subscriptions.push(
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('jarvisLs.interpreter')) {
        void context.restart();
      }
    }),
  );
}

/** Asks for a path, and says while it is typed why that one would not do. */
async function chooseInterpreter(folder: string): Promise<void> {
  const settings = workspace.getConfiguration(SETTINGS_SECTION, null);
  const chosen = await window.showInputBox({
    title: l10n.t('Python 3.10 or newer that runs the language server'),
    prompt: l10n.t('Absolute path; leave empty to find one automatically'),
    placeHolder: '/usr/bin/python3',
    value: settings.get('interpreter', ''),
    ignoreFocusOut: true,
    validateInput: (value) => (value.trim() === '' ? undefined : refusal(value.trim(), folder)),
  });
  if (chosen !== undefined) {
    const value = chosen.trim() === '' ? undefined : chosen.trim();
    await settings.update('interpreter', value, ConfigurationTarget.Global);
  }
}
