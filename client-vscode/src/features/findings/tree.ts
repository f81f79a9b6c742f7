/**
 * The tree of the findings view: headings, below each its findings, worst first, and below a finding
 * the steps of its path, which are read when it is opened. A heading with very many findings shows
 * them by pages, so that ten thousand findings stay quick.
 */

import {
  type Command,
  EventEmitter,
  l10n,
  ThemeIcon,
  type TreeDataProvider,
  TreeItem,
  TreeItemCollapsibleState,
  Uri,
} from 'vscode';
import type { FindingItem, FindingStep, Severity } from '../../protocol';
import {
  countOf,
  findingIcon,
  findingTooltip,
  groupName,
  place,
  relativePath,
  severityIcon,
  severityName,
  spokenFinding,
  spokenStep,
  toRange,
} from './labels';
import { type Group, type Grouping, grouped } from './model';

export interface GroupNode {
  kind: 'group';
  group: Group;
}

export interface FindingNode {
  kind: 'finding';
  finding: FindingItem;
  parent: GroupNode;
}

/** One step of the path to a finding. */
export interface StepNode {
  kind: 'step';
  step: FindingStep;
  /** Its number, from 0. */
  at: number;
  parent: FindingNode;
}

/** The last line of a heading with more findings than are shown. */
export interface MoreNode {
  kind: 'more';
  parent: GroupNode;
}

export type Node = GroupNode | FindingNode | StepNode | MoreNode;

const PAGE = 500;

export class FindingsTree implements TreeDataProvider<Node> {
  private roots: GroupNode[] = [];
  private shown: readonly FindingItem[] = [];
  private grouping: Grouping | undefined;
  private pages = new Map<string, number>();
  private readonly changed = new EventEmitter<Node | undefined>();

  readonly onDidChangeTreeData = this.changed.event;

  /** @param readSteps reads the path of a finding. */
  constructor(private readonly readSteps: (finding: FindingItem) => Promise<FindingStep[]>) {}

  /**
   * Shows these findings under headings of this kind. Rows that stay as they are are not drawn
   * again: a click or a menu that is on its way to one would be lost.
   */
  show(findings: readonly FindingItem[], grouping: Grouping): void {
    if (grouping === this.grouping && areAlike(findings, this.shown)) {
      return;
    }
    this.shown = findings;
    this.grouping = grouping;
    this.roots = grouped(findings, grouping).map((group) => ({ kind: 'group', group }));
    this.changed.fire(undefined);
  }

  /** Shows the next page of a heading. */
  showMore({ parent }: MoreNode): void {
    this.pages.set(parent.group.key, this.pageOf(parent) + 1);
    this.changed.fire(undefined);
  }

  getChildren(node?: Node): Node[] | Promise<Node[]> {
    if (node === undefined) {
      return this.roots;
    }
    if (node.kind === 'finding') {
      return this.stepsOf(node);
    }
    if (node.kind !== 'group') {
      return [];
    }
    const shown = this.pageOf(node) * PAGE;
    const findings = node.group.findings
      .slice(0, shown)
      .map((finding): Node => ({ kind: 'finding', finding, parent: node }));
    return node.group.findings.length > shown
      ? [...findings, { kind: 'more', parent: node }]
      : findings;
  }

  getParent(node: Node): Node | undefined {
    return node.kind === 'group' ? undefined : node.parent;
  }

  getTreeItem(node: Node): TreeItem {
    if (node.kind === 'group') {
      return groupItem(node.group);
    }
    if (node.kind === 'step') {
      return stepItem(node);
    }
    return node.kind === 'finding' ? findingItem(node) : moreItem(node);
  }

  /** Tooltips are made when the mouse asks for one. */
  resolveTreeItem(item: TreeItem, node: Node): TreeItem {
    if (node.kind === 'finding') {
      item.tooltip = findingTooltip(node.finding);
    }
    return item;
  }

  private async stepsOf(parent: FindingNode): Promise<Node[]> {
    const steps = await this.readSteps(parent.finding);
    return steps.map((step, at) => ({ kind: 'step', step, at, parent }));
  }

