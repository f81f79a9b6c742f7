/**
 * The side panel: chat with the agents, watch and steer them, see what they read, changed and cost.
 * The page is thrown away when it is hidden and fetches everything anew when it is shown; what
 * waits for the user meanwhile is counted on the icon.
 */

import {
  commands,
  type Disposable,
  env,
  l10n,
  type WebviewView,
  type WebviewViewProvider,
  window,
  workspace,
} from 'vscode';
import type { JarvisContext } from '../../context';
import { reason } from '../../log';
import type {
  Ask,
  AskAnswers,
  Entry,
  Event,
  HostTell,
  PageMessage,
  PanelStart,
  SettingsShown,
  TaskGraphEntry,
} from '../../panel-protocol';
import { PANEL_ASK, PANEL_EVENTS } from '../../protocol';
import { Changes } from './diff';
import { answer, type HostParts, isForHost } from './host';
import { Keys } from './keys';
import { pageFolder, pageHtml } from './page';
import { isAccepted, type SetupParts, setUpModel } from './set-up-model';

export const PANEL_VIEW = 'jarvisLs.panel';

export class PanelView implements WebviewViewProvider, Disposable {
  readonly changes: Changes;
  readonly keys: Keys;
  private view: WebviewView | undefined;
  /** Whether the page has spoken since it was last loaded; what it is told before waits. */
  private isListening = false;
  private waiting: HostTell[] = [];
  /** Nothing is asked of a server before it has the keys: it would refuse what it could do. */
  private keysGiven = Promise.resolve();
  private readonly asked = new Set<string>();
  private readonly working = new Set<string>();
  /** Graphs of tasks that auto mode works on. */
  private readonly running = new Set<string>();
  private readonly subscriptions: Disposable[] = [];

  constructor(private readonly context: JarvisContext) {
    this.changes = new Changes(
      (ask) => this.ask(ask),
      (ask) => this.ask(ask),
      (message) => this.tell(message),
    );
    this.keys = new Keys(
      context,
      () => this.settings(),
      async (provider, key) => provider === '' || (await isAccepted(this.setup, provider, key)),
      () => this.tell({ kind: 'refresh' }),
    );
    context.on(PANEL_EVENTS, (events) => {
      this.follow(events.events);
      if (this.isListening) {
        this.post({ kind: 'events', events });
      }
    });
    this.subscriptions.push(
      context.onLife((life) => this.lifeChanged(life)),
      workspace.onDidChangeWorkspaceFolders(() => this.tell({ kind: 'refresh' })),
    );
  }

  resolveWebviewView(view: WebviewView): void {
    const folder = pageFolder(this.context.extension.extensionUri);
    this.view = view;
    this.isListening = false;
    view.webview.options = { enableScripts: true, localResourceRoots: [folder] };
    view.webview.onDidReceiveMessage((message: PageMessage) => this.receive(message));
    view.onDidChangeVisibility(() => this.visibilityChanged());
    view.onDidDispose(() => this.disposed(view));
    this.load();
  }

  /** Shows the panel, and has the page do something once it is there. */
  async show(message?: HostTell): Promise<void> {
    if (message !== undefined) {
      this.tell(message);
    }
    await commands.executeCommand(`${PANEL_VIEW}.focus`);
  }

  /** Tells the page; when it is not there, as soon as it is. */
  tell(message: HostTell): void {
    if (this.isListening) {
      this.post(message);
    } else if (['insert', 'command', 'hunks'].includes(message.kind)) {
      this.waiting.push(message);
    }
  }

  /** Asks the server, which is waited for while it starts. */
  async ask<A extends Ask>(ask: A): Promise<AskAnswers[A['kind']]> {
    await this.context.ready();
    await this.keysGiven;
    const result: unknown = await this.context.request(PANEL_ASK, { ask: { ...ask } });
    return result as AskAnswers[A['kind']];
  }

  dispose(): void {
    this.changes.dispose();
    for (const subscription of this.subscriptions) {
      subscription.dispose();
    }
  }

  /** What the page may ask of the editor. */
  get parts(): HostParts {
    return {
      changes: this.changes,
      keys: this.keys,
      tell: (message) => this.tell(message),
      settings: () => this.settings(),
      setUpModel: (provider) => setUpModel(this.setup, provider),
      ask: (ask) => this.ask(ask),
      markdown: (session) => this.ask({ kind: 'export', session }),
    };
  }

