/**
 * The migration view: how far the C of the project is on its way to Rust, function by function. It
 * follows runs of the editor and of the terminal alike, since both leave the same files.
 */

import { commands, type Disposable, l10n, type TreeView, window, workspace } from 'vscode';
import type { JarvisContext } from '../../context';
import { reason } from '../../log';
import {
  MIGRATION,
  MIGRATION_CHANGED,
  type MigrationChangedParams,
  type MigrationResult,
} from '../../protocol';
import { stateIcon, stateName } from './labels';
import { EVERYTHING, type Filter, isKnown, NOTHING, narrows, STATES } from './model';
import { type Going, type MigrationNode, MigrationTree } from './tree';

export const MIGRATION_VIEW = 'jarvisLs.migration';
const FILTER = 'migrationFilter';
const REDRAW_MS = 100;

/** Called whenever something else is known. */
export type Follower = () => void;

export class MigrationView implements Disposable {
  private readonly tree = new MigrationTree();
  private readonly view: TreeView<MigrationNode>;
  private readonly followers = new Set<Follower>();
  private migration: MigrationResult = NOTHING;
  private going: Going | undefined;
  private filter: Filter;
  private folder: string | undefined;
  private isWanted = false;
  private redraw: NodeJS.Timeout | undefined;
  private loading: Promise<void> = Promise.resolve();

  constructor(private readonly context: JarvisContext) {
    this.filter = { ...EVERYTHING, ...context.extension.workspaceState.get(FILTER, {}) };
    this.view = window.createTreeView(MIGRATION_VIEW, {
      treeDataProvider: this.tree,
      showCollapseAll: false,
    });
    context.on(MIGRATION_CHANGED, (change) => this.follow(change));
    context.subscriptions.push(context.onLife((life) => this.lifeChanged(life)));
    this.draw();
  }

  get known(): MigrationResult {
    return this.migration;
  }

  /** How far the run is that goes on, if one does. */
  get under(): Going | undefined {
    return this.going;
  }

  /** Calls `follower` now and whenever something changes. */
  subscribe(follower: Follower): Disposable {
    this.followers.add(follower);
    follower();
    return { dispose: () => this.followers.delete(follower) };
  }

  /** The view is there once there is something to show or the user asks for it. */
  async focus(): Promise<void> {
    this.isWanted = true;
    await setContext('jarvisLs.migration.wanted', true);
    await commands.executeCommand(`${MIGRATION_VIEW}.focus`);
  }

  /** The folder whose migration is meant; the user chooses where there are several. */
  async chooseFolder(): Promise<string | undefined> {
    const folders = workspace.workspaceFolders ?? [];
    if (folders.length < 2) {
      return folders[0]?.uri.toString();
    }
    const placeHolder = l10n.t('The C project');
    const chosen = await window.showWorkspaceFolderPick({ placeHolder });
    if (chosen !== undefined) {
      this.folder = chosen.uri.toString();
      await this.load();
    }
    return chosen?.uri.toString();
  }

  async askText(): Promise<void> {
    const text = await window.showInputBox({
      title: l10n.t('Filter functions'),
      prompt: l10n.t('Text of the name, file, reason or tests. All words must match.'),
      value: this.filter.text,
    });
    if (text !== undefined) {
      this.filterBy({ text });
      await this.focus();
    }
  }

  async askStates(): Promise<void> {
    const items = STATES.map((state) => ({
      label: stateName(state),
      iconPath: stateIcon(state),
      picked: this.filter.states.includes(state),
      state,
    }));
    const chosen = await window.showQuickPick(items, {
      canPickMany: true,
      title: l10n.t('States to show'),
    });
    if (chosen !== undefined) {
      const states = chosen.map(({ state }) => state);
      this.filterBy({ states: states.length > 0 ? states : STATES });
      await this.focus();
    }
  }

  filterBy(part: Partial<Filter>): void {
    this.filter = { ...this.filter, ...part };
    void this.context.extension.workspaceState.update(FILTER, this.filter);
    this.draw();
  }

  /** Asks the server for everything. */
  load(): Promise<void> {
    this.loading = this.loading.then(() => this.read());
    return this.loading;
  }

  dispose(): void {
    clearTimeout(this.redraw);
    this.view.dispose();
  }

  private async read(): Promise<void> {
    if (this.context.runningClient === undefined) {
      return;
    }
    try {
      const { folder } = this;
      this.migration = await this.context.request(
        MIGRATION,
        folder === undefined ? {} : { folder },
      );
      this.drawSoon();
    } catch (error) {
      this.context.log.error(`The migration was not read: ${reason(error)}`);
    }
  }

  private follow(change: MigrationChangedParams): void {
    if (this.migration.folder !== '' && change.folder !== this.migration.folder) {
      if (!change.running) {
        return;
      }
      this.folder = change.folder; // what the user has just started is what he wants to see
    }
    const { running, stage, done, total } = change;
    this.going = running ? { stage, done, total } : undefined;
    if (change.revision !== this.migration.revision || running !== this.migration.running) {
      void this.load();
    }
    this.drawSoon();
  }

  private lifeChanged(life: string): void {
    if (life === 'running') {
      void this.load();
      return;
    }
    this.going = undefined;
    if (life !== 'starting') {
      this.migration = NOTHING;
    }
    this.drawSoon();
  }

  private drawSoon(): void {
    this.redraw ??= setTimeout(() => this.draw(), REDRAW_MS);
  }

  private draw(): void {
    clearTimeout(this.redraw);
    this.redraw = undefined;
    const { migration, filter, going } = this;
    const left = this.tree.show(migration, filter, going);
    const all = migration.functions.length;
    const narrowed = narrows(filter) && all > 0;
    this.setMessage(narrowed ? this.filterSentence(left, all) : undefined);
    const several = (workspace.workspaceFolders?.length ?? 0) > 1;
    this.view.description = several ? nameOf(migration.folder) : '';
    this.isWanted ||= isKnown(migration);
    void setContext('jarvisLs.migration.wanted', this.isWanted);
    void setContext('jarvisLs.migration.known', isKnown(migration));
    void setContext('jarvisLs.migration.crate', migration.crate !== undefined);
    void setContext('jarvisLs.migration.running', going !== undefined || migration.running);
    void setContext('jarvisLs.migration.resumable', migration.resumable && going === undefined);
    void setContext('jarvisLs.migration.filtered', narrows(filter));
    for (const follower of this.followers) {
      follower();
    }
  }

  private setMessage(message: string | undefined): void {
    // The API wants the property cleared with undefined, which its type does not say.
    (this.view as { message?: string | undefined }).message = message;
  }

  private filterSentence(left: number, all: number): string {
    const { text, states } = this.filter;
    const parts = [
      ...(text.trim() === '' ? [] : [`“${text.trim()}”`]),
      ...(states.length < STATES.length ? [states.map(stateName).join(', ')] : []),
    ];
    return l10n.t('{0} of {1} functions: {2}', left, all, parts.join(' · '));
  }
}

function nameOf(folder: string): string {
  return decodeURIComponent(folder.split('/').pop() ?? '');
}

function setContext(key: string, value: unknown): Thenable<unknown> {
  return commands.executeCommand('setContext', key, value);
}
