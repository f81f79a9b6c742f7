/** What the rows of a conversation have in common, and what they need. */

import type { Page } from '../page';
import type { PanelEntry } from '../wire';

/** A row of the conversation. */
export interface Row {
  readonly element: HTMLElement;
  show(entry: PanelEntry): void;
}

/** What a row needs besides the page. */
export interface Chat {
  readonly page: Page;
  /** Puts a text into the input line, to be changed and said again. */
  edit(text: string): void;
}
