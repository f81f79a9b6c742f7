/**
 * The path to a finding as a call hierarchy. *Show Path as Call Hierarchy* opens it in the editor's
 * References view, where the calls of other code are shown too: the finding first, below each step
 * what leads to it; F4 goes from step to step. The view takes trees from any extension, whereas of
 * the providers of calls VS Code asks one alone, that of the language.
 */

import {
  commands,
  EventEmitter,
  extensions,
  Location,
  l10n,
  type Position,
  type TextDocumentShowOptions,
  ThemeIcon,
  type TreeDataProvider,
  TreeItem,
  TreeItemCollapsibleState,
  Uri,
  window,
} from 'vscode';
import type { JarvisContext } from '../context';
import { FINDING, type FindingRef, type FindingStep } from '../protocol';
import { type Clicked, findingsMeant } from './finding-commands';
import { place, spokenStep, toRange } from './findings/labels';

const VIEW = 'vscode.references-view';

/** What the built-in extension of the References view takes; its `references-view.d.ts`. */
interface SymbolTree {
  setInput(input: SymbolTreeInput): void;
}

interface SymbolTreeInput {
  readonly contextValue: string;
  readonly title: string;
  readonly location: Location;
  resolve(): Promise<SymbolTreeModel>;
  with(location: Location): SymbolTreeInput;
}

interface SymbolTreeModel {
  message: string | undefined;
  provider: TreeDataProvider<PathNode>;
  navigation: {
    nearest(uri: Uri, position: Position): PathNode | undefined;
    next(from: PathNode): PathNode | undefined;
    previous(from: PathNode): PathNode | undefined;
    location(node: PathNode): Location;
  };
}

/** A step and its place on the path, counted from 0. */
interface PathNode {
  step: FindingStep;
  at: number;
}

export function activate(context: JarvisContext): void {
  context.command('jarvisLs.showPath', async (...clicked: Clicked<FindingRef>) => {
    const meant = findingsMeant(context, clicked);
    const finding = meant.find((it) => 'steps' in it && it.steps > 0) ?? meant[0];
    if (finding === undefined) {
      void window.showInformationMessage(
        l10n.t('Place the cursor on a finding, or select findings in the Findings view.'),
      );
      return;
    }
    const { uri, fingerprint } = finding;
    const { steps } = await context.request(FINDING, { uri, fingerprint });
    const last = steps.at(-1);
    if (last === undefined) {
      void window.showInformationMessage(l10n.t('This finding has no path: its line shows it.'));
      return;
    }
    const view = extensions.getExtension<SymbolTree>(VIEW);
    if (view === undefined) {
      throw new Error(l10n.t("The editor's References view is switched off."));
    }
    const tree = await view.activate();
    await commands.executeCommand('vscode.open', ...opened(last));
    tree.setInput(inputFor(steps, locate(last)));
  });
}

function locate({ uri, range }: FindingStep): Location {
  return new Location(Uri.parse(uri), toRange(range));
}

function inputFor(steps: readonly FindingStep[], location: Location): SymbolTreeInput {
  return {
    contextValue: 'jarvisPath',
    title: l10n.t('Path to the Finding'),
    location,
    resolve: async () => modelOf(steps),
    with: (other) => inputFor(steps, other),
  };
}

/** The tree of a path: the last step, which is the finding, is its root. */
function modelOf(steps: readonly FindingStep[]): SymbolTreeModel {
  const nodes = steps.map((step, at) => ({ step, at }));
  const beside = ({ at }: PathNode, by: number) => nodes.at((at + by) % nodes.length);
  const provider: TreeDataProvider<PathNode> = {
    onDidChangeTreeData: new EventEmitter<undefined>().event,
    getTreeItem: (node) => itemOf(node, nodes.length),
    getChildren: (node) => nodes.slice(0, node?.at).slice(-1),
    getParent: ({ at }) => nodes[at + 1],
  };
  return {
    message: l10n.t('{0} steps; below each one what leads to it', nodes.length),
    provider,
    navigation: {
      nearest: (uri, { line }) =>
        nodes.filter(({ step }) => isAt(step, uri, line)).at(-1) ?? nodes.at(-1),
      next: (from) => beside(from, -1),
      previous: (from) => beside(from, 1),
      location: ({ step }) => locate(step),
    },
  };
}

function isAt({ uri, range }: FindingStep, file: Uri, line: number): boolean {
  return range.start.line === line && Uri.parse(uri).toString() === file.toString();
}

function itemOf({ step, at }: PathNode, count: number): TreeItem {
  const { Expanded, None } = TreeItemCollapsibleState;
  const item = new TreeItem(step.message, at > 0 ? Expanded : None);
  item.description = place(step);
  item.iconPath = new ThemeIcon(at === count - 1 ? 'debug-breakpoint' : 'debug-stackframe-dot');
  item.accessibilityInformation = { label: spokenStep(step, at, count) };
  item.contextValue = 'jarvisStep';
  item.command = {
    command: 'vscode.open',
    title: l10n.t('Go to Finding'),
    arguments: opened(step),
  };
  return item;
}

/** What *Open* is given to show a step while the tree keeps the focus. */
function opened({ uri, range }: FindingStep): [Uri, TextDocumentShowOptions] {
  return [Uri.parse(uri), { selection: toRange(range), preserveFocus: true }];
}
