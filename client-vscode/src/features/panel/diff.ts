/**
 * What an agent changes of a file, as the editor's own diff: before and after are texts of the
 * server, so that the diff stays what it was when the file changes later. While the change waits,
 * Accept and Refuse stand in the diff's title, and a button at each of its parts. One that is open
 * follows what the user decides: of a change that was taken in part it shows that part.
 */

import {
  type CommentThread,
  commands,
  type Disposable,
  EventEmitter,
  l10n,
  TabInputTextDiff,
  type TextDocumentContentProvider,
  Uri,
  window,
  workspace,
} from 'vscode';
import type {
  ChooseHunksAsk,
  FileText,
  HunksTell,
  ReviewAsk,
  ShowDiffAsk,
  Side,
  SideAsk,
  ToolEntry,
} from '../../panel-protocol';
import { HunkButtons, type ShownEdit } from './hunks';

export const DIFF_SCHEME = 'jarvis-change';

type Wanted = Required<Pick<SideAsk, 'session' | 'entry' | 'path' | 'root'>>;

export class Changes implements TextDocumentContentProvider, Disposable {
  private readonly changed = new EventEmitter<Uri>();
  readonly onDidChange = this.changed.event;
  /** Tool calls whose edits wait for the user, by session and entry. */
  private readonly waiting = new Map<string, ToolEntry>();
  /** Which of their hunks are taken, where the user has chosen in the panel. */
  private readonly chosen = new Map<string, ReviewAsk['accepted']>();
  /** Those of them that no agent made: code of an answer that the user applies. */
  private readonly applied = new Set<string>();
  private readonly buttons = new HunkButtons();
  private readonly subscriptions: Disposable[] = [
    this.buttons,
    window.tabGroups.onDidChangeTabs(() => this.offer()),
    window.tabGroups.onDidChangeTabGroups(() => this.offer()),
  ];

  constructor(
    private readonly read: (ask: SideAsk) => Promise<FileText>,
    private readonly review: (ask: ReviewAsk) => Promise<unknown>,
    private readonly tell: (message: HunksTell) => void,
  ) {}

