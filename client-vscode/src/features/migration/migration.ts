/**
 * Moving C to Rust: commands for the project, a file and a function; the view that shows every
 * function in the order of its translation; C beside Rust on a click; the overview with the stages,
 * the build's output and the graph. Only rewriting a function asks a model.
 */

import { commands, l10n, Uri, window } from 'vscode';
import type { JarvisContext } from '../../context';
import { MIGRATION_STOP, type MigrationRustParams } from '../../protocol';
import { STATES } from './model';
import { OverviewPanel } from './overview';
import { run, type Wanted } from './run';
import { showSides } from './sides';
import type { MigrationNode } from './tree';
import { MigrationView } from './view';

export function activate(context: JarvisContext): void {
  const view = new MigrationView(context);
  const overview = new OverviewPanel(context, view);
  context.subscriptions.push(view, overview);

  async function start(wanted: Wanted): Promise<void> {
    void view.focus();
    await run(context, wanted);
  }
  async function ofFolder(
    scope: 'scan' | 'project' | 'resume' | 'verify' | 'lift',
    reset = false,
  ): Promise<void> {
    const folder = await view.chooseFolder();
    if (folder === undefined) {
      throw new Error(l10n.t('Open a folder with a C project first.'));
    }
    await start({ scope, folder, ...(reset ? { reset } : {}) });
  }

  context.command('jarvisLs.migration.transpileProject', () => ofFolder('project'));
  context.command('jarvisLs.migration.transpileAnew', () => ofFolder('project', true));
  context.command('jarvisLs.migration.scan', () => ofFolder('scan'));
  context.command('jarvisLs.migration.resume', () => ofFolder('resume'));
  context.command('jarvisLs.migration.verify', () => ofFolder('verify'));
  context.command('jarvisLs.migration.lift', () => ofFolder('lift'));
  context.command('jarvisLs.migration.openReport', () => {
    const { report } = view.known;
    if (report === undefined) {
      throw new Error(l10n.t('No report yet. Verify Rust against C first.'));
    }
    return commands.executeCommand('markdown.showPreview', Uri.parse(report));
  });
  context.command('jarvisLs.migration.transpileFile', (clicked?: Uri) =>
    start({ scope: 'file', uri: (clicked ?? atCursor().uri).toString() }),
  );
  context.command('jarvisLs.migration.transpileFunction', (node?: MigrationNode) =>
    start({ scope: 'function', ...functionOf(node) }),
  );
  context.command('jarvisLs.migration.rewriteFunction', (node?: MigrationNode) =>
    start({ scope: 'rewrite', ...functionOf(node) }),
  );
  context.command('jarvisLs.migration.revertFunction', (node?: MigrationNode) =>
    start({ scope: 'revert', ...functionOf(node) }),
  );
  context.command('jarvisLs.migration.transpileHere', (wanted: Wanted) => start(wanted));
  context.command('jarvisLs.migration.stop', () => context.request(MIGRATION_STOP, {}));
  context.command('jarvisLs.migration.showRust', (uri?: string, line?: number) =>
    showSides(context, uri === undefined || line === undefined ? functionOf() : { uri, line }),
  );
  context.command('jarvisLs.migration.showSides', (node?: MigrationNode) =>
    showSides(context, functionOf(node)),
  );
  context.command('jarvisLs.migration.revealCrate', () => {
    const { crate } = view.known;
    if (crate === undefined) {
      throw new Error(l10n.t('No crate yet.'));
    }
    return commands.executeCommand('vscode.openFolder', Uri.parse(crate), {
      forceNewWindow: true,
    });
  });
  context.command('jarvisLs.migration.showFunctions', () => view.focus());
  context.command('jarvisLs.migration.filter', () => view.askText());
  context.command('jarvisLs.migration.filterStates', () => view.askStates());
  context.command('jarvisLs.migration.clearFilter', () =>
    view.filterBy({ text: '', states: STATES }),
  );
  context.command('jarvisLs.migration.chooseFolder', () => view.chooseFolder());
  context.command('jarvisLs.migration.showOverview', () => overview.show());
  context.command('jarvisLs.migration.showGraph', (node?: MigrationNode) =>
    overview.showGraph(node?.kind === 'function' ? node.function.id : undefined),
  );
}

function atCursor() {
  const editor = window.activeTextEditor;
  if (editor === undefined) {
    throw new Error(l10n.t('Open a C file first.'));
  }
  return { uri: editor.document.uri, line: editor.selection.active.line };
}

/** The function that was clicked, else the one under the cursor. */
function functionOf(node?: MigrationNode): MigrationRustParams {
  if (node?.kind === 'function') {
    return { uri: Uri.parse(node.function.uri).toString(), function: node.function.name };
  }
  const { uri, line } = atCursor();
  return { uri: uri.toString(), line };
}
