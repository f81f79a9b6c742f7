// Generated from server/jarvis_ls/lsp/protocol/panel.py; do not edit.
// Regenerate it with `python -m jarvis_ls.lsp.protocol.typescript`.

export type NodeState = 'created' | 'running' | 'paused' | 'completed' | 'failed' | 'cancelled';
export type NodeKind = 'root' | 'child' | 'act';
export type ToolState = 'asked' | 'running' | 'done' | 'failed' | 'denied' | 'cancelled';
export type Level = 'info' | 'warning' | 'error';
export type ModelWrong = '' | 'none' | 'key' | 'credit' | 'model' | 'address' | 'busy' | 'other';
export type Grown = 'text' | 'thinking' | 'output';
export type StepState = 'pending' | 'active' | 'done' | 'dropped';
export type TaskState = 'waiting' | 'running' | 'done' | 'failed' | 'skipped' | 'cancelled';
export type TaskGraphState = 'running' | 'done' | 'failed' | 'stopped';
export type FaultCause = 'timeout' | 'stuck' | 'errors' | 'failed';
export type CorrectionKind = 'wait' | 'redirect' | 'adjust' | 'restart' | 'retry' | 'give_up';
export type Mode = 'ask' | 'edits' | 'plan';
export type Control = 'pause' | 'resume' | 'cancel' | 'retry';
export type GrantScope = 'call' | 'session' | 'workspace' | 'user';
export type RewindWhat = 'files' | 'conversation' | 'both';
export type Side = 'before' | 'after';
export type MemoryKind = 'short_term' | 'project' | 'global';
export type CompletionKind = 'file' | 'folder' | 'command' | 'skill' | 'rule' | 'finding';
export type AttachmentKind = 'file' | 'selection' | 'diagnostics';
export type FileChange = 'none' | 'create' | 'modify' | 'delete';
export type ServerLife = 'starting' | 'running' | 'stopped' | 'noPython' | 'failed';
export type PanelTab = 'chat' | 'agents' | 'explorer' | 'memory' | 'settings';
export type PageCommand = 'focus' | 'newSession' | 'stop' | 'sessions';

/** A picture for models that see. */
export interface Image {
  /** Such as `image/png`. */
  mediaType: string;
  /** The picture's bytes. */
  base64: string;
}

/** Tokens and cost of one call as the provider reported them; sums add up. */
export interface Usage {
  /** Tokens of the prompt, cached ones included. */
  input: number;
  /** Tokens of the answer, reasoning included. */
  output: number;
  /** Tokens of the prompt read from the provider's cache. */
  cached: number;
  /** Tokens of the answer spent on reasoning. */
  reasoning: number;
  /** In the currency of the configured prices; 0 when no price is known. */
  cost: number;
}

/** One place where a proposed edit changes a file. */
export interface Hunk {
  /** From 0, in the order of the file. */
  index: number;
  /** First line before, from 1. */
  oldStart: number;
  /** Lines that go, without line ends. */
  oldLines: string[];
  /** First line after, from 1. */
  newStart: number;
  /** Lines that come, without line ends. */
  newLines: string[];
  /** Lines of context above. */
  before: string[];
  /** Lines of context below. */
  after: string[];
}

/** A change of one file that no one has written yet. */
export interface ProposedEdit {
  /** From the root it is in, with forward slashes. */
  path: string;
  change: 'create' | 'modify' | 'delete';
  hunks: Hunk[];
  /** Which of the workspace's folders. */
  root: number;
}

/** One thing a tool wants to do that needs consent. */
export interface AskedTarget {
  kind: 'read' | 'write' | 'execute' | 'connect';
  /** Made visible: no character of it is invisible or changes direction. */
  target: string;
}

/** What the user said. */
export interface UserEntry {
  id: string;
  text: string;
  images: Image[];
  /** Not yet read by the agent, which is still busy. */
  queued: boolean;
  /** Files as they were before this turn can be brought back by this id; empty without. */
  checkpoint: string;
  kind: 'user';
}

/** What the model said in one answer. */
export interface AnswerEntry {
  id: string;
  text: string;
  thinking: string;
  streaming: boolean;
  /** `provider/model`. */
  model: string;
  usage: Usage;
  kind: 'answer';
}

