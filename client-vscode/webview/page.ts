/** What every part of the page shares. */

import type { Announcer } from './announce';
import type { AnswerTo, Bridge } from './bridge';
import type { Kept } from './kept';
import type { Changes, Store } from './store';
import type { ModelState, PageAsk, PanelTab, Picture } from './wire';

export interface Page {
  readonly bridge: Bridge;
  readonly store: Store;
  readonly kept: Kept;
  readonly announcer: Announcer;
  /** What the server said when the page attached; absent before. */
  readonly picture: Picture | undefined;
  /** Which models there are. */
  models: ModelState | undefined;
  /** The node whose conversation is shown. */
  readonly node: string;

  /** Asks; what goes wrong is shown to the user, and the result is then undefined. */
  ask<A extends PageAsk>(ask: A): Promise<AnswerTo<A> | undefined>;
  /** Asks the user before something that cannot be undone. */
  confirm(text: string, action: string): Promise<boolean>;
  /** Shows another session. */
  attach(session: string): Promise<void>;
  /** Shows the conversation of a node. */
  look(node: string): void;
  showTab(tab: PanelTab): void;
  /** Opens a link of a text: a web address in the browser, a path in the editor. */
  follow(href: string): void;
  /** Keeps what the page must remember, soon. */
  remember(): void;
  /** Says something of passing interest at the lower edge. */
  tell(text: string, undo?: { label: string; run: () => void }): void;
}

/** A part of the page that is drawn again when something changed. */
export interface View {
  /** Draws what changed, or everything; called at most once a frame, only while it is shown. */
  draw(changes?: Changes): void;
}

/** What a file is called: with its folder where the workspace has several. */
export function nameIn(page: Page, { path, root }: { path: string; root: number }): string {
  const folders = page.picture?.folders ?? [];
  return folders.length > 1 ? `${folders[root] ?? ''}/${path}` : path;
}
