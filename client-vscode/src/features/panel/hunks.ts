/**
 * The parts of a change that waits, in the editor's diff: below each stands whether it is accepted,
 * with a button that says otherwise. The panel shows the same choice, and either may change it. A
 * change of one part has none of it: Accept and Refuse in the title of the diff say all.
 */

import {
  CommentMode,
  type CommentThread,
  CommentThreadCollapsibleState,
  comments,
  type Disposable,
  l10n,
  Range,
  type Uri,
} from 'vscode';
import type { ProposedEdit } from '../../panel-protocol';

/** Also the `commentController` of the buttons in `package.json`. */
const ID = 'jarvis-change';

/** One file of a change, as a diff shows it. */
export interface ShownEdit {
  uri: Uri;
  edit: ProposedEdit;
  /** Indices of the parts that are accepted. */
  accepted: readonly number[];
}

/** What a button is about. */
export interface HunkRef {
  uri: Uri;
  path: string;
  index: number;
}

interface Drawn {
  thread: CommentThread;
  hunk: HunkRef;
}

export class HunkButtons implements Disposable {
  private readonly controller = comments.createCommentController(ID, l10n.t('Changes by Jarvis'));
  private readonly drawn = new Map<string, Drawn>();

  dispose(): void {
    this.controller.dispose();
  }

  /** The part that a button belongs to. */
  of(thread: CommentThread): HunkRef | undefined {
    return [...this.drawn.values()].find((it) => it.thread === thread)?.hunk;
  }

  /** Draws the buttons of these diffs, and of no others. */
  show(shown: readonly ShownEdit[]): void {
    const wanted = new Set<string>();
    for (const { uri, edit, accepted } of shown) {
      if (edit.hunks.length < 2) {
        continue;
      }
      for (const hunk of edit.hunks) {
        const key = `${hunk.index} ${uri}`;
        wanted.add(key);
        const drawn = this.drawn.get(key) ?? this.draw(uri, edit, hunk);
        this.drawn.set(key, drawn);
        mark(drawn.thread, hunk.index, edit.hunks.length, accepted.includes(hunk.index));
      }
    }
    for (const [key, { thread }] of this.drawn) {
      if (!wanted.has(key)) {
        thread.dispose();
        this.drawn.delete(key);
      }
    }
  }

  private draw(uri: Uri, { path }: ProposedEdit, hunk: ProposedEdit['hunks'][number]): Drawn {
    const last = Math.max(0, hunk.newStart - 1 + Math.max(0, hunk.newLines.length - 1));
    const where = new Range(last, 0, last, 0);
    const thread = this.controller.createCommentThread(uri, where, []);
    thread.canReply = false;
    thread.collapsibleState = CommentThreadCollapsibleState.Expanded;
    return { thread, hunk: { uri, path, index: hunk.index } };
  }
}

function mark(thread: CommentThread, index: number, all: number, isAccepted: boolean): void {
  const label = isAccepted
    ? l10n.t('Change {0} of {1}: accepted', index + 1, all)
    : l10n.t('Change {0} of {1}: refused', index + 1, all);
  if (thread.label !== label) {
    thread.label = label;
    thread.contextValue = isAccepted ? 'accepted' : 'refused';
    // The sentence is where the author is: comments with a text open the editor's list of comments,
    // and a thread without any comment has a bin that takes its buttons away.
    const name = isAccepted
      ? l10n.t('It is written when you accept the change.')
      : l10n.t('It is left out when you accept the change.');
    thread.comments = [{ author: { name }, body: '', mode: CommentMode.Preview }];
  }
}
