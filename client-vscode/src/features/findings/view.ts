/**
 * The findings view in its own place of the activity bar. The user sees every finding of the
 * workspace, also of files that are not open, grouped by severity, category, file or rule; filters
 * them by words and severity; jumps to one with a click, reads all about it in the pane below, opens
 * it to see the steps of its path; and sees on the icon how many are open.
 */

import { commands, type Disposable, Location, l10n, type TreeView, Uri, window } from 'vscode';
import type { JarvisContext } from '../../context';
import { reason } from '../../log';
import { FINDINGS_VIEW } from '../../progress';
import {
  FINDING,
  FINDINGS,
  FINDINGS_CHANGED,
  type FindingItem,
  type FindingStep,
  type Severity,
} from '../../protocol';
import { FindingDetailsPane } from './details';
import { countOf, groupingName, severityIcon, severityName, toRange, verdictName } from './labels';
import {
  EVERYTHING,
  EVIDENCE,
  type Filter,
  FindingsModel,
  GROUPINGS,
  type Grouping,
  narrows,
  SEVERITIES,
  visible,
} from './model';
import { FindingsTree, type MoreNode, type Node } from './tree';

const STATE = 'findingsView';
const REDRAW_MS = 100;

interface Remembered {
  grouping: Grouping;
  filter: Filter;
}

export function activate(context: JarvisContext): void {
  const view = new FindingsView(context);
  context.subscriptions.push(view);
  context.chooseFindings = (given) => view.choose(given);
  context.openFindings = () => view.open;
  context.command('jarvisLs.showFindings', () => view.focus());
  context.command('jarvisLs.groupBy', () => view.askGrouping());
  for (const grouping of GROUPINGS) {
    const name = grouping.charAt(0).toUpperCase() + grouping.slice(1);
    context.command(`jarvisLs.groupBy${name}`, () => view.groupBy(grouping));
  }
  context.command('jarvisLs.filter', () => view.askText());
  context.command('jarvisLs.filterSeverity', () => view.askSeverities());
  context.command('jarvisLs.filterEvidence', () => view.askEvidence());
  context.command('jarvisLs.clearFilter', () =>
    view.filterBy({ text: '', severities: SEVERITIES, evidence: EVIDENCE }),
  );
  context.command('jarvisLs.showSuppressed', () => view.filterBy({ suppressed: true }));
  context.command('jarvisLs.hideSuppressed', () => view.filterBy({ suppressed: false }));
  context.command('jarvisLs.showBaselined', () => view.filterBy({ baselined: true }));
  context.command('jarvisLs.hideBaselined', () => view.filterBy({ baselined: false }));
  context.command('jarvisLs.peekFindings', peek);
  context.command('jarvisLs.showMore', (node: MoreNode) => view.tree.showMore(node));
}

function findingsOf(nodes: readonly Node[]): FindingItem[] {
  const findings = nodes.flatMap((node) => {
    if (node.kind === 'group') {
      return node.group.findings;
    }
    if (node.kind === 'step') {
      return [node.parent.finding];
    }
    return node.kind === 'finding' ? [node.finding] : [];
  });
  return [...new Set(findings)];
}

class FindingsView implements Disposable {
  readonly tree: FindingsTree;
  private readonly model = new FindingsModel((uri) => Uri.parse(uri).toString());
  private readonly view: TreeView<Node>;
  private readonly details: FindingDetailsPane;
  private grouping: Grouping;
  private filter: Filter;
  private redraw: NodeJS.Timeout | undefined;

  constructor(private readonly context: JarvisContext) {
    const memory = context.extension.workspaceState;
    const remembered = memory.get<Partial<Remembered>>(STATE, {});
    this.grouping = remembered.grouping ?? 'severity';
    this.filter = { ...EVERYTHING, ...remembered.filter };
    this.tree = new FindingsTree((finding) => this.readSteps(finding));
    this.details = new FindingDetailsPane(context);
    this.view = window.createTreeView(FINDINGS_VIEW, {
      treeDataProvider: this.tree,
      canSelectMany: true,
      showCollapseAll: true,
    });
    context.subscriptions.push(
      this.details,
      this.view.onDidChangeSelection(({ selection }) => this.details.show(findingsOf(selection))),
    );
    context.on(FINDINGS_CHANGED, (change) => {
      if (this.model.apply(change)) {
        this.drawSoon();
      }
    });
    context.subscriptions.push(context.onLife((life) => this.follow(life)));
    this.draw();
  }

  async focus(): Promise<void> {
    await commands.executeCommand(`${FINDINGS_VIEW}.focus`);
  }

  get open(): FindingItem[] {
    return this.model.open;
  }

  /** See `ChooseFindings`. */
  choose(given: readonly [Node?, Node[]?]): FindingItem[] {
    const [clicked, selected] = given;
    if (clicked) {
      return findingsOf(selected?.includes(clicked) ? selected : [clicked]);
    }
    if (given.length > 0) {
      // The editor no longer knows the row of the menu: to take another finding would be wrong.
      throw new Error(l10n.t('The list has changed. Try again.'));
    }
    const selection = this.view.visible ? findingsOf(this.view.selection) : [];
    const atCursor = selection.length > 1 ? [] : this.atCursor();
    return atCursor.length > 0 ? atCursor : selection;
  }

  groupBy(grouping: Grouping): void {
    this.grouping = grouping;
    this.remember();
  }

