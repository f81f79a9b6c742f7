/**
 * The overview of a migration beside the code: the stages as a bar, how much is in Rust, what stays
 * in C and why, what cargo said, and the graph of who calls whom, where a click shows both sides.
 */

import {
  commands,
  type Disposable,
  env,
  l10n,
  Uri,
  ViewColumn,
  type WebviewPanel,
  window,
} from 'vscode';
import type { JarvisContext } from '../../context';
import { reason } from '../../log';
import type { GraphAsk, OverviewAction, OverviewAsk, OverviewTell } from '../../migration-page';
import { MIGRATION_GRAPH } from '../../protocol';
import { pageFolder, pageHtml } from '../panel/page';
import { showSides } from './sides';
import type { MigrationView } from './view';

const ACTIONS: Record<OverviewAction, string> = {
  project: 'jarvisLs.migration.transpileProject',
  scan: 'jarvisLs.migration.scan',
  resume: 'jarvisLs.migration.resume',
  stop: 'jarvisLs.migration.stop',
  verify: 'jarvisLs.migration.verify',
  lift: 'jarvisLs.migration.lift',
  report: 'jarvisLs.migration.openReport',
  crate: 'jarvisLs.migration.revealCrate',
};

export class OverviewPanel implements Disposable {
  private panel: WebviewPanel | undefined;
  private following: Disposable | undefined;
  private root: number | undefined;

  constructor(
    private readonly context: JarvisContext,
    private readonly view: MigrationView,
  ) {}

  show(): void {
    this.showGraph(this.root);
  }

  /** Shows the overview with the graph of what one function needs, or of the project. */
  showGraph(root?: number): void {
    const isNew = this.root !== root;
    this.root = root;
    if (this.panel !== undefined) {
      this.panel.reveal();
      if (isNew) {
        this.tellAll();
      }
      return;
    }
    const folder = pageFolder(this.context.extension.extensionUri);
    const title = l10n.t('C to Rust');
    const panel = window.createWebviewPanel(
      'jarvisLs.migrationOverview',
      title,
      ViewColumn.Active,
      {
        enableScripts: true,
        localResourceRoots: [folder],
      },
    );
    panel.webview.onDidReceiveMessage((message: OverviewAsk) => this.receive(message));
    panel.onDidDispose(() => this.closed());
    panel.webview.html = pageHtml(panel.webview, folder, { locale: env.language }, 'migration');
    this.panel = panel;
  }

  dispose(): void {
    this.panel?.dispose();
  }

  private closed(): void {
    this.following?.dispose();
    this.following = undefined;
    this.panel = undefined;
  }

  private async receive(message: OverviewAsk): Promise<void> {
    try {
      if (message?.kind === 'ready') {
        this.following?.dispose();
        this.following = this.view.subscribe(() => this.tellAll());
      } else if (message?.kind === 'graph') {
        await this.draw(message.asked);
      } else if (message?.kind === 'show') {
        await this.showFunction(message.id);
      } else if (message?.kind === 'act' && message.action in ACTIONS) {
        await commands.executeCommand(ACTIONS[message.action]);
      }
    } catch (error) {
      this.tell({ kind: 'failed', reason: reason(error) });
    }
  }

  private async draw(asked: GraphAsk): Promise<void> {
    const { folder } = this.view.known;
    const graph = await this.context.request(MIGRATION_GRAPH, { folder, ...asked });
    this.tell({ kind: 'graph', graph, asked });
  }

  private async showFunction(id: number): Promise<void> {
    const it = this.view.known.functions.find((one) => one.id === id);
    if (it !== undefined) {
      await showSides(this.context, { uri: Uri.parse(it.uri).toString(), function: it.name });
    }
  }

  private tellAll(): void {
    const { known, under } = this.view;
    this.tell({
      kind: 'migration',
      migration: known,
      ...(under === undefined ? {} : { going: under }),
      ...(this.root === undefined ? {} : { root: this.root }),
    });
  }

  private tell(message: OverviewTell): void {
    void this.panel?.webview.postMessage(message);
  }
}