/** A script that a tool runs, where, and what it can reach. */
export interface ScriptRun {
  /** Program that runs it: bash, python3, … */
  language: string;
  /** Made visible: no character of it is invisible or changes direction. */
  text: string;
  /** Workspace folder it runs in, on a copy. */
  folder: string;
  /** Whether it can use the network. */
  network: boolean;
  /** Rung of the sandbox; `none` without one, empty when it is not known. */
  isolation: string;
}

/** One tool call, from its wish to its result. */
export interface ToolEntry {
  /** Unique in the session; not the provider's id. */
  id: string;
  name: string;
  /** As JSON, indented, made visible; cut when long. */
  arguments: string;
  state: ToolState;
  output: string;
  /** It worked; the time it waited for the user's consent does not count. */
  seconds: number;
  /** What needs consent while the state is `asked`. */
  asked: AskedTarget[];
  /** Why it is asked, or why it was refused. */
  reason: string;
  /** Files it wants to change, or has changed. */
  edits: ProposedEdit[];
  /** Rung of the sandbox it ran on. */
  isolation: string;
  /** Id of the node it created. */
  child: string;
  /** Whether consent can hold for later calls too. */
  lasting: boolean;
  /** What it runs, when it runs a script. */
  script?: ScriptRun;
  /** Name of the script in the background that it started, and whose state it shows. */
  background: string;
  kind: 'tool';
}

/** Something the runtime says: a wait, a retry, a summary, a budget, an error. */
export interface NoticeEntry {
  id: string;
  level: Level;
  text: string;
  /** What a person has to see to, when a model could not be asked or did not answer. */
  wrong: ModelWrong;
  /** Whose model that is, as it is named in settings; empty when there is none. */
  provider: string;
  kind: 'notice';
}

/** One step of a plan. */
export interface PlanStep {
  text: string;
  state: StepState;
}

/** The agent's plan, kept up to date. */
export interface PlanEntry {
  id: string;
  steps: PlanStep[];
  kind: 'plan';
}

/** A question to the user that is no permission: what next, yes or no, a text. */
export interface QuestionEntry {
  id: string;
  text: string;
  /** Answers offered; empty means free text. */
  choices: string[];
  /** None while it waits. */
  answer?: string;
  kind: 'question';
}

/** What was done about a task that did not go as it should. */
export interface Correction {
  cause: FaultCause;
  kind: CorrectionKind;
  /** Why, or what the agent was told. */
  text: string;
}

/** One task of a graph. */
export interface TaskShown {
  id: string;
  title: string;
  /** Ids of the tasks that are done before it. */
  needs: string[];
  state: TaskState;
  /** Id of the agent that works on it; empty before it begins. */
  node: string;
  attempts: number;
  corrections: Correction[];
  /** Why it is not done, in words for the user. */
  error: string;
}

/** The tasks of auto mode, each of which comes after those that it needs. */
export interface TaskGraphEntry {
  id: string;
  tasks: TaskShown[];
  state: TaskGraphState;
  kind: 'tasks';
}

/** What a node and all below it may spend; None means no limit. */
export interface Budget {
  /** Input and output together. */
  tokens?: number;
  /** In the currency of the configured prices. */
  cost?: number;
}

/** One agent of the tree. */
export interface NodeInfo {
  id: string;
  parent?: string;
  kind: NodeKind;
  title: string;
  state: NodeState;
  /** What it does right now, in a few words. */
  activity: string;
  /** Model group. */
  group: string;
  rounds: number;
  /** 0 to 1, when it is known. */
  progress?: number;
  /** Of this node alone. */
  usage: Usage;
  /** Of this node and all below it. */
  subtree: Usage;
  budget: Budget;
  /** Why it failed, in words for the user. */
  error: string;
}