  async askGrouping(): Promise<void> {
    const items = GROUPINGS.map((grouping) => ({
      label: groupingName(grouping),
      description: grouping === this.grouping ? l10n.t('current') : '',
      grouping,
    }));
    const chosen = await window.showQuickPick(items, { title: l10n.t('Group findings by') });
    if (chosen !== undefined) {
      this.groupBy(chosen.grouping);
      await this.focus();
    }
  }

  filterBy(part: Partial<Filter>): void {
    this.filter = { ...this.filter, ...part };
    this.remember();
  }

  async askText(): Promise<void> {
    const text = await window.showInputBox({
      title: l10n.t('Filter findings'),
      prompt: l10n.t('Text of the message, rule, category, CWE or path. All words must match.'),
      placeHolder: 'strcpy CWE-120 src/',
      value: this.filter.text,
    });
    if (text !== undefined) {
      this.filterBy({ text });
      await this.focus();
    }
  }

  async askSeverities(): Promise<void> {
    const items = SEVERITIES.map((severity) => ({
      label: severityName(severity),
      iconPath: severityIcon(severity),
      picked: this.filter.severities.includes(severity),
      severity,
    }));
    const chosen = await window.showQuickPick(items, {
      canPickMany: true,
      title: l10n.t('Severities to show'),
    });
    if (chosen !== undefined) {
      const severities: Severity[] = chosen.map((item) => item.severity);
      this.filterBy({ severities: severities.length > 0 ? severities : SEVERITIES });
      await this.focus();
    }
  }

  async askEvidence(): Promise<void> {
    const items = EVIDENCE.map((shown) => ({
      label: verdictName(shown),
      picked: this.filter.evidence.includes(shown),
      shown,
    }));
    const chosen = await window.showQuickPick(items, {
      canPickMany: true,
      title: l10n.t('Evidence to show'),
    });
    if (chosen !== undefined) {
      const evidence = chosen.map((item) => item.shown);
      this.filterBy({ evidence: evidence.length > 0 ? evidence : EVIDENCE });
      await this.focus();
    }
  }

  dispose(): void {
    clearTimeout(this.redraw);
    this.view.dispose();
  }

  private atCursor(): FindingItem[] {
    const editor = window.activeTextEditor;
    if (editor === undefined) {
      return [];
    }
    const { line } = editor.selection.active;
    const file = editor.document.uri.toString();
    return this.model.open
      .filter(({ range }) => range.start.line <= line && line <= range.end.line)
      .filter(({ uri }) => Uri.parse(uri).toString() === file);
  }

  private async readSteps({ uri, fingerprint }: FindingItem): Promise<FindingStep[]> {
    return (await this.context.request(FINDING, { uri, fingerprint })).steps;
  }

  private follow(life: string): void {
    if (life === 'running') {
      void this.load();
    } else if (life !== 'starting') {
      this.model.clear();
      this.draw();
    }
  }

  private async load(): Promise<void> {
    try {
      this.model.reset(await this.context.request(FINDINGS, {}));
      this.draw();
    } catch (error) {
      this.context.log.error(`Findings were not read: ${reason(error)}`);
    }
  }

  private remember(): void {
    const state: Remembered = { grouping: this.grouping, filter: this.filter };
    void this.context.extension.workspaceState.update(STATE, state);
    this.draw();
  }

  /** Findings arrive in bursts during a scan; the view follows ten times a second. */
  private drawSoon(): void {
    this.redraw ??= setTimeout(() => this.draw(), REDRAW_MS);
  }

  private draw(): void {
    clearTimeout(this.redraw);
    this.redraw = undefined;
    const open = this.model.open.length;
    const shown = visible(this.model.all, this.filter);
    this.tree.show(shown, this.grouping);
    this.details.follow(this.model.all);
    this.view.badge = open > 0 ? { value: open, tooltip: countOf(open) } : undefined;
    this.view.description = groupingName(this.grouping);
    // Where nothing is left, the view's own words offer to clear the filter; a message hides them.
    const narrowed = narrows(this.filter) && shown.length > 0;
    this.setMessage(narrowed ? this.filterSentence(shown.length, open) : undefined);
    void setContext('jarvisLs.filtered', narrows(this.filter));
    void setContext('jarvisLs.hasFindings', open > 0);
    void setContext('jarvisLs.grouping', this.grouping);
    void setContext('jarvisLs.showsSuppressed', this.filter.suppressed);
    void setContext('jarvisLs.showsBaselined', this.filter.baselined);
  }

  private setMessage(message: string | undefined): void {
    // The API wants the property cleared with undefined, which its type does not say.
    (this.view as { message?: string | undefined }).message = message;
  }

  private filterSentence(shown: number, open: number): string {
    const parts = [
      ...(this.filter.text.trim() === '' ? [] : [`“${this.filter.text.trim()}”`]),
      ...(this.filter.severities.length < SEVERITIES.length
        ? [this.filter.severities.map(severityName).join(', ')]
        : []),
      ...(this.filter.evidence.length < EVIDENCE.length
        ? [this.filter.evidence.map(verdictName).join(', ')]
        : []),
    ];
    return l10n.t('{0} of {1} findings: {2}', shown, open, parts.join(' · '));
  }
}

function setContext(key: string, value: unknown): Thenable<unknown> {
  return commands.executeCommand('setContext', key, value);
}

/** Lists findings of a file in the editor; where there is one it goes to it. */
async function peek(uri: string, ranges: readonly FindingItem['range'][]): Promise<void> {
  const file = Uri.parse(uri);
  const places = ranges.map((range) => new Location(file, toRange(range)));
  const [first] = places;
  if (first !== undefined) {
    const at = first.range.start;
    await commands.executeCommand('editor.action.goToLocations', file, at, places, 'peek');
  }
}
