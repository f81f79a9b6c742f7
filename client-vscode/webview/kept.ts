/** What the page remembers while the view is hidden or the window is loaded again. */

import type { PanelTab } from './wire';

export interface Kept {
  tab: PanelTab;
  session: string;
  node: string;
  /** Unsent text by session. */
  drafts: Record<string, string>;
  /** What was said before, the latest last. */
  history: string[];
  /** Ids of entries whose folded part is open (or, with a `-`, closed against custom). */
  opened: string[];
  /** Ids of nodes whose children are hidden. */
  collapsed: string[];
  /** Where the reader was; absent at the end. */
  place?: { id: string; above: number };
}

const MOST = { drafts: 20, history: 100, opened: 500, collapsed: 500 };

const NOTHING: Kept = {
  tab: 'chat',
  session: '',
  node: '',
  drafts: {},
  history: [],
  opened: [],
  collapsed: [],
};

/** What was kept, as far as it is what we think. */
export function restore(state: unknown): Kept {
  const given = typeof state === 'object' && state !== null ? (state as Partial<Kept>) : {};
  const kept: Kept = structuredClone(NOTHING);
  for (const key of ['tab', 'session', 'node'] as const) {
    if (typeof given[key] === 'string') {
      kept[key] = given[key] as never;
    }
  }
  for (const key of ['history', 'opened', 'collapsed'] as const) {
    if (Array.isArray(given[key])) {
      kept[key] = given[key].filter((it) => typeof it === 'string').slice(-MOST[key]);
    }
  }
  if (typeof given.drafts === 'object' && given.drafts !== null) {
    const drafts = Object.entries(given.drafts).filter(([, text]) => typeof text === 'string');
    kept.drafts = Object.fromEntries(drafts.slice(-MOST.drafts));
  }
  if (typeof given.place?.id === 'string' && typeof given.place.above === 'number') {
    kept.place = { id: given.place.id, above: given.place.above };
  }
  return kept;
}

/** What is told apart from the rest: whether a thing that is usually closed (or open) is so. */
export function isOpen(kept: Kept, id: string, usually = false): boolean {
  return usually ? !kept.opened.includes(`-${id}`) : kept.opened.includes(id);
}

export function setOpen(kept: Kept, id: string, open: boolean, usually = false): void {
  const mark = usually ? `-${id}` : id;
  kept.opened = kept.opened.filter((it) => it !== mark);
  if (open !== usually) {
    kept.opened.push(mark);
  }
}