/** One session as lists show it. */
export interface SessionInfo {
  /** UUIDv7. */
  id: string;
  title: string;
  /** First folder of the workspace. */
  folder: string;
  /** Seconds since 1970. */
  created: number;
  /** Seconds since 1970. */
  updated: number;
  /** Of all its nodes. */
  usage: Usage;
  messages: number;
  working: boolean;
  /** How much its agents may do without being asked. */
  mode: Mode;
  /** Whether its agents change a copy of the user's files, and the user decides on the whole. */
  inCopy: boolean;
}

/** How full a node's context is. */
export interface Meter {
  /** Tokens the model takes. */
  window: number;
  /** Tokens by category: system, rules, tools, memory, files, history. */
  parts: Record<string, number>;
}

/** An entry is new, or is now this. */
export interface EntryPut {
  session: string;
  node: string;
  entry: Entry;
  kind: 'entry_put';
}

/** Text was added to an entry. */
export interface EntryGrew {
  session: string;
  node: string;
  /** Its id. */
  entry: string;
  part: Grown;
  /** Length of the part before, in code points. */
  at: number;
  text: string;
  kind: 'entry_grew';
}

/** Entries from this one on are gone: the conversation was rewound. */
export interface EntriesCut {
  session: string;
  node: string;
  /** Id of the first that is gone. */
  first: string;
  kind: 'entries_cut';
}

/** A node is new, or is now this. */
export interface NodePut {
  session: string;
  node: NodeInfo;
  kind: 'node_put';
}

/** A node was removed from the tree. */
export interface NodeGone {
  session: string;
  node: string;
  kind: 'node_gone';
}

/** A session is new, or is now this. */
export interface SessionPut {
  session: SessionInfo;
  kind: 'session_put';
}

/** How full a node's context is now. */
export interface MeterPut {
  session: string;
  node: string;
  meter: Meter;
  kind: 'meter_put';
}

/** Something of the workspace that goes along with a message. */
export interface Attachment {
  kind: AttachmentKind;
  /** From the root it is in, with forward slashes. */
  path: string;
  /** Which of the workspace's folders. */
  root?: number;
  /** First line of a selection, from 1; 0 means the whole file. */
  startLine?: number;
  /** Last line of a selection; 0 means the whole file. */
  endLine?: number;
  /** What was selected, or the problems reported for the file; a file is read when it is sent. */
  text?: string;
}

/** Begin, come back after a restart, or look at another session. */
export interface AttachAsk {
  session?: string;
  kind: 'attach';
}

/** Begin a session; it is kept from its first message on. */
export interface NewSessionAsk {
  kind: 'new_session';
}

/** Say something; while the agent works it is queued, and read before its next answer. */
export interface SendAsk {
  session: string;
  text: string;
  /** Whom; empty means the root. */
  node?: string;
  images?: Image[];
  attachments?: Attachment[];
  kind: 'send';
}

/** End what is going on, at once. */
export interface StopAsk {
  session: string;
  /** This agent and all below it; empty means everything. */
  node?: string;
  kind: 'stop';
}

/** End a script in the background. */
export interface EndScriptAsk {
  session: string;
  /** The `ToolEntry` that shows it. */
  entry: string;
  kind: 'end_script';
}

/** Pause, resume, cancel or retry an agent and all below it. */
export interface ControlAsk {
  session: string;
  node: string;
  action: Control;
  kind: 'control';
}

/** Give an agent another direction; it keeps what it knows. */
export interface RedirectAsk {
  session: string;
  node: string;
  text: string;
  kind: 'redirect';
}

/** Set what an agent and all below it may spend; what is left out has no limit. */
export interface BudgetAsk {
  session: string;
  node: string;
  tokens?: number;
  cost?: number;
  kind: 'budget';
}

/** Answer a `ToolEntry` that is `asked`. */
export interface PermitAsk {
  session: string;
  entry: string;
  allowed: boolean;
  /** How long it holds. */
  scope?: GrantScope;
  /** What to tell the model. */
  note?: string;
  kind: 'permit';
}

/** Answer a `ToolEntry` that is `asked` and has edits. */
export interface ReviewAsk {
  session: string;
  entry: string;
  /** Indices of accepted hunks by path; a path that is missing is refused as a whole. */
  accepted: Record<string, number[]>;
  /** How long the files may be written without being shown again. */
  scope?: GrantScope;
  /** What to tell the model. */
  note?: string;
  kind: 'review';
}

