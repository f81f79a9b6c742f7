/** What the page remembers while the view is hidden or the window is loaded again. */

import type { Attachment, MemoryKind, PanelTab } from './wire';

/** A message that is not sent yet. */
export interface Draft {
  text: string;
  attachments: Attachment[];
}

/** An answer that is not given yet, to a question or to what a tool asks for. */
export interface Begun {
  text: string;
  /** Parts of a change that are not taken. */
  refused: string[];
}

/** A memory that is being written or changed; a new one has no id. */
export interface MemoryDraft {
  id: string;
  memory: MemoryKind;
  content: string;
  tags: string;
}

export interface Kept {
  tab: PanelTab;
  session: string;
  node: string;
  /** By session. */
  drafts: Record<string, Draft>;
  /** What was said while there was no server, the oldest first. */
  waiting: Draft[];
  /** By id of the entry that asks. */
  begun: Record<string, Begun>;
  memory?: MemoryDraft;
  /** What was said before, the latest last. */
  history: string[];
  /** Ids of entries whose folded part is open (or, with a `-`, closed against custom). */
  opened: string[];
  /** Ids of nodes whose children are hidden. */
  collapsed: string[];
  /** Where the reader was; absent at the end. */
  place?: { id: string; above: number };
}

const MOST = { drafts: 20, begun: 50, history: 100, opened: 500, collapsed: 500 };

const NOTHING: Kept = {
  tab: 'chat',
  session: '',
  node: '',
  drafts: {},
  waiting: [],
  begun: {},
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
  kept.drafts = latest(given.drafts, isDraft, MOST.drafts);
  kept.begun = latest(given.begun, isBegun, MOST.begun);
  kept.waiting = Array.isArray(given.waiting) ? given.waiting.filter(isDraft) : [];
  if (typeof given.memory?.content === 'string' && typeof given.memory.id === 'string') {
    kept.memory = given.memory;
  }
  if (typeof given.place?.id === 'string' && typeof given.place.above === 'number') {
    kept.place = { id: given.place.id, above: given.place.above };
  }
  return kept;
}

function latest<T>(given: unknown, is: (it: unknown) => it is T, most: number): Record<string, T> {
  const all = Object.entries((given ?? {}) as Record<string, unknown>);
  const known = all.filter((pair): pair is [string, T] => is(pair[1]));
  return Object.fromEntries(known.slice(-most));
}

function isDraft(it: unknown): it is Draft {
  const { text, attachments } = (it ?? {}) as Partial<Draft>;
  return typeof text === 'string' && Array.isArray(attachments);
}

function isBegun(it: unknown): it is Begun {
  const { text, refused } = (it ?? {}) as Partial<Begun>;
  return typeof text === 'string' && Array.isArray(refused);
}

/** What was begun as an answer to an entry. */
export function begunOf(kept: Kept, id: string): Begun {
  return kept.begun[id] ?? { text: '', refused: [] };
}

export function setBegun(kept: Kept, id: string, begun: Begun): void {
  delete kept.begun[id]; // the latest come last
  if (begun.text !== '' || begun.refused.length > 0) {
    kept.begun[id] = begun;
  }
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
