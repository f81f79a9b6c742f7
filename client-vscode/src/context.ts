/**
 * What every feature shares: the connection to the language server and its life. The user gets a
 * server that starts by itself, comes back after a crash, and says in one sentence what to do when
 * it cannot start.
 */

import {
  type CancellationToken,
  commands,
  type Disposable,
  EventEmitter,
  type ExtensionContext,
  type LogOutputChannel,
  l10n,
  window,
} from 'vscode';
import {
  CloseAction,
  ErrorAction,
  type ErrorHandler,
  type Executable,
  LanguageClient,
  type LanguageClientOptions,
  type MessageTransports,
  RevealOutputChannelOn,
  State,
} from 'vscode-languageclient/node';
import { initializationOptions } from './config';
import type { Node } from './features/findings/tree';
import { createLog, reason, ServerOutput } from './log';
import { ServerProgress } from './progress';
import {
  type ClientRequests,
  type FindingItem,
  type Notifications,
  type Requests,
  SETTINGS_SECTION,
} from './protocol';
import { PushedDiagnostics } from './pushed';
import { NoPythonError } from './python';
import { serverCommand, UnsupportedPythonError } from './server';

/** The server as the views see it; `noPython` and `failed` end only by a restart. */
export type ServerLife = 'starting' | 'running' | 'stopped' | 'noPython' | 'failed';

/**
 * The findings a command is about, by what it was given: from the view the node that was clicked
 * and those selected (all of them when it is one of them); from elsewhere nothing, and it is about
 * the selection of the view or the finding under the cursor.
 *
 * @throws when the clicked node has gone from the view before the command ran
 */
export type ChooseFindings = (given: readonly [Node?, Node[]?]) => FindingItem[];

const LANGUAGES = ['c', 'cpp', 'rust'];
/**
 * What the links in hovers and details of findings may run: the server writes them, its texts from
 * source code are escaped.
 */
export const FINDING_COMMANDS = [
  'jarvisLs.prove',
  'jarvisLs.openCase',
  'jarvisLs.replay',
  'jarvisLs.saveTest',
  'jarvisLs.repair',
  'jarvisLs.verify',
  'jarvisLs.explainFinding',
  'jarvisLs.showPath',
];
const SCHEMES = ['file', 'untitled'];
/** A server that died this often within the window is not started again by itself. */
const CRASHES = 4;
const CRASH_WINDOW_MS = 3 * 60 * 1000;
/** A server that has not answered by then is told of; it may still be loading on a busy machine. */
const SLOW_START_MS = 30_000;
/** The library starts a server that crashed again at once; after this long it has given up. */
const RESTART_MS = 5000;

export class JarvisContext implements Disposable {
  readonly log: LogOutputChannel;
  readonly progress = new ServerProgress();
  readonly subscriptions: Disposable[] = [];
  /** The findings a command is about; set by the findings view. */
  chooseFindings: ChooseFindings = () => [];
  /** Every finding that is neither suppressed nor in the baseline; set by the findings view. */
  openFindings: () => FindingItem[] = () => [];

  private client: LeavableClient | undefined;
  private life: ServerLife = 'starting';
  private crashes: number[] = [];
  private output = new ServerOutput();
  /** Whether the present server ever answered. */
  private hasRun = false;
  /** Gives up the start that is under way. */
  private starting = new AbortController();
  private lastChange: Promise<void> = Promise.resolve();
  private readonly handlers: Array<(client: LanguageClient) => void> = [];
  private readonly lifeChanged = new EventEmitter<ServerLife>();

  /** Fires with the new state whenever the server starts, stops or fails. */
  readonly onLife = this.lifeChanged.event;

  constructor(readonly extension: ExtensionContext) {
    this.log = createLog();
    this.subscriptions.push(this.log, this.lifeChanged, this.progress);
  }

  get serverLife(): ServerLife {
    return this.life;
  }

  get serverPid(): number | undefined {
    return this.client?.serverProcess?.pid;
  }

  /** The running client, for converting protocol values; undefined when no server runs. */
  get runningClient(): LanguageClient | undefined {
    return this.client?.isRunning() ? this.client : undefined;
  }

  /** Registers a command of the extension; what it throws is shown to the user. */
  command(id: string, run: (...args: never[]) => unknown): void {
    const guarded = async (...args: never[]) => {
      try {
        return await run(...args);
      } catch (error) {
        this.log.error(`${id}: ${reason(error)}`);
        void this.tell(reason(error));
        return undefined;
      }
    };
    this.subscriptions.push(commands.registerCommand(id, guarded));
  }