/** Answer a `QuestionEntry`. */
export interface AnswerAsk {
  session: string;
  entry: string;
  text: string;
  kind: 'answer';
}

/** Go back to before a `UserEntry`. */
export interface RewindAsk {
  session: string;
  entry: string;
  what: RewindWhat;
  /** Only these files, from the root they are in; empty means all. For `files` alone. */
  paths?: string[];
  /** Which of the workspace's folders `paths` are in. */
  root?: number;
  kind: 'rewind';
}

/** Begin a new session with what was said before an entry. */
export interface ForkAsk {
  session: string;
  entry: string;
  kind: 'fork';
}

/** List sessions, the latest first; with words, those that hold them. */
export interface SessionsAsk {
  query?: string;
  offset?: number;
  limit?: number;
  kind: 'sessions';
}

/** Give a session a title. */
export interface RenameAsk {
  session: string;
  title: string;
  kind: 'rename';
}

/** Delete a session for good. */
export interface DeleteAsk {
  session: string;
  kind: 'delete';
}

/** A session as Markdown. */
export interface ExportAsk {
  session: string;
  kind: 'export';
}

/** What can follow `@` or `/` in the input. */
export interface CompleteAsk {
  trigger: '@' | '/';
  /** What is behind the trigger. */
  text: string;
  kind: 'complete';
}

/** The model groups, and which of them can be used. */
export interface ModelsAsk {
  session?: string;
  kind: 'models';
}

/** Use a group (or one `provider/model`) for an agent from its next call on. */
export interface PickModelAsk {
  session: string;
  group: string;
  /** Which agent; empty means the root, and sessions begun later. */
  node?: string;
  kind: 'pick_model';
}

/** Choose how much the agents of a session may do without being asked. */
export interface SetModeAsk {
  session: string;
  mode: Mode;
  kind: 'set_mode';
}

/** List memories, the latest first; with words, those that hold them. */
export interface MemoriesAsk {
  query?: string;
  /** Whose short-term memories are listed too. */
  session?: string;
  kind: 'memories';
}

/** Write a memory: a new one without an id. */
export interface SaveMemoryAsk {
  memory: MemoryKind;
  content: string;
  tags?: string[];
  id?: string;
  session?: string;
  kind: 'save_memory';
}

/** Delete a memory. */
export interface DeleteMemoryAsk {
  memory: MemoryKind;
  id: string;
  session?: string;
  kind: 'delete_memory';
}

/** What the agents of a session read and changed. */
export interface ExplorerAsk {
  session: string;
  kind: 'explorer';
}

/** What differs between a checkpoint and the files as they are. */
export interface ChangesAsk {
  session: string;
  checkpoint: string;
  kind: 'changes';
}

/** A file as it is before or after the edits of a `ToolEntry`, for a diff. */
export interface SideAsk {
  session: string;
  entry: string;
  path: string;
  side: Side;
  root?: number;
  kind: 'side';
}

/** What is configured, and where. */
export interface SettingsAsk {
  kind: 'settings';
}

/** It was done. */
export type Done = Record<string, never>;

/** One model group. */
export interface ModelChoice {
  name: string;
  /** `provider/model` names, in order of preference. */
  models: string[];
  /** Whether a key is there for at least one of them. */
  ready: boolean;
}

/** Which models there are. */
export interface ModelState {
  /** Whether the chosen group can be asked. */
  ready: boolean;
  /** The group in use. */
  current: string;
  choices: ModelChoice[];
  /** When nothing can be asked: what to set, in the user's language. */
  advice: string;
}

/** One command of the input line. */
export interface CommandItem {
  /** With its slash. */
  name: string;
  /** What it does, in the user's language. */
  title: string;
  /** What it takes, such as `RULE`. */
  argument: string;
  needsModel: boolean;
}

/** Something to begin with: a click puts it into the input line. */
export interface Suggestion {
  /** What it is about, in the user's language. */
  title: string;
  /** What is put into the input line. */
  text: string;
}

