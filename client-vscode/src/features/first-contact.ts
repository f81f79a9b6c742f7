/**
 * The first time the extension runs on a machine: the walkthrough opens, and the findings view
 * beside it, so that a newcomer sees where things are. Who wants no page at start-up, or no
 * walkthrough of a newly installed extension, by VS Code's own settings, gets none.
 */

import { commands, workspace } from 'vscode';
import type { JarvisContext } from '../context';
import { FINDINGS_VIEW } from '../progress';

const WELCOMED = 'welcomed';

export function activate(context: JarvisContext): void {
  const first = context.onLife(async (life) => {
    if (life !== 'running') {
      return;
    }
    first.dispose();
    const memory = context.extension.globalState;
    const settings = workspace.getConfiguration('workbench');
    const isWanted =
      settings.get('startupEditor') !== 'none' &&
      settings.get('welcomePage.walkthroughs.openOnInstall', true);
    if (memory.get(WELCOMED) === true || !isWanted) {
      return;
    }
    context.log.info('Welcome: the walkthrough is opened');
    await memory.update(WELCOMED, true);
    await commands.executeCommand('jarvisLs.openWalkthrough');
    await commands.executeCommand(`${FINDINGS_VIEW}.focus`);
  });
  context.subscriptions.push(first);
}
