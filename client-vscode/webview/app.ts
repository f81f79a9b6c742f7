/** The whole page: tabs, the connection to the server, what is kept, keys. */

import { AgentsView } from './agents';
import { Announcer } from './announce';
import { type AnswerTo, Bridge, type Told } from './bridge';
import { ChatView } from './chat/view';
import { ExplorerView } from './explorer';
import { onceAFrame, whenQuiet } from './frames';
import { type Kept, restore } from './kept';
import { MemoryView } from './memory';
import type { Page, View } from './page';
import { SettingsView } from './settings';
import { type Changes, Store } from './store';
import { t } from './strings';
import { Tabs } from './tabs';
import { Toast } from './toast';
import type {
  ModelState,
  PageAsk,
  PanelEvents,
  PanelStart,
  PanelTab,
  Picture,
  ServerLife,
} from './wire';

const KEPT_MS = 150;

export class App implements Page {
  readonly bridge: Bridge;
  readonly store: Store;
  readonly kept: Kept;
  readonly announcer = new Announcer();
  picture: Picture | undefined;
  models: ModelState | undefined;
  private life: ServerLife;
  private readonly toast = new Toast();
  private readonly tabs: Tabs;
  private readonly chat: ChatView;
  private readonly views: Record<PanelTab, View>;
  private readonly stale = new Set<PanelTab>();
  private readonly keep = whenQuiet(() => this.bridge.keep(this.kept), KEPT_MS);
  /** Batches that came while a picture was asked for; undefined when none is. */
  private early: PanelEvents[] | undefined;
  private seq = 0;
  private attaching = 0;