/** Everything the panel shows at first; later events add to it. */
export interface Picture {
  /** Batches of events with a number up to this are in the picture already. */
  seq: number;
  /** The session shown; empty when it has not begun. */
  session: string;
  /** What there is to say of the session shown. */
  events: Event[];
  /** The latest ones. */
  sessions: SessionInfo[];
  models: ModelState;
  commands: CommandItem[];
  /** From the findings at hand, the gravest first; none without a model. */
  suggestions: Suggestion[];
  /** Names of the workspace's folders. */
  folders: string[];
  /** In a workspace that is not trusted nothing is written or run. */
  trusted: boolean;
  /** `en` or `zh-cn`. */
  locale: string;
}

/** The session to show from now on. */
export interface Opened {
  session: string;
}

/** What was brought back. */
export interface Rewound {
  /** What the user had said there, to be said again or changed. */
  text: string;
  /** Files that were brought back. */
  files: string[];
  /** Files that were not, because they were changed by someone else. */
  kept: string[];
}

/** Some of the sessions. */
export interface SessionList {
  sessions: SessionInfo[];
  /** How many match. */
  total: number;
}

/** A session as a file to save. */
export interface Exported {
  /** Name for the file. */
  name: string;
  markdown: string;
}

/** One thing that can follow. */
export interface Completion {
  kind: CompletionKind;
  label: string;
  /** What replaces the trigger and the text behind it. */
  insert: string;
  detail: string;
}

/** What can follow, the likeliest first. */
export interface Completions {
  items: Completion[];
}

/** One memory. */
export interface MemoryItem {
  memory: MemoryKind;
  id: string;
  content: string;
  tags: string[];
  /** Seconds since 1970. */
  updated: number;
  /** The file it is in; empty for short-term ones. */
  path: string;
}

/** Memories that match. */
export interface MemoryList {
  items: MemoryItem[];
}

/** One file the agents touched. */
export interface ExplorerFile {
  path: string;
  root: number;
  /** How often it was read. */
  read: number;
  change: FileChange;
  /** Lines added in all. */
  added: number;
  /** Lines removed in all. */
  removed: number;
  /** Ids of the agents. */
  nodes: string[];
  /** Ids of the tool entries that changed it, in order. */
  entries: string[];
}

/** The files as they were before a turn. */
export interface CheckpointItem {
  id: string;
  /** The `UserEntry` the turn begins with. */
  entry: string;
  title: string;
  /** Seconds since 1970. */
  time: number;
}

/** What the agents of a session read and changed. */
export interface Explored {
  files: ExplorerFile[];
  checkpoints: CheckpointItem[];
}

/** What differs. */
export interface Changes {
  edits: ProposedEdit[];
}

/** A file's text. */
export interface FileText {
  text: string;
  exists: boolean;
}

/** Where models are served. */
export interface ProviderItem {
  name: string;
  type: string;
  /** Base URL; empty means the platform's own. */
  base: string;
  /** Environment variables that hold keys. */
  variables: string[];
  /** Whether a key is set, or none is needed. */
  ready: boolean;
}

/** One thing that is configured. */
export interface SettingLine {
  name: string;
  value: string;
  detail: string;
  level: Level;
}

/** Things that belong together: tools, permissions, skills, servers, rules. */
export interface SettingGroup {
  /** In the user's language. */
  title: string;
  lines: SettingLine[];
}

/** What is configured, and where. */
export interface SettingsShown {
  /** The settings file. */
  file: string;
  /** What a new settings file says. */
  template: string;
  /** File with the JSON schema of the settings, which is laid beside them. */
  schema: string;
  providers: ProviderItem[];
  groups: SettingGroup[];
}

/** What happened since the batch before: at most 60 batches a second. */
export interface PanelEvents {
  /** Number of the batch; each is one more than the one before. */
  seq: number;
  events: Event[];
}

/** Show a file of the workspace in the editor. */
export interface OpenFileAsk {
  path: string;
  root?: number;
  /** From 1; 0 means wherever the cursor was. */
  line?: number;
  kind: 'open_file';
}

/** Show what a `ToolEntry` changes of a file as a diff in the editor. */
export interface ShowDiffAsk {
  session: string;
  entry: string;
  path: string;
  root?: number;
  kind: 'show_diff';
}

