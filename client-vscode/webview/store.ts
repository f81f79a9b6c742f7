/**
 * What the page knows of sessions: every event is applied here, and nowhere else. All events are
 * upserts by id, so that one seen twice does no harm and a snapshot brings a new page up to date.
 * Views ask what changed once a frame.
 */

import type { EntryGrew, NodeInfo, PanelEntry, PanelEvent, PanelMeter, SessionInfo } from './wire';

/** Which parts of an entry grow. */
type Part = EntryGrew['part'];

/** One conversation: the entries of one node, in the order they came. */
export class Conversation {
  readonly order: string[] = [];
  private readonly entries = new Map<string, PanelEntry>();
  /** Length in code points of each part that grew: counted once, then added to. */
  private readonly lengths = new Map<string, number>();

  get(id: string): PanelEntry | undefined {
    return this.entries.get(id);
  }

  get last(): PanelEntry | undefined {
    const id = this.order.at(-1);
    return id === undefined ? undefined : this.entries.get(id);
  }

  *all(): Generator<PanelEntry> {
    for (const id of this.order) {
      const entry = this.entries.get(id);
      if (entry !== undefined) {
        yield entry;
      }
    }
  }

  put(entry: PanelEntry): void {
    if (!this.entries.has(entry.id)) {
      this.order.push(entry.id);
    }
    this.entries.set(entry.id, entry);
    for (const part of ['text', 'thinking', 'output'] satisfies Part[]) {
      this.lengths.delete(`${part} ${entry.id}`);
    }
  }

  /** Returns false when there is nothing it could continue. */
  grow({ entry: id, part, at, text }: EntryGrew): boolean {
    const entry = this.entries.get(id);
    const before = entry && (entry as unknown as Record<Part, unknown>)[part];
    if (entry === undefined || typeof before !== 'string') {
      return false;
    }
    const key = `${part} ${id}`;
    const length = this.lengths.get(key) ?? codePoints(before);
    const kept = at >= length ? before : firstCodePoints(before, at);
    this.lengths.set(key, Math.min(at, length) + codePoints(text));
    this.entries.set(id, { ...entry, [part]: kept + text } as PanelEntry);
    return true;
  }

  /** Takes entries from `first` on away; returns their ids. */
  cut(first: string): string[] {
    const index = this.order.indexOf(first);
    const gone = index < 0 ? [] : this.order.splice(index);
    for (const id of gone) {
      this.entries.delete(id);
    }
    return gone;
  }
}

/** Everything known of one session. */
export class Session {
  info: SessionInfo | undefined;
  readonly nodes = new Map<string, NodeInfo>();
  readonly conversations = new Map<string, Conversation>();
  readonly meters = new Map<string, PanelMeter>();

  constructor(readonly id: string) {}

  /** The node without a parent. */
  get root(): NodeInfo | undefined {
    for (const node of this.nodes.values()) {
      if (node.parent === undefined || node.parent === null || !this.nodes.has(node.parent)) {
        return node;
      }
    }
    return undefined;
  }

  conversation(node: string): Conversation {
    let conversation = this.conversations.get(node);
    if (conversation === undefined) {
      conversation = new Conversation();
      this.conversations.set(node, conversation);
    }
    return conversation;
  }
}

/** What happened since views last looked. */
export interface Changes {
  /** Ids of entries that are new or different, by node. */
  readonly entries: Map<string, Set<string>>;
  /** Nodes whose list of entries is another. */
  readonly lists: Set<string>;
  /** Ids of nodes of the tree that are new or different. */
  readonly nodes: Set<string>;
  /** A node came or went. */
  tree: boolean;
  /** The list of sessions, or one of them, is different. */
  sessions: boolean;
  /** Some meter is different. */
  meters: boolean;
  /** Another session is shown, or the shown one was begun anew: everything is different. */
  everything: boolean;
}

export class Store {
  readonly sessions = new Map<string, SessionInfo>();
  private shown: Session | undefined;
  private changes = noChanges();