  private pageOf(node: GroupNode): number {
    return this.pages.get(node.group.key) ?? 1;
  }
}

function areAlike(some: readonly FindingItem[], others: readonly FindingItem[]): boolean {
  return (
    some.length === others.length &&
    some.every((one, at) => {
      const other = others[at];
      return one === other || JSON.stringify(one) === JSON.stringify(other);
    })
  );
}

function groupItem(group: Group): TreeItem {
  const name = groupName(group);
  const item = new TreeItem(name, TreeItemCollapsibleState.Expanded);
  item.id = `${group.grouping}:${group.key}`;
  item.contextValue = 'group';
  item.description = String(group.findings.length);
  item.accessibilityInformation = { label: `${name}, ${countOf(group.findings.length)}` };
  if (group.grouping === 'file') {
    item.resourceUri = Uri.parse(group.key);
    item.iconPath = ThemeIcon.File;
    item.description = `${folderOf(group.key)}  ${group.findings.length}`.trim();
    item.tooltip = relativePath(group.key);
  } else if (group.grouping === 'severity') {
    item.iconPath = severityIcon(group.key as Severity);
  } else {
    const worst = group.findings[0]?.severity ?? 'low';
    item.iconPath = severityIcon(worst);
    item.tooltip = `${name} · ${severityName(worst)}`;
  }
  return item;
}

function folderOf(uri: string): string {
  return relativePath(uri).split('/').slice(0, -1).join('/');
}

function findingItem({ finding, parent }: FindingNode): TreeItem {
  const { grouping } = parent.group;
  const item = new TreeItem(
    finding.message,
    finding.steps > 0 ? TreeItemCollapsibleState.Collapsed : TreeItemCollapsibleState.None,
  );
  item.id = `${grouping}:${finding.uri}#${finding.fingerprint}`;
  item.contextValue = contextOf(finding);
  const line = l10n.t('line {0}', finding.range.start.line + 1);
  const parts = [
    grouping === 'file' ? line : place(finding),
    ...(finding.proof === undefined ? [] : [finding.proof.name]),
    ...(grouping === 'rule' ? [] : [finding.rule]),
  ];
  item.description = parts.join(' · ');
  item.iconPath = findingIcon(finding, grouping);
  item.accessibilityInformation = { label: spokenFinding(finding) };
  item.command = open(finding);
  return item;
}

function stepItem({ step, at, parent }: StepNode): TreeItem {
  const item = new TreeItem(step.message);
  item.contextValue = 'step';
  item.description = place(step);
  item.tooltip = `${step.message}\n${relativePath(step.uri)}:${step.range.start.line + 1}`;
  const isLast = at === parent.finding.steps - 1;
  item.iconPath = new ThemeIcon(isLast ? 'debug-breakpoint' : 'debug-stackframe-dot');
  item.accessibilityInformation = { label: spokenStep(step, at, parent.finding.steps) };
  item.command = open(step);
  return item;
}

function open({ uri, range }: Pick<FindingStep, 'uri' | 'range'>): Command {
  const selection = toRange(range);
  return {
    command: 'vscode.open',
    title: l10n.t('Go to Finding'),
    arguments: [Uri.parse(uri), { selection }],
  };
}

/**
 * `finding`, with `.open` when it can still be settled, `.fixable` when it has a rewrite, `.path`
 * when steps lead to it, and `.case` when a run has shown it.
 */
function contextOf(finding: FindingItem): string {
  const open = finding.suppressed || finding.baselined ? '' : '.open';
  const fixable = finding.fixable ? '.fixable' : '';
  const path = finding.steps > 0 ? '.path' : '';
  return `finding${open}${fixable}${path}${finding.proof?.case ? '.case' : ''}`;
}

function moreItem(node: MoreNode): TreeItem {
  const item = new TreeItem(l10n.t('Show more…'), TreeItemCollapsibleState.None);
  item.contextValue = 'more';
  item.iconPath = new ThemeIcon('ellipsis');
  item.command = {
    command: 'jarvisLs.showMore',
    title: l10n.t('Show more…'),
    arguments: [node],
  };
  return item;
}
