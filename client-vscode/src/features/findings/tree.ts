/**
 * The tree of the findings view: headings, and below each its findings, worst first. A heading with
 * very many findings shows them by pages, so that ten thousand findings stay quick.
 */

import {
  EventEmitter,
  l10n,
  Range,
  ThemeIcon,
  type TreeDataProvider,
  TreeItem,
  TreeItemCollapsibleState,
  Uri,
} from 'vscode';
import type { FindingItem, Severity } from '../../protocol';
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

/** The last line of a heading with more findings than are shown. */
export interface MoreNode {
  kind: 'more';
  parent: GroupNode;
}

export type Node = GroupNode | FindingNode | MoreNode;

const PAGE = 500;

export class FindingsTree implements TreeDataProvider<Node> {
  private roots: GroupNode[] = [];
  private shown: readonly FindingItem[] = [];
  private grouping: Grouping | undefined;
  private pages = new Map<string, number>();
  private readonly changed = new EventEmitter<Node | undefined>();

  readonly onDidChangeTreeData = this.changed.event;

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

  getChildren(node?: Node): Node[] {
    if (node === undefined) {
      return this.roots;
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
    return node.kind === 'finding' ? findingItem(node) : moreItem(node);
  }

  /** Tooltips are made when the mouse asks for one. */
  resolveTreeItem(item: TreeItem, node: Node): TreeItem {
    if (node.kind === 'finding') {
      item.tooltip = findingTooltip(node.finding);
    }
    return item;
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
  const { start, end } = finding.range;
  const inFile = parent.group.grouping === 'file';
  // The place stays readable in a narrow side bar; many findings share their message.
  const label = inFile ? `${start.line + 1}: ${finding.message}` : place(finding);
  const item = new TreeItem(label, TreeItemCollapsibleState.None);
  item.id = `${parent.group.grouping}:${finding.uri}#${finding.fingerprint}`;
  item.contextValue = contextOf(finding);
  const told = inFile ? finding.rule : finding.message;
  item.description = finding.proof === undefined ? told : `${finding.proof.name} · ${told}`;
  item.iconPath = findingIcon(finding);
  item.accessibilityInformation = { label: spokenFinding(finding) };
  item.command = {
    command: 'vscode.open',
    title: l10n.t('Go to Finding'),
    arguments: [
      Uri.parse(finding.uri),
      { selection: new Range(start.line, start.character, end.line, end.character) },
    ],
  };
  return item;
}

/**
 * `finding`, with `.open` when it can still be settled, `.fixable` when it has a rewrite, and `.case`
 * when a run has shown it.
 */
function contextOf(finding: FindingItem): string {
  const open = finding.suppressed || finding.baselined ? '' : '.open';
  return `finding${open}${finding.fixable ? '.fixable' : ''}${finding.proof?.case ? '.case' : ''}`;
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