  /** What the flow that sets up a model needs. */
  get setup(): SetupParts {
    return {
      keys: this.keys,
      ask: (ask) => this.ask(ask),
      done: async () => {
        this.tell({ kind: 'refresh' });
        await this.show({ kind: 'command', command: 'focus' });
      },
    };
  }

  private settings(): Promise<SettingsShown> {
    return this.ask({ kind: 'settings' });
  }

  private load(): void {
    if (this.view === undefined) {
      return;
    }
    const { webview } = this.view;
    const folder = pageFolder(this.context.extension.extensionUri);
    const life = this.context.serverLife;
    const start: PanelStart = { locale: env.language, life, tab: 'chat' };
    webview.html = pageHtml(webview, folder, start);
  }

  private async receive(message: PageMessage): Promise<void> {
    if (typeof message?.id !== 'number' || typeof message.ask?.kind !== 'string') {
      this.context.log.warn('Panel: a message that is none was ignored');
      return;
    }
    this.listen();
    const { id, ask } = message;
    try {
      const done = isForHost(ask) ? answer(ask, this.parts) : this.ask(ask);
      this.post({ kind: 'answered', id, answer: { ...(await done) } });
    } catch (error) {
      this.post({ kind: 'failed', id, reason: reason(error) });
    }
  }

  private listen(): void {
    if (this.isListening) {
      return;
    }
    this.isListening = true;
    for (const message of this.waiting.splice(0)) {
      this.post(message);
    }
  }

  private post(message: HostTell): void {
    void this.view?.webview.postMessage(message);
  }

  private visibilityChanged(): void {
    // A hidden page is gone; when it is shown again it is loaded anew and says so.
    this.isListening = this.isListening && this.view?.visible === true;
    this.drawBadge();
  }

  private disposed(view: WebviewView): void {
    if (this.view === view) {
      this.view = undefined;
      this.isListening = false;
    }
  }

  private lifeChanged(life: JarvisContext['serverLife']): void {
    this.asked.clear();
    this.working.clear();
    this.changes.forget();
    this.drawBadge();
    if (life === 'running') {
      this.keysGiven = this.keys
        .handOver()
        .catch((error) => this.context.log.error(`Keys were not handed over: ${reason(error)}`));
      void this.keysGiven.then(() => this.tell({ kind: 'life', life }));
      return;
    }
    this.tell({ kind: 'life', life });
  }

  /** Keeps count of what waits for the user and of what is going on. */
  private follow(events: readonly Event[]): void {
    for (const event of events) {
      if (event.kind === 'entry_put') {
        note(this.asked, `${event.session}/${event.entry.id}`, waitsForUser(event.entry));
        if (event.entry.kind === 'tasks') {
          this.followTasks(event.entry);
        }
        if (event.entry.kind === 'tool') {
          this.changes.follow(event.session, event.entry);
        }
      } else if (event.kind === 'session_put') {
        note(this.working, event.session.id, event.session.working);
      }
    }
    this.drawBadge();
  }

  /** Auto mode works on when the panel is closed; then its end is told beside it. */
  private followTasks({ id, state, tasks }: TaskGraphEntry): void {
    if (state === 'running') {
      this.running.add(id);
      return;
    }
    const isInSight = this.view?.visible === true && window.state.focused;
    if (this.running.delete(id) && state !== 'stopped' && !isInSight) {
      const done = tasks.filter((task) => task.state === 'done').length;
      const text =
        state === 'done'
          ? l10n.t('Auto mode has completed its {0} tasks.', tasks.length)
          : l10n.t('Auto mode has ended: {0} of {1} tasks are done.', done, tasks.length);
      const show = l10n.t('Show');
      const tell = state === 'done' ? window.showInformationMessage : window.showWarningMessage;
      void tell(text, show).then((answer) => (answer === show ? this.show() : undefined));
    }
  }

  private drawBadge(): void {
    void commands.executeCommand('setContext', 'jarvisLs.agentsWork', this.working.size > 0);
    if (this.view === undefined) {
      return;
    }
    const value = this.view.visible ? 0 : this.asked.size;
    const tooltip = l10n.t('Jarvis is waiting for your answer');
    this.view.badge = value > 0 ? { value, tooltip } : undefined;
  }
}

function waitsForUser(entry: Entry): boolean {
  if (entry.kind === 'tool') {
    return entry.state === 'asked';
  }
  return entry.kind === 'question' && entry.answer === undefined;
}

function note(set: Set<string>, key: string, isIn: boolean): void {
  if (isIn) {
    set.add(key);
  } else {
    set.delete(key);
  }
}