  constructor(root: HTMLElement, start: PanelStart) {
    this.life = start.life ?? 'starting';
    const draw = onceAFrame(() => this.draw());
    this.store = new Store(draw);
    this.bridge = new Bridge((told) => this.told(told));
    this.kept = restore(this.bridge.kept);
    this.chat = new ChatView(this, () => this.life);
    const agents = new AgentsView(this);
    const explorer = new ExplorerView(this);
    const memory = new MemoryView(this);
    const settings = new SettingsView(this);
    this.views = { chat: this.chat, agents, explorer, memory, settings };
    this.tabs = new Tabs(
      {
        chat: this.chat.element,
        agents: agents.element,
        explorer: explorer.element,
        memory: memory.element,
        settings: settings.element,
      },
      (tab) => this.tabShown(tab),
    );
    root.append(this.tabs.element, this.toast.element);
    this.tabs.show(this.kept.tab in this.views ? this.kept.tab : start.tab);
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'hidden') {
        this.bridge.keep(this.kept);
      }
    });
  }

  /** The node whose conversation is shown. */
  get node(): string {
    const { session } = this.store;
    const { node } = this.kept;
    return session?.nodes.has(node) ? node : (session?.root?.id ?? this.onlyNode());
  }

  async begin(): Promise<void> {
    this.chat.drawRest();
    // Asked in any case: an ask tells the extension that the page is there, and waits for the server.
    await this.attach(this.kept.session);
  }

  async ask<A extends PageAsk>(ask: A): Promise<AnswerTo<A> | undefined> {
    try {
      return await this.bridge.ask(ask);
    } catch (error) {
      this.tell(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  async confirm(text: string, action: string): Promise<boolean> {
    const answer = await this.ask({ kind: 'confirm', text, action });
    return answer?.yes ?? false;
  }

  /** Shows a session: one by its id, `new` for a new one, empty for the one shown last. */
  async attach(session: string): Promise<void> {
    this.attaching += 1;
    const number = this.attaching;
    this.early ??= [];
    const picture = await this.bridge
      .ask(session === 'new' ? { kind: 'new_session' } : { kind: 'attach', session })
      .catch((error: Error) => {
        // While there is no server, a line above the conversation says so already.
        if (this.life === 'running') {
          this.tell(error.message);
        }
        return undefined;
      });
    if (number !== this.attaching) {
      return; // another session was chosen meanwhile
    }
    const early = this.early ?? [];
    this.early = undefined;
    if (picture === undefined) {
      for (const events of early) {
        this.take(events);
      }
      this.sendWaiting();
      return;
    }
    this.show(picture);
    for (const events of early) {
      this.take(events);
    }
    this.sendWaiting();
  }

  look(node: string): void {
    this.kept.node = node;
    delete this.kept.place;
    this.showTab('chat');
    this.chat.draw();
    this.remember();
  }

  showTab(tab: PanelTab): void {
    this.tabs.show(tab);
  }

  follow(href: string): void {
    if (/^https?:\/\//i.test(href)) {
      void this.ask({ kind: 'open_link', url: href });
      return;
    }
    const place = placeOf(href);
    if (place !== undefined) {
      void this.ask({ kind: 'open_file', ...place });
    } else {
      this.tell(t('link.refused', { href }));
    }
  }

  remember(): void {
    this.keep();
  }

  tell(text: string, undo?: { label: string; run: () => void }): void {
    this.toast.show(text, undo);
  }

  private onlyNode(): string {
    const [first] = this.store.session?.conversations.keys() ?? [];
    return first ?? '';
  }

  private told(told: Told): void {
    switch (told.kind) {
      case 'events':
        this.take(told.events);
        return;
      case 'life':
        this.lifeChanged(told.life);
        return;
      case 'refresh':
        void this.attach(this.kept.session);
        return;
      case 'insert':
        this.showTab('chat');
        this.chat.composer.insert(told.text, told.attachments);
        return;
      case 'command':
        this.command(told.command);
        return;
      case 'hunks':
        this.chat.choose(told.entry, told.accepted);
        return;
    }
  }

  private command(command: 'focus' | 'newSession' | 'stop' | 'sessions'): void {
    this.showTab('chat');
    if (command === 'focus') {
      this.chat.composer.focus();
    } else if (command === 'newSession') {
      void this.chat.begin();
    } else if (command === 'stop') {
      this.chat.stop();
    } else {
      this.chat.toggleSessions();
    }
  }

  /** What was said while the server started goes to the session that is shown now. */
  private sendWaiting(): void {
    if (this.life === 'running') {
      void this.chat.composer.flush();
    }
  }

  private lifeChanged(life: ServerLife): void {
    const cameBack = life === 'running' && this.life !== 'running';
    this.life = life;
    this.chat.drawRest();
    if (life === 'failed' || life === 'noPython') {
      this.chat.composer.giveBack();
    }
    if (cameBack && this.early === undefined) {
      void this.attach(this.kept.session);
    }
  }

  private take(batch: PanelEvents): void {
    if (this.early !== undefined) {
      this.early.push(batch);
      return;
    }
    if (batch.seq <= this.seq) {
      return; // in the picture already
    }
    if (this.seq > 0 && batch.seq > this.seq + 1) {
      void this.attach(this.kept.session); // some were lost
      return;
    }
    this.seq = batch.seq;
    this.store.apply(batch.events);
  }

  private show(picture: Picture): void {
    const isAnother = picture.session !== this.kept.session;
    this.picture = picture;
    this.models = picture.models;
    this.seq = picture.seq;
    this.life = 'running';
    this.kept.session = picture.session;
    if (isAnother) {
      this.kept.node = '';
      delete this.kept.place;
    }
    this.store.list(picture.sessions);
    this.store.show(picture.session === '' ? undefined : picture.session, picture.events);
    this.remember();
  }

  private tabShown(tab: PanelTab): void {
    this.kept.tab = tab;
    this.remember();
    if (this.stale.delete(tab) || tab !== 'chat') {
      this.views[tab].draw();
    }
  }

  private draw(): void {
    const changes: Changes = this.store.take();
    // The conversation is always up to date: what waits for the user is announced from any tab.
    this.chat.draw(changes);
    for (const tab of Object.keys(this.views) as PanelTab[]) {
      if (tab === 'chat') {
        continue;
      }
      if (tab === this.tabs.shown) {
        this.views[tab].draw(changes);
      } else {
        this.stale.add(tab);
      }
    }
    this.tabs.mark('agents', this.workingAgents());
  }

  /** How many agents below the root are at work. */
  private workingAgents(): number {
    let count = 0;
    for (const node of this.store.session?.nodes.values() ?? []) {
      count += node.parent !== undefined && node.state === 'running' ? 1 : 0;
    }
    return count;
  }
}

/** A path and perhaps a line: `src/a.c`, `src/a.c:12`, `src/a.c#L12`, `file:///…` as it was said. */
export function placeOf(href: string): { path: string; line: number } | undefined {
  const match = /^(?:file:\/\/)?([^?#]*?)(?:(?::|#L)(\d+)(?:[-:].*)?)?$/.exec(href);
  const path = decode(match?.[1] ?? '').replace(/^\.\//, '');
  if (path === '' || /^[a-z][a-z0-9+.-]+:/i.test(path)) {
    return undefined;
  }
  return { path, line: Number(match?.[2] ?? 0) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a path may hold a percent sign
  }
}