  /** Receives a notification from every server that runs from now on. */
  on<M extends keyof Notifications>(method: M, handle: (params: Notifications[M]) => void): void {
    this.handlers.push((client) => {
      client.onNotification(method, handle);
    });
  }

  /** Answers a request of every server that runs from now on. */
  answer<M extends keyof ClientRequests>(
    method: M,
    handle: (params: ClientRequests[M]['params']) => Promise<ClientRequests[M]['result']>,
  ): void {
    this.handlers.push((client) => {
      client.onRequest(method, handle);
    });
  }

  /**
   * Sends a request to the server.
   *
   * @throws when no server runs, or with the server's own message.
   */
  async request<M extends keyof Requests>(
    method: M,
    params: Requests[M]['params'],
    token?: CancellationToken,
  ): Promise<Requests[M]['result']> {
    const client = this.runningClient;
    if (client === undefined) {
      throw new Error(l10n.t('The Jarvis language server is not running.'));
    }
    // An argument that is undefined would count as a second parameter.
    return token === undefined
      ? client.sendRequest<Requests[M]['result']>(method, params)
      : client.sendRequest<Requests[M]['result']>(method, params, token);
  }

  /** Resolves once the server answers; rejects when it cannot start. */
  async ready(): Promise<void> {
    await this.lastChange;
    while (this.life === 'starting') {
      await this.nextLife(); // after a crash it starts by itself
    }
    if (this.life !== 'running') {
      throw new Error(l10n.t('The Jarvis language server is not running.'));
    }
  }

  /** Starts the server. Never rejects: a failure is logged, shown, and visible in the views. */
  start(): Promise<void> {
    return this.change(() => this.launch());
  }

  /** Stops the server, if there is one, and starts a new one; one that hangs is not waited for. */
  restart(): Promise<void> {
    this.starting.abort();
    return this.change(async () => {
      this.crashes = [];
      await this.halt();
      await this.launch();
    });
  }

  dispose(): void {
    this.starting.abort();
    void this.change(() => this.halt()).finally(() => {
      for (const subscription of this.subscriptions.reverse()) {
        subscription.dispose();
      }
    });
  }

  /** One start or stop after the other. */
  private change(step: () => Promise<void>): Promise<void> {
    this.lastChange = this.lastChange.then(step);
    return this.lastChange;
  }

  private async launch(): Promise<void> {
    const given = new AbortController();
    this.starting = given;
    this.setLife('starting');
    this.output = new ServerOutput();
    this.hasRun = false;
    const slow = setTimeout(() => this.tellSlow(), SLOW_START_MS);
    try {
      const command = await serverCommand(this.extension.extensionPath, this.log);
      given.signal.throwIfAborted();
      await this.run(command, given.signal);
    } catch (error) {
      if (given.signal.aborted) {
        this.client = undefined;
        this.log.warn('The start was given up for another one');
      } else {
        await this.startFailed(error);
      }
    } finally {
      clearTimeout(slow);
    }
  }

  /** Runs a server until it answers; rejects when it ends before, or is given up. */
  private async run(command: Executable, given: AbortSignal): Promise<void> {
    this.log.info(`Starting ${[command.command, ...(command.args ?? [])].join(' ')}`);
    const client: LeavableClient = new LeavableClient(
      SETTINGS_SECTION,
      'Jarvis',
      command,
      this.options(() => client === this.client),
    );
    client.registerFeature(new PushedDiagnostics());
    client.onDidChangeState(({ newState }) => this.followState(client, newState));
    this.client = client;
    for (const handle of this.handlers) {
      handle(client);
    }
    given.addEventListener('abort', () => client.leave());
    await client.start();
  }