/** Say which hunks of a waiting `ToolEntry` are chosen, for Accept in the diff's title. */
export interface ChooseHunksAsk {
  session: string;
  entry: string;
  /** Indices of chosen hunks by path. */
  accepted: Record<string, number[]>;
  kind: 'choose_hunks';
}

/** Put a text on the clipboard. */
export interface CopyAsk {
  text: string;
  kind: 'copy';
}

/** Put a block of code at the cursor of the editor, in place of what is selected there. */
export interface InsertCodeAsk {
  text: string;
  kind: 'insert_code';
}

/** Show what a block of code changes of the file it is meant for as a diff in the editor, with
Accept and Refuse; where the place is not certain the user is asked. */
export interface ApplyCodeAsk {
  session: string;
  text: string;
  /** Info string of the block. */
  info?: string;
  /** Words right before the block. */
  before?: string;
  kind: 'apply_code';
}

/** Let the user choose files; they come back by `insert`. */
export interface PickFilesAsk {
  kind: 'pick_files';
}

/** Files or folders were dropped on the page; they come back by `insert`. */
export interface DropAsk {
  uris: string[];
  kind: 'drop';
}

/** Attach the selection, or the problems, of the editor in front; back by `insert`. */
export interface EditorContextAsk {
  what: AttachmentKind;
  kind: 'editor_context';
}

/** Ask the user for a provider's key and keep it in the editor's secret storage. */
export interface SetKeyAsk {
  /** Which; empty lets the user choose. */
  variable?: string;
  /** Whose, as models are prefixed; the key is checked there before it is kept. */
  provider?: string;
  kind: 'set_key';
}

/** Lead the user from a provider to a model that answers. */
export interface SetUpModelAsk {
  /** Whose models, as they are prefixed; empty lets the user choose a provider. */
  provider?: string;
  kind: 'set_up_model';
}

/** Let the user save a session as a Markdown file. */
export interface SaveExportAsk {
  session: string;
  kind: 'save_export';
}

/** Open the runtime's settings file, made with comments when there is none. */
export interface OpenSettingsAsk {
  kind: 'open_settings';
}

/** Open a web address in the browser, after the editor's own question. */
export interface OpenLinkAsk {
  url: string;
  kind: 'open_link';
}

/** Ask the user before something that cannot be undone; answered by `Confirmed`. */
export interface ConfirmAsk {
  text: string;
  /** What the button says. */
  action: string;
  kind: 'confirm';
}

/** Whether the user said yes. */
export interface Confirmed {
  yes: boolean;
}

/** What became of a block of code. */
export interface AppliedCode {
  /** What its diff replaces, in the user's language; empty when none was opened. */
  said: string;
}

/** Events from the server, as they came. */
export interface EventsTell {
  events: PanelEvents;
  kind: 'events';
}

/** The server started, stopped or failed; when it runs, the page attaches again. */
export interface LifeTell {
  life: ServerLife;
  kind: 'life';
}

/** Put this into the input line: by a command, a menu, a drop or a choice. */
export interface InsertTell {
  attachments: Attachment[];
  text: string;
  kind: 'insert';
}

/** The user ran a command of the extension that the page carries out. */
export interface CommandTell {
  command: PageCommand;
  kind: 'command';
}

/** Models, keys or trust have changed: attach again. */
export interface RefreshTell {
  kind: 'refresh';
}

/** The user chose hunks of a waiting `ToolEntry` in the diff of the editor. */
export interface HunksTell {
  entry: string;
  /** Indices of chosen hunks by path. */
  accepted: Record<string, number[]>;
  kind: 'hunks';
}

/** The answer to a `PageMessage`. */
export interface AnsweredTell {
  /** Of the message. */
  id: number;
  /** What `AskAnswers` names for the ask's `kind`. */
  answer: Record<string, unknown>;
  kind: 'answered';
}

/** Why a `PageMessage` could not be answered. */
export interface FailedTell {
  /** Of the message. */
  id: number;
  /** For the user, in their language. */
  reason: string;
  kind: 'failed';
}