  dispose(): void {
    this.changed.dispose();
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  /** A tool call is as it is now: its edits wait, or what is shown of them is read again. */
  follow(session: string, entry: ToolEntry): void {
    if (entry.state === 'asked' && entry.edits.length > 0) {
      this.waiting.set(key({ session, entry: entry.id }), entry);
    } else {
      this.waiting.delete(key({ session, entry: entry.id }));
      this.chosen.delete(key({ session, entry: entry.id }));
    }
    if (entry.state !== 'asked' && entry.state !== 'running') {
      this.readAgain(session, entry.id);
    }
    this.offer();
  }

  /** Shows what a block of code of an answer changes; it waits until the user decides. */
  async propose(session: string, entry: ToolEntry): Promise<void> {
    this.applied.add(key({ session, entry: entry.id }));
    this.follow(session, entry);
    for (const { path, root } of entry.edits) {
      await this.show({ kind: 'show_diff', session, entry: entry.id, path, root: root ?? 0 });
    }
  }

  /** No call waits any more: the server has ended. */
  forget(): void {
    this.waiting.clear();
    this.chosen.clear();
    this.applied.clear();
    this.offer();
  }

  /** The user took or left hunks in the panel. */
  choose({ session, entry, accepted }: ChooseHunksAsk): void {
    this.chosen.set(key({ session, entry }), accepted);
    this.offer();
  }

  /** The user takes or leaves one part by its button in the diff; the panel then shows it so. */
  chooseHunk(thread: CommentThread, isAccepted: boolean): void {
    const hunk = this.buttons.of(thread);
    const wanted = hunk && (JSON.parse(hunk.uri.query) as Wanted);
    const entry = wanted && this.waiting.get(key(wanted));
    if (hunk === undefined || wanted === undefined || entry === undefined) {
      throw new Error(l10n.t('No change waits in this editor.'));
    }
    const before = this.acceptedOf(wanted, entry);
    const others = (before[hunk.path] ?? []).filter((index) => index !== hunk.index);
    const indices = isAccepted ? [...others, hunk.index].sort((a, b) => a - b) : others;
    const { [hunk.path]: _, ...rest } = before;
    const accepted = indices.length > 0 ? { ...rest, [hunk.path]: indices } : rest;
    this.chosen.set(key(wanted), accepted);
    this.tell({ kind: 'hunks', entry: entry.id, accepted });
    this.offer();
  }

  private acceptedOf(wanted: Wanted, entry: ToolEntry): ReviewAsk['accepted'] {
    return this.chosen.get(key(wanted)) ?? allHunks(entry);
  }

  /**
   * Accepts what the call of the active diff changes, but for the hunks left out in the panel, or
   * refuses it; of several files the user is asked, since the diff shows one.
   */
  async decide(accept: boolean): Promise<void> {
    const wanted = active();
    const entry = wanted && this.waiting.get(key(wanted));
    if (wanted === undefined || entry === undefined) {
      throw new Error(l10n.t('No change waits in this editor.'));
    }
    if (accept && entry.edits.length > 1 && !(await isWanted(entry))) {
      return;
    }
    const accepted = accept ? this.acceptedOf(wanted, entry) : {};
    await this.review({ kind: 'review', session: wanted.session, entry: wanted.entry, accepted });
    if (this.applied.delete(key(wanted))) {
      this.follow(wanted.session, { ...entry, state: accept ? 'done' : 'denied' });
    }
    const tabs = window.tabGroups.all.flatMap(({ tabs }) => tabs);
    await window.tabGroups.close(
      tabs.filter(({ input }) => {
        const shown = wantedBy(input);
        return shown !== undefined && key(shown) === key(wanted);
      }),
    );
  }

  private offer(): void {
    const wanted = active();
    const waits = wanted !== undefined && this.waiting.has(key(wanted));
    void commands.executeCommand('setContext', 'jarvisLs.changeWaits', waits);
    this.buttons.show([...this.shown()]);
  }

  /** The files of waiting changes whose diffs are open. */
  private *shown(): Iterable<ShownEdit> {
    for (const { tabs } of window.tabGroups.all) {
      for (const { input } of tabs) {
        const wanted = wantedBy(input);
        const entry = wanted && this.waiting.get(key(wanted));
        const edit = entry?.edits.find(
          ({ path, root }) => path === wanted?.path && root === wanted.root,
        );
        if (wanted !== undefined && entry !== undefined && edit !== undefined) {
          const accepted = this.acceptedOf(wanted, entry)[edit.path] ?? [];
          yield { uri: at(wanted, 'after'), edit, accepted };
        }
      }
    }
  }

  private readAgain(session: string, entry: string): void {
    for (const { uri } of workspace.textDocuments) {
      if (uri.scheme === DIFF_SCHEME) {
        const wanted = JSON.parse(uri.query) as Wanted;
        if (wanted.session === session && wanted.entry === entry) {
          this.changed.fire(uri);
        }
      }
    }
  }

  async provideTextDocumentContent(uri: Uri): Promise<string> {
    const wanted = JSON.parse(uri.query) as Wanted & { side: Side };
    return (await this.read({ kind: 'side', ...wanted })).text;
  }

  /** Opens the diff of one file of a tool call. */
  async show({ session, entry, path, root = 0 }: ShowDiffAsk): Promise<void> {
    const wanted = { session, entry, path, root };
    const name = path.slice(path.lastIndexOf('/') + 1);
    const title = l10n.t('{0} (changed by Jarvis)', name);
    await commands.executeCommand('vscode.diff', at(wanted, 'before'), at(wanted, 'after'), title, {
      preview: true,
    });
  }
}

/** What the diff shows that is in front. */
function active(): Wanted | undefined {
  return wantedBy(window.tabGroups.activeTabGroup.activeTab?.input);
}

function wantedBy(input: unknown): Wanted | undefined {
  const uri = input instanceof TabInputTextDiff ? input.modified : undefined;
  return uri?.scheme === DIFF_SCHEME ? (JSON.parse(uri.query) as Wanted) : undefined;
}

function key({ session, entry }: Pick<Wanted, 'session' | 'entry'>): string {
  return `${session}/${entry}`;
}

function allHunks({ edits }: ToolEntry): ReviewAsk['accepted'] {
  return Object.fromEntries(
    edits.map(({ path, hunks }) => [path, hunks.map(({ index }) => index)]),
  );
}

async function isWanted({ edits }: ToolEntry): Promise<boolean> {
  const accept = l10n.t('Accept All');
  const question = l10n.t('The agent changes {0} files at once. Accept all of them?', edits.length);
  const detail = edits.map(({ path }) => path).join('\n');
  return (
    (await window.showInformationMessage(question, { modal: true, detail }, accept)) === accept
  );
}

function at(wanted: Wanted, side: Side): Uri {
  return Uri.from({
    scheme: DIFF_SCHEME,
    path: `/${wanted.path}`,
    query: JSON.stringify({ ...wanted, side }),
  });
}
