/**
 * Commands of the side panel: open it, begin a session, stop, attach what the editor shows, set
 * up a model, keep a provider's key. All work while the panel is closed: it opens and takes what was chosen.
 */

import { type CommentThread, type Uri, window, workspace } from 'vscode';
import type { JarvisContext } from '../../context';
import { PANEL_WRITE } from '../../protocol';
import { ofEditor, ofFile, ofProblems } from './attachments';
import { DIFF_SCHEME } from './diff';
import { answer, insert } from './host';
import { setUpModel } from './set-up-model';
import { PANEL_VIEW, PanelView } from './view';
import { write } from './write';

export function activate(context: JarvisContext): void {
  const panel = new PanelView(context);
  context.subscriptions.push(
    panel,
    window.registerWebviewViewProvider(PANEL_VIEW, panel),
    workspace.registerTextDocumentContentProvider(DIFF_SCHEME, panel.changes),
  );
  context.answer(PANEL_WRITE, write);
  context.command('jarvisLs.openChat', () => panel.show({ kind: 'command', command: 'focus' }));
  context.command('jarvisLs.newSession', () =>
    panel.show({ kind: 'command', command: 'newSession' }),
  );
  context.command('jarvisLs.showSessions', () =>
    panel.show({ kind: 'command', command: 'sessions' }),
  );
  context.command('jarvisLs.stopAgents', () => panel.ask({ kind: 'stop', session: '' }));
  context.command('jarvisLs.addSelection', async () => {
    await panel.show({ kind: 'command', command: 'focus' });
    insert(panel.parts, [ofEditor('selection')]);
  });
  context.command('jarvisLs.addFile', async (clicked?: Uri, all?: readonly Uri[]) => {
    const chosen = all ?? (clicked === undefined ? [] : [clicked]);
    insert(panel.parts, chosen.length > 0 ? chosen.map(ofFile) : [ofEditor('file')]);
    await panel.show({ kind: 'command', command: 'focus' });
  });
  context.command('jarvisLs.addProblems', async (clicked?: Uri) => {
    insert(panel.parts, [clicked === undefined ? ofEditor('diagnostics') : ofProblems(clicked)]);
    await panel.show({ kind: 'command', command: 'focus' });
  });
  context.command('jarvisLs.askInChat', async (text: string) => {
    panel.tell({ kind: 'insert', attachments: [], text });
    await panel.show({ kind: 'command', command: 'focus' });
  });
  context.command('jarvisLs.acceptChange', () => panel.changes.decide(true));
  context.command('jarvisLs.refuseChange', () => panel.changes.decide(false));
  context.command('jarvisLs.acceptHunk', (thread: CommentThread) =>
    panel.changes.chooseHunk(thread, true),
  );
  context.command('jarvisLs.refuseHunk', (thread: CommentThread) =>
    panel.changes.chooseHunk(thread, false),
  );
  context.command('jarvisLs.setUpModel', () => setUpModel(panel.setup));
  context.command('jarvisLs.setKey', () => panel.keys.ask());
  context.command('jarvisLs.openAgentSettings', () =>
    answer({ kind: 'open_settings' }, panel.parts),
  );
}