/** All that the page sends to the extension. */
export interface PageMessage {
  /** Comes back with the answer. */
  id: number;
  ask: PageAsk;
}

/** What the page finds in the JSON script tag `panel-start` when it is loaded. */
export interface PanelStart {
  /** Language of the editor, such as `zh-cn`. */
  locale: string;
  life: ServerLife;
  tab: PanelTab;
}

/** Which providers can be set up; looks for servers on this machine. */
export interface ProvidersAsk {
  kind: 'providers';
}

/** Check a key at a provider and list its models: the key on trial, else the one that is set. */
export interface CheckProviderAsk {
  /** As models are prefixed; empty with a `base`. */
  provider?: string;
  /** Address of a server that no one has named yet. */
  base?: string;
  kind: 'check_provider';
}

/** Ask this model from now on: write it to the user's configuration, once it is known to
answer. */
export interface UseModelAsk {
  /** As `ProviderChecked` names it. */
  provider: string;
  /** As the provider spells it. */
  model: string;
  /** Address of a server that no one has named yet. */
  base?: string;
  kind: 'use_model';
}

/** A provider that can be set up. */
export interface ProviderOffer {
  /** As models are prefixed: `name/model`. */
  name: string;
  /** As people call it, in their language. */
  title: string;
  /** Base URL; empty means the platform's own. */
  base: string;
  /** Environment variable of its key; empty when it needs none. */
  variable: string;
  /** Where its keys are made; empty when that is not known. */
  keyPage: string;
  /** Whether a key is set already. */
  hasKey: boolean;
  /** Whether it runs on this machine, or would. */
  here: boolean;
  /** Whether a server was found on this machine. */
  running: boolean;
  /** Those of a server that was found. */
  models: string[];
}

/** The providers that can be set up, those that are ready first. */
export interface ProviderOffers {
  offers: ProviderOffer[];
}

/** What a provider said to a key. */
export interface ProviderChecked {
  /** As models are prefixed; a new one for an address that was not known. */
  name: string;
  /** Environment variable of its key; empty when it needs none. */
  variable: string;
  /** Models that hold conversations; empty when the provider does not say. */
  models: string[];
  /** What a person has to see to; empty when the key, or the address, is right. */
  wrong: ModelWrong;
  /** The same in the provider's words. */
  why: string;
}

/** A model that is asked from now on, or why it is not. */
export interface ModelUsed {
  /** `provider/model`; empty when it was not written. */
  label: string;
  /** The settings file, as people write it. */
  file: string;
  /** What else holds and may surprise, in the user's language. */
  notes: string[];
  /** What a person has to see to. */
  wrong: ModelWrong;
  /** The same in the provider's words. */
  why: string;
}

/** Find the file and the place that a block of code is meant for. Nothing is written: the change
waits for a `ReviewAsk`, and its sides are asked by `SideAsk`. */
export interface PlaceCodeAsk {
  session: string;
  code: string;
  /** Info string of the block. */
  info?: string;
  /** Words right before the block. */
  before?: string;
  /** The file, when the user chose one. */
  path?: string;
  /** Which of the workspace's folders it is in. */
  root?: number;
  /** The file of the editor in front, meant when no other is named. */
  active?: string;
  /** Which of the workspace's folders that is in. */
  activeRoot?: number;
  /** The code becomes all of the file. */
  whole?: boolean;
  kind: 'place_code';
}

/** A file that a block of code may be meant for. */
export interface CodeFile {
  path: string;
  root: number;
}

/** The change that waits, or what the user has to say first. */
export interface PlacedCode {
  /** What is replaced, or why nothing was placed, in the user's language. */
  said: string;
  /** Session under which the change waits. */
  session: string;
  /** The file that is meant; empty when none is known. */
  path: string;
  /** Which of the workspace's folders it is in. */
  root: number;
  /** The change that waits for the user. */
  entry?: ToolEntry;
  /** Files of which the user has to choose one. */
  choices: CodeFile[];
}

export type Entry =
  | UserEntry
  | AnswerEntry
  | ToolEntry
  | NoticeEntry
  | PlanEntry
  | TaskGraphEntry
  | QuestionEntry;