  /** `changed` is told that something is new; it then calls `take` when it draws. */
  constructor(private readonly changed: () => void = () => undefined) {}

  /** The session that is shown. */
  get session(): Session | undefined {
    return this.shown;
  }

  /** Shows a session with these events as its beginning; without an id, none. */
  show(id: string | undefined, events: readonly PanelEvent[] = []): void {
    this.shown = id === undefined ? undefined : new Session(id);
    if (this.shown !== undefined) {
      this.shown.info = this.sessions.get(this.shown.id);
    }
    this.changes = noChanges();
    this.changes.everything = true;
    this.apply(events);
    this.changed();
  }

  /** Replaces the list of sessions. */
  list(sessions: readonly SessionInfo[]): void {
    this.sessions.clear();
    for (const info of sessions) {
      this.sessions.set(info.id, info);
    }
    if (this.shown !== undefined) {
      this.shown.info = this.sessions.get(this.shown.id) ?? this.shown.info;
    }
    this.changes.sessions = true;
    this.changed();
  }

  apply(events: readonly PanelEvent[]): void {
    for (const event of events) {
      this.applyOne(event);
    }
    if (events.length > 0) {
      this.changed();
    }
  }

  /** What changed since the last call. */
  take(): Changes {
    const changes = this.changes;
    this.changes = noChanges();
    return changes;
  }

  private applyOne(event: PanelEvent): void {
    if (event.kind === 'session_put') {
      this.sessions.set(event.session.id, event.session);
      this.changes.sessions = true;
      if (this.shown?.id === event.session.id) {
        this.shown.info = event.session;
      }
      return;
    }
    const session = this.shown;
    if (session === undefined || session.id !== event.session) {
      return; // of a session that is not looked at: its snapshot tells when it is
    }
    switch (event.kind) {
      case 'entry_put':
        this.putEntry(session, event.node, event.entry);
        return;
      case 'entry_grew':
        if (session.conversation(event.node).grow(event)) {
          this.touch(event.node, event.entry);
        }
        return;
      case 'entries_cut':
        if (session.conversation(event.node).cut(event.first).length > 0) {
          this.changes.lists.add(event.node);
        }
        return;
      case 'node_put':
        this.putNode(session, event.node);
        return;
      case 'node_gone':
        this.changes.tree = session.nodes.delete(event.node) || this.changes.tree;
        session.conversations.delete(event.node);
        session.meters.delete(event.node);
        this.changes.nodes.add(event.node);
        return;
      case 'meter_put':
        session.meters.set(event.node, event.meter);
        this.changes.meters = true;
        return;
    }
  }

  private putEntry(session: Session, node: string, entry: PanelEntry): void {
    const conversation = session.conversation(node);
    if (conversation.get(entry.id) === undefined) {
      this.changes.lists.add(node);
    }
    conversation.put(entry);
    this.touch(node, entry.id);
  }

  private putNode(session: Session, node: NodeInfo): void {
    const known = session.nodes.get(node.id);
    this.changes.tree ||= known === undefined || known.parent !== node.parent;
    session.nodes.set(node.id, node);
    this.changes.nodes.add(node.id);
  }

  private touch(node: string, entry: string): void {
    let entries = this.changes.entries.get(node);
    if (entries === undefined) {
      entries = new Set();
      this.changes.entries.set(node, entries);
    }
    entries.add(entry);
  }
}

function noChanges(): Changes {
  return {
    entries: new Map(),
    lists: new Set(),
    nodes: new Set(),
    tree: false,
    sessions: false,
    meters: false,
    everything: false,
  };
}

/** How many code points a text has: what other languages call its length. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit < 0xdc00) {
      const next = text.charCodeAt(index + 1);
      if (next >= 0xdc00 && next < 0xe000) {
        count--;
        index++;
      }
    }
  }
  return count;
}

function firstCodePoints(text: string, count: number): string {
  let index = 0;
  for (let left = count; left > 0 && index < text.length; left--) {
    index += (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, index);
}
