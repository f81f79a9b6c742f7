/**
 * The tree of the migration view: the stages of the pipeline, every function in the order of its
 * translation, and the files that were left out.
 */

import {
  EventEmitter,
  env,
  l10n,
  ThemeColor,
  ThemeIcon,
  type TreeDataProvider,
  TreeItem,
  TreeItemCollapsibleState,
  Uri,
} from 'vscode';
import type {
  MigrationFunction,
  MigrationResult,
  MigrationSkipped,
  MigrationStage,
} from '../../protocol';
import {
  fewer,
  functionIcon,
  place,
  spoken,
  stageIcon,
  stageName,
  stageState,
  tests,
  tooltip,
  verifiedSentence,
} from './labels';
import { counts, type Filter, isKnown, NOTHING, visible } from './model';

export type Section = 'stages' | 'functions' | 'skipped';

export type MigrationNode =
  | { kind: 'section'; section: Section }
  | { kind: 'stage'; stage: MigrationStage }
  | { kind: 'function'; function: MigrationFunction }
  | { kind: 'skipped'; file: MigrationSkipped };

const SHORT = { dateStyle: 'short', timeStyle: 'short' } as const;

/** How far the stage that runs is. */
export interface Going {
  stage: string;
  done: number;
  total: number;
}

export class MigrationTree implements TreeDataProvider<MigrationNode> {
  private migration: MigrationResult = NOTHING;
  private shown: MigrationFunction[] = [];
  private going: Going | undefined;
  private readonly changed = new EventEmitter<MigrationNode | undefined>();

  readonly onDidChangeTreeData = this.changed.event;

  /** Shows a migration as far as the filter lets it; returns how many functions are left. */
  show(migration: MigrationResult, filter: Filter, going: Going | undefined): number {
    this.migration = migration;
    this.shown = visible(migration.functions, filter);
    this.going = going;
    this.changed.fire(undefined);
    return this.shown.length;
  }

  getChildren(node?: MigrationNode): MigrationNode[] {
    if (node === undefined) {
      return this.sections().map((section) => ({ kind: 'section', section }));
    }
    if (node.kind !== 'section') {
      return [];
    }
    if (node.section === 'stages') {
      return this.migration.stages.map((stage) => ({ kind: 'stage', stage: this.asItIs(stage) }));
    }
    return node.section === 'functions'
      ? this.shown.map((it) => ({ kind: 'function', function: it }))
      : this.migration.skipped.map((file) => ({ kind: 'skipped', file }));
  }

  getTreeItem(node: MigrationNode): TreeItem {
    switch (node.kind) {
      case 'section':
        return this.sectionItem(node.section);
      case 'stage':
        return this.stageItem(node.stage);
      case 'function':
        return functionItem(node);
      case 'skipped':
        return skippedItem(node.file);
    }
  }

  /** Tooltips are made when the mouse asks for one. */
  resolveTreeItem(item: TreeItem, node: MigrationNode): TreeItem {
    if (node.kind === 'function') {
      item.tooltip = tooltip(node.function);
    }
    return item;
  }

  private sections(): Section[] {
    if (!isKnown(this.migration) && !this.migration.running && this.going === undefined) {
      return [];
    }
    const skipped: Section[] = this.migration.skipped.length > 0 ? ['skipped'] : [];
    return ['stages', 'functions', ...skipped];
  }

  private sectionItem(section: Section): TreeItem {
    const names = {
      stages: l10n.t('Stages'),
      functions: l10n.t('Functions'),
      skipped: l10n.t('Files not translated'),
    };
    const item = new TreeItem(names[section], TreeItemCollapsibleState.Expanded);
    item.id = section;
    item.contextValue = section;
    item.description = this.sectionDescription(section);
    item.accessibilityInformation = { label: `${names[section]}, ${item.description}` };
    return item;
  }

  private sectionDescription(section: Section): string {
    if (section === 'stages') {
      const done = this.migration.stages.filter(({ state }) => state === 'done').length;
      return l10n.t('{0} of {1} done', done, this.migration.stages.length);
    }
    if (section === 'skipped') {
      return String(this.migration.skipped.length);
    }
    const all = this.migration.functions;
    const { baseline, idiomatic } = counts(all);
    const inRust = l10n.t('{0} of {1} in Rust', baseline + idiomatic, all.length);
    const proof = verifiedSentence(this.migration);
    return proof === '' ? inRust : `${inRust}, ${proof}`;
  }

  /** A stage as it is right now, which the server's last picture may not know. */
  private asItIs(stage: MigrationStage): MigrationStage {
    if (this.going === undefined) {
      return stage;
    }
    const names = this.migration.stages.map(({ name }) => name);
    const at = Math.max(0, names.indexOf(this.going.stage)); // it begins before it says so
    const own = names.indexOf(stage.name);
    if (own === at) {
      return { ...stage, state: 'running' };
    }
    return own > at ? { ...stage, state: 'todo' } : stage;
  }

  private stageItem(stage: MigrationStage): TreeItem {
    const item = new TreeItem(stageName(stage.name), TreeItemCollapsibleState.None);
    item.id = `stage:${stage.name}`;
    item.contextValue = `stage.${stage.state}`;
    item.iconPath = stageIcon(stage);
    item.description = this.stageDescription(stage);
    item.tooltip = [stageName(stage.name), item.description].filter(Boolean).join('\n');
    item.accessibilityInformation = {
      label: `${stageName(stage.name)}: ${stageState(stage.state)} ${item.description}`.trim(),
    };
    item.command = {
      command: 'jarvisLs.migration.showOverview',
      title: l10n.t('Show Overview'),
    };
    return item;
  }

  private stageDescription(stage: MigrationStage): string {
    const { going } = this;
    if (stage.state === 'running' && going !== undefined && going.total > 0) {
      return `${going.done}/${going.total}`;
    }
    if (stage.state === 'done' && stage.at !== undefined) {
      const when = new Date(stage.at * 1000).toLocaleString(env.language, SHORT);
      return [when, ...fewer(stage)].join(' · ');
    }
    return stage.state === 'todo' ? '' : stageState(stage.state);
  }
}

function functionItem(node: { kind: 'function'; function: MigrationFunction }): TreeItem {
  const it = node.function;
  const item = new TreeItem(it.name, TreeItemCollapsibleState.None);
  item.id = `function:${it.id}:${it.path}`;
  item.contextValue = `function.${it.state}`;
  item.iconPath = functionIcon(it);
  item.description = [place(it), it.reason, tests(it)].filter(Boolean).join(' · ');
  item.accessibilityInformation = { label: spoken(it) };
  item.command = {
    command: 'jarvisLs.migration.showSides',
    title: l10n.t('Show C and Rust Side by Side'),
    arguments: [node],
  };
  return item;
}

function skippedItem(file: MigrationSkipped): TreeItem {
  const item = new TreeItem(file.path, TreeItemCollapsibleState.None);
  item.id = `skipped:${file.path}`;
  item.contextValue = 'skipped';
  item.iconPath = new ThemeIcon('circle-slash', new ThemeColor('problemsWarningIcon.foreground'));
  item.description = file.reason;
  item.tooltip = file.reason;
  item.accessibilityInformation = { label: `${file.path}: ${file.reason}` };
  item.command = {
    command: 'vscode.open',
    title: l10n.t('Open'),
    arguments: [Uri.parse(file.uri)],
  };
  return item;
}