export type Event = EntryPut | EntryGrew | EntriesCut | NodePut | NodeGone | SessionPut | MeterPut;

export type Ask =
  | AttachAsk
  | NewSessionAsk
  | SendAsk
  | StopAsk
  | EndScriptAsk
  | ControlAsk
  | RedirectAsk
  | BudgetAsk
  | PermitAsk
  | ReviewAsk
  | AnswerAsk
  | RewindAsk
  | ForkAsk
  | SessionsAsk
  | RenameAsk
  | DeleteAsk
  | ExportAsk
  | CompleteAsk
  | ModelsAsk
  | PickModelAsk
  | SetModeAsk
  | MemoriesAsk
  | SaveMemoryAsk
  | DeleteMemoryAsk
  | ExplorerAsk
  | ChangesAsk
  | SideAsk
  | PlaceCodeAsk
  | SettingsAsk
  | ProvidersAsk
  | CheckProviderAsk
  | UseModelAsk;

export type HostAsk =
  | OpenFileAsk
  | ShowDiffAsk
  | ChooseHunksAsk
  | CopyAsk
  | InsertCodeAsk
  | ApplyCodeAsk
  | PickFilesAsk
  | DropAsk
  | EditorContextAsk
  | SetKeyAsk
  | SetUpModelAsk
  | SaveExportAsk
  | OpenSettingsAsk
  | OpenLinkAsk
  | ConfirmAsk;

export type HostTell =
  | EventsTell
  | LifeTell
  | InsertTell
  | CommandTell
  | RefreshTell
  | HunksTell
  | AnsweredTell
  | FailedTell;

export type PageAsk =
  | AttachAsk
  | NewSessionAsk
  | SendAsk
  | StopAsk
  | EndScriptAsk
  | ControlAsk
  | RedirectAsk
  | BudgetAsk
  | PermitAsk
  | ReviewAsk
  | AnswerAsk
  | RewindAsk
  | ForkAsk
  | SessionsAsk
  | RenameAsk
  | DeleteAsk
  | ExportAsk
  | CompleteAsk
  | ModelsAsk
  | PickModelAsk
  | SetModeAsk
  | MemoriesAsk
  | SaveMemoryAsk
  | DeleteMemoryAsk
  | ExplorerAsk
  | ChangesAsk
  | SideAsk
  | PlaceCodeAsk
  | SettingsAsk
  | ProvidersAsk
  | CheckProviderAsk
  | UseModelAsk
  | OpenFileAsk
  | ShowDiffAsk
  | ChooseHunksAsk
  | CopyAsk
  | InsertCodeAsk
  | ApplyCodeAsk
  | PickFilesAsk
  | DropAsk
  | EditorContextAsk
  | SetKeyAsk
  | SetUpModelAsk
  | SaveExportAsk
  | OpenSettingsAsk
  | OpenLinkAsk
  | ConfirmAsk;

/** What each ask is answered with, by its `kind`. */
export interface AskAnswers {
  attach: Picture;
  new_session: Picture;
  send: Opened;
  set_mode: Opened;
  stop: Done;
  end_script: Done;
  control: Done;
  redirect: Done;
  budget: Done;
  permit: Done;
  review: Done;
  answer: Done;
  rewind: Rewound;
  fork: Opened;
  sessions: SessionList;
  rename: Done;
  delete: Done;
  export: Exported;
  complete: Completions;
  models: ModelState;
  pick_model: ModelState;
  memories: MemoryList;
  save_memory: MemoryItem;
  delete_memory: Done;
  explorer: Explored;
  changes: Changes;
  side: FileText;
  place_code: PlacedCode;
  settings: SettingsShown;
  providers: ProviderOffers;
  check_provider: ProviderChecked;
  use_model: ModelUsed;
  open_file: Done;
  show_diff: Done;
  choose_hunks: Done;
  copy: Done;
  insert_code: Done;
  apply_code: AppliedCode;
  pick_files: Done;
  drop: Done;
  editor_context: Done;
  set_key: Done;
  set_up_model: Done;
  save_export: Done;
  open_settings: Done;
  open_link: Done;
  confirm: Confirmed;
}