  private async halt(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client === undefined) {
      return;
    }
    client.leave();
    // A server that is busy or dead does not answer the farewell; it is ended all the same.
    await client.dispose().catch((error) => this.log.warn(`Stopping: ${reason(error)}`));
    this.setLife('stopped');
  }

  /** @param isPresent whether the client these are for is the one in use */
  private options(isPresent: () => boolean): LanguageClientOptions {
    return {
      documentSelector: SCHEMES.flatMap((scheme) =>
        LANGUAGES.map((language) => ({ scheme, language })),
      ),
      initializationOptions,
      outputChannel: this.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      stdioOptions: this.output.options,
      errorHandler: this.errorHandler(isPresent),
      initializationFailedHandler: () => false,
      markdown: { isTrusted: { enabledCommands: FINDING_COMMANDS } },
      middleware: { handleWorkDoneProgress: this.progress.handle },
    };
  }

  private errorHandler(isPresent: () => boolean): ErrorHandler {
    return {
      error: (error) => {
        this.log.warn(`Connection: ${error.message}`);
        return { action: ErrorAction.Continue, handled: true };
      },
      closed: () => {
        if (!this.hasRun || !isPresent()) {
          // It ended while starting: the start fails and says why; trying again would not help.
          // Or another one has taken its place.
          return { action: CloseAction.DoNotRestart, handled: true };
        }
        const now = Date.now();
        this.crashes = [...this.crashes.filter((time) => now - time < CRASH_WINDOW_MS), now];
        if (this.crashes.length <= CRASHES) {
          this.log.warn(
            `The server ended unexpectedly (${this.crashes.length}); starting it again`,
          );
          return { action: CloseAction.Restart, handled: true };
        }
        this.setLife('failed');
        void this.tell(
          l10n.t('The Jarvis language server crashed repeatedly and was not restarted.'),
        );
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    };
  }

  private followState(client: LanguageClient, state: State): void {
    if (client !== this.client) {
      return;
    }
    if (state === State.Running) {
      this.log.info(`Server started, process ${this.serverPid}`);
      this.hasRun = true;
      this.setLife('running');
      return;
    }
    this.progress.endAll();
    if (state === State.Starting && this.life !== 'failed') {
      this.setLife('starting');
    }
    if (state === State.StartFailed && this.hasRun) {
      setTimeout(() => this.followFailure(client), RESTART_MS);
    }
  }

  /** After a crash the library starts the server again; where even that fails nobody else says so. */
  private followFailure(client: LanguageClient): void {
    if (client === this.client && client.state === State.StartFailed && this.life === 'starting') {
      this.setLife('failed');
      void this.tell(
        l10n.t('The Jarvis language server crashed repeatedly and was not restarted.'),
      );
    }
  }

  private async startFailed(error: unknown): Promise<void> {
    this.client = undefined;
    this.log.error(`The server did not start: ${reason(error)}`);
    if (error instanceof NoPythonError || error instanceof UnsupportedPythonError) {
      this.setLife('noPython');
      void this.tell(`${error.message} ${l10n.t('Set "{0}" to one.', 'jarvisLs.interpreter')}`);
      return;
    }
    const why = (await this.output.lastWord()) || reason(error);
    this.setLife('failed');
    void this.tell(l10n.t('The Jarvis language server did not start: {0}', why));
  }

  private nextLife(): Promise<void> {
    return new Promise((resolve) => {
      const heard = this.onLife(() => {
        heard.dispose();
        resolve();
      });
    });
  }

  private setLife(life: ServerLife): void {
    if (life === this.life) {
      return;
    }
    this.life = life;
    void commands.executeCommand('setContext', 'jarvisLs.server', life);
    this.lifeChanged.fire(life);
  }

  /** Says that the server takes long to answer, and offers to start another. */
  private async tellSlow(): Promise<void> {
    const restart = l10n.t('Restart Server');
    const output = l10n.t('Show Output');
    const seconds = SLOW_START_MS / 1000;
    this.log.warn(`The server has not answered for ${seconds} seconds`);
    const answer = await window.showWarningMessage(
      l10n.t('The Jarvis language server has not answered for {0} seconds.', seconds),
      restart,
      output,
    );
    if (answer === restart) {
      await this.restart();
    } else if (answer === output) {
      this.log.show();
    }
  }

  /** An error with the ways out of it. */
  private async tell(message: string): Promise<void> {
    const restart = l10n.t('Restart Server');
    const output = l10n.t('Show Output');
    const choose = l10n.t('Choose Interpreter');
    const down = this.life === 'failed' || this.life === 'noPython';
    const ways =
      this.life === 'noPython' ? [choose, restart, output] : down ? [restart, output] : [output];
    const answer = await window.showErrorMessage(message, ...ways);
    if (answer === restart) {
      await this.restart();
    } else if (answer === output) {
      this.log.show();
    } else if (answer === choose) {
      await commands.executeCommand('jarvisLs.chooseInterpreter');
    }
  }
}

/** A client whose server can be left while it starts, even before its process is there. */
class LeavableClient extends LanguageClient {
  private isLeft = false;

  /** Ends a server that has not answered yet, or again: it cannot be asked to leave. */
  leave(): void {
    if (!this.isRunning()) {
      this.isLeft = true;
      this.serverProcess?.kill('SIGKILL');
    }
  }

  protected override async createMessageTransports(encoding: string): Promise<MessageTransports> {
    const transports = await super.createMessageTransports(encoding);
    if (this.isLeft) {
      this.serverProcess?.kill('SIGKILL');
    }
    return transports;
  }
}
