/**
 * Workspaces the user does not trust. There the findings are shown as everywhere, but nothing the
 * workspace says decides which program runs or what is hidden; once the user grants trust, the
 * server starts anew with the workspace's own settings.
 */

import { workspace } from 'vscode';
import type { JarvisContext } from '../context';

export function activate(context: JarvisContext): void {
  context.subscriptions.push(
    workspace.onDidGrantWorkspaceTrust(() => {
      context.log.info('The workspace is trusted now');
      void context.restart();
    }),
  );
}
