/**
 * Looking after the server by hand: restart it, read what it wrote, choose its Python. A new
 * interpreter takes effect at once.
 */

import { commands, workspace } from 'vscode';
import type { JarvisContext } from '../context';

export function activate(context: JarvisContext): void {
  context.command('jarvisLs.restartServer', () => context.restart());
  context.command('jarvisLs.showOutput', () => context.log.show());
  context.command('jarvisLs.chooseInterpreter', () =>
    commands.executeCommand('workbench.action.openSettings', 'jarvisLs.interpreter'),
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
