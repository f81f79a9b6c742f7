// Generated from server/jarvis_ls/lsp/protocol/extensions.py; do not edit.
// Regenerate it with `python -m jarvis_ls.lsp.protocol.typescript`.

import type { ProgressToken, Range, WorkspaceEdit } from 'vscode-languageclient/node';
import type { PanelEvents } from './panel-protocol';

export const SCAN_WORKSPACE = 'jarvis/scanWorkspace';
export const FINDINGS = 'jarvis/findings';
export const FINDING = 'jarvis/finding';
export const EXPLAIN_RULE = 'jarvis/explainRule';
export const RULES = 'jarvis/rules';
export const FIX = 'jarvis/fix';
export const SUPPRESS = 'jarvis/suppress';
export const EXPORT = 'jarvis/export';
export const IMPORT_SARIF = 'jarvis/importSarif';
export const GAPS = 'jarvis/gaps';
export const FINDINGS_CHANGED = 'jarvis/findingsChanged';
export const PROVE = 'jarvis/prove';
export const REPLAY = 'jarvis/replay';
export const CASE = 'jarvis/case';
export const REGRESSION_TEST = 'jarvis/regressionTest';
export const REPAIR = 'jarvis/repair';
export const REPAIR_APPLY = 'jarvis/repairApply';
export const VERIFY = 'jarvis/verify';
export const REVIEW = 'jarvis/review';
export const REVIEW_ACCEPT = 'jarvis/reviewAccept';
export const REVIEW_DISMISS = 'jarvis/reviewDismiss';
export const TOOL = 'jarvis/tool';
export const TEST_REPAIR = 'jarvis/testRepair';
export const GAPS_FOUND = 'jarvis/gapsFound';
export const STATUS = 'jarvis/status';
export const PANEL_ASK = 'jarvis/panel/ask';
export const PANEL_KEYS = 'jarvis/panel/keys';
export const PANEL_EVENTS = 'jarvis/panel/events';
export const PANEL_WRITE = 'jarvis/panel/write';
export const COMMAND_SCAN_WORKSPACE = 'jarvis.scanWorkspace';
export const COMMAND_CANCEL_SCAN = 'jarvis.cancelScan';
export const COMMAND_EXPORT_REPORT = 'jarvis.exportReport';
export const COMMAND_IMPORT_SARIF = 'jarvis.importSarif';
export const COMMAND_CLEAR_IMPORTED = 'jarvis.clearImported';
export const COMMAND_ADD_TO_BASELINE = 'jarvis.addToBaseline';
export const COMMAND_EXPLAIN_RULE = 'jarvis.explainRule';
export const COMMAND_EXPLAIN_GAPS = 'jarvis.explainGaps';
export const COMMAND_SHOW_FINDING = 'jarvis.showFinding';
export const COMMAND_PROVE = 'jarvis.prove';
export const COMMAND_REPLAY = 'jarvis.replay';
export const COMMAND_REPAIR = 'jarvis.repair';
export const COMMAND_APPLY_REPAIR = 'jarvis.applyRepair';
export const COMMAND_VERIFY = 'jarvis.verify';
export const COMMAND_REVIEW = 'jarvis.review';
export const COMMAND_TEST_REPAIR = 'jarvis.testRepair';
export const SETTINGS_SECTION = 'jarvisLs';
export const MIGRATION = 'jarvis/migration';
export const MIGRATION_RUN = 'jarvis/migration/run';
export const MIGRATION_STOP = 'jarvis/migration/stop';
export const MIGRATION_RUST = 'jarvis/migration/rust';
export const MIGRATION_GRAPH = 'jarvis/migration/graph';
export const MIGRATION_CHANGED = 'jarvis/migrationChanged';
export const COMMAND_MIGRATE = 'jarvis.migrate';
export const COMMAND_STOP_MIGRATION = 'jarvis.stopMigration';
export const COMMAND_SHOW_RUST = 'jarvis.showRust';

export type Severity = 'high' | 'medium' | 'low';
export type RuleLevel = 'off' | 'low' | 'medium' | 'high';
export type SuppressScope = 'line' | 'function' | 'file' | 'baseline';
export type ExportFormat = 'json' | 'jsonl' | 'sarif' | 'markdown' | 'html';
export type ProofVerdict = 'reproduced' | 'depends_on_caller' | 'refuted' | 'survived' | 'unproven';
export type AgentsVerdict = 'reproduced' | 'unproven' | 'undecided' | 'false_positive';
export type RepairStatus = 'repaired' | 'unfixable' | 'no_model' | 'cancelled';
export type VerifyStatus = 'verified' | 'unfinished' | 'no_model' | 'cancelled';
export type TestRepairStatus = 'candidates' | 'passed' | 'unfixable' | 'no_model' | 'cancelled';
export type ReviewState = 'working' | 'staged';
export type ReviewStatus = 'reviewed' | 'unfinished' | 'no_model' | 'cancelled';
export type ModelHealth = 'none' | 'ready' | 'failing';
export type ServerState = 'starting' | 'scanning' | 'following' | 'idle' | 'error';
export type MigrationScope =
  | 'scan'
  | 'project'
  | 'file'
  | 'function'
  | 'resume'
  | 'verify'
  | 'lift'
  | 'rewrite'
  | 'revert';
export type StageState = 'todo' | 'running' | 'done' | 'failed';
export type FunctionState = 'new' | 'c' | 'baseline' | 'idiomatic';
export type NodeKind = 'function' | 'type' | 'global' | 'macro';

/** What running the code has shown of a finding, as long as the code is the same. */
export interface ProofItem {
  /** What was shown. */
  verdict: ProofVerdict;
  /** The verdict in the user's language. */
  name: string;
  /** All that is said of it, the verdict first. */
  text: string;
  /** Name of the run that shows it; empty when there is none. */
  case: string;
}

/** What agents concluded of a finding, as long as the code is the same. */
export interface AgentsItem {
  /** What they concluded. */
  verdict: AgentsVerdict;
  /** The conclusion in a sentence, in the user's language. */
  text: string;
}

/** One finding as the findings view shows it. */
export interface FindingItem {
  /** Id as reports show it: `C` or `R` and six digits; it changes with the line. */
  id: string;
  /** Identity across edits, runs and line moves; what the baseline stores. */
  fingerprint: string;
  /** Id of the rule, for example `double-free`. */
  rule: string;
  /** The file. */
  uri: string;
  /** The exact expression, in UTF-16 code units. */
  range: Range;
  /** Severity after the settings were applied. */
  severity: Severity;
  /** Family of the rule, for example `memory_mgmt`. */
  category: string;
  /** Numbers of the Common Weakness Enumeration. */
  cwe: number[];
  /** One sentence in the user's language. */
  message: string;
  /** How sure the rule is, 0 to 1. */
  confidence: number;
  /** `confidence` times the weight of the severity (high 3, medium 2, low 1). */
  score: number;
  /** True when a comment in the source, or what agents concluded, suppresses it. */
  suppressed: boolean;
  /** True when the baseline file holds it. */
  baselined: boolean;
  /** True when the rule offers a safe rewrite. */
  fixable: boolean;
  /** The source line that shows it. */
  evidence: string;
  /** Number in `candidates.jsonl`, once written there. */
  gid?: number;
  /** What running the code has shown; absent when it was not run, or has changed since. */
  proof?: ProofItem;
  /** What agents concluded; absent when they were not asked, or the code has changed since. */
  agents?: AgentsItem;
  /** Number of steps on the path to it; `jarvis/finding` has them. */
  steps: number;
}

/** Asks for a scan of every folder of the workspace. */
export interface ScanWorkspaceParams {
  /** True: only files that changed since the last scan of this session. */
  changedOnly?: boolean;
  /** Where the client wants the progress; the server makes a token when it is absent. */
  workDoneToken?: ProgressToken;
}

/** A file that was found but not analysed. */
export interface SkippedFile {
  /** The file. */
  uri: string;
  /** Why, in the user's language. */
  reason: string;
}

/** What a scan of the workspace did. */
export interface ScanWorkspaceResult {
  /** Files analysed. */
  files: number;
  /** Findings that are neither suppressed nor in the baseline. */
  findings: number;
  /** Files that were not analysed. */
  skipped: SkippedFile[];
  /** True when the scan was stopped before its end; what was found is kept. */
  cancelled: boolean;
  /** How long it took. */
  milliseconds: number;
}

/** Asks for every finding the server knows. */
export type FindingsParams = Record<string, never>;

/** Every finding the server knows. */
export interface FindingsResult {
  /** Number of the state; `jarvis/findingsChanged` with a higher one is newer. */
  revision: number;
  /** All of them, suppressed and baselined ones too. */
  findings: FindingItem[];
}

/** All findings of one file; an empty list means the file has none any more. */
export interface FileFindings {
  /** The file. */
  uri: string;
  /** They replace what was known of the file. */
  findings: FindingItem[];
}

/** Tells which files have new findings; at most ten times a second. */
export interface FindingsChangedParams {
  /** Grows with every notification. */
  revision: number;
  /** Only the files that changed. */
  files: FileFindings[];
}

/** What the server is doing, for a status bar. */
export interface StatusParams {
  /** While a scan of the workspace runs: `scanning` as long as the rules look at its files,
`following` as long as values are followed through their functions. */
  state: ServerState;
  /** Files that are done: of the half that runs, or in the last scan. */
  done: number;
  /** Files to do in the running or the last scan. */
  total: number;
  /** Findings that are neither suppressed nor in the baseline. */
  findings: number;
  /** Whether there is a model to talk with; absent until the panel is used. */
  model?: ModelHealth;
  /** One sentence for people, in their language. */
  message?: string;
}

/** Asks for the page of a rule. */
export interface ExplainRuleParams {
  /** Id of the rule. */
  rule: string;
}

/** The page of a rule. */
export interface ExplainRuleResult {
  /** Id of the rule. */
  rule: string;
  /** Its title in the user's language. */
  title: string;
  /** What it finds, why it is bad, an example, what is better, references. */
  markdown: string;
}

/** Asks for the list of rules. */
export type RulesParams = Record<string, never>;

/** One line of the list of rules. */
export interface RuleItem {
  /** Id of the rule. */
  id: string;
  /** Its title in the user's language. */
  title: string;
  /** `c`, `cpp`, `rust`. */
  languages: string[];
  /** Family of the rule. */
  category: string;
  /** Numbers of the Common Weakness Enumeration. */
  cwe: number[];
  /** Severity before settings. */
  severity: Severity;
  /** True when the rule offers a safe rewrite. */
  fixable: boolean;
}

/** Names one finding. */
export interface FindingRef {
  /** The file. */
  uri: string;
  /** The finding in it. */
  fingerprint: string;
}

/** One step of the path to a finding. */
export interface FindingStep {
  /** The file. */
  uri: string;
  /** Where in it. */
  range: Range;
  /** What happens there, in the user's language. */
  message: string;
}

/** Everything known of a finding. */
export interface FindingDetails {
  /** Source, steps and sink; empty where the place alone shows the flaw. */
  steps: FindingStep[];
  /** Rule, message, advice, evidence, score and why it matters, in the user's language; with
commands of our extension as links. */
  markdown: string;
}

/** The rewrite of a finding of an open document. */
export interface FixResult {
  /** The client applies it. */
  edit: WorkspaceEdit;
}

/** Asks for the edit that suppresses findings, or puts them into the baseline. */
export interface SuppressParams {
  /** The findings. */
  items: FindingRef[];
  /** `baseline` writes the baseline file; the others answer an edit with comments. */
  scope: SuppressScope;
  /** Why they are no problem; goes into the comment or the baseline. */
  reason: string;
}

/** The edit to apply, or what was written to the baseline. */
export interface SuppressResult {
  /** Findings written to the baseline. */
  baseline: number;
  /** The comments to insert; the client applies it. */
  edit?: WorkspaceEdit;
}

/** Asks what the analysis does not know of the C and C++ code of the workspace. */
export interface GapsParams {
  /** Where the client wants the progress; the server makes a token when it is absent. */
  workDoneToken?: ProgressToken;
}

/** What the analysis does not know. */
export interface GapsResult {
  /** Headers, macros, types and functions with how often they are needed, where, and what to do;
in the user's language. */
  markdown: string;
  /** How many of them are named. */
  count: number;
  /** Whether it was cancelled before its end. */
  cancelled: boolean;
}

/** Tells, after a scan of the workspace, that many files include headers that are not found. */
export interface GapsFoundParams {
  /** How many headers. */
  headers: number;
  /** How many files include one. */
  files: number;
}

/** Asks to build and run the code of the workspace, to see whether findings can happen. */
export interface ProveParams {
  /** The file; it must be saved. */
  uri: string;
  /** Fingerprint, id or number of one finding of the file; absent: all of them. */
  finding?: string;
  /** Where the client wants the progress; the server makes a token when it is absent. */
  workDoneToken?: ProgressToken;
}

/** Asks to repair a finding: the rule's rewrite, then an agent, until a patch passes. */
export interface RepairParams {
  /** The file; it must be saved. */
  uri: string;
  /** Fingerprint, id or number of the finding. */
  finding: string;
  /** Where the client wants the progress; the server makes a token when it is absent. */
  workDoneToken?: ProgressToken;
}

/** A file as a repair would make it. */
export interface RepairFile {
  /** The file. */
  uri: string;
  /** Relative to the folder. */
  path: string;
  /** What it would become. */
  text: string;
}

/** What came of it; nothing is written yet. */
export interface RepairResult {
  /** `no_model`: the rule has no rewrite that passes, and no agent can be asked. */
  status: RepairStatus;
  /** The result in a sentence, in the user's language. */
  summary: string;
  /** What was tried and what each gate said, in the user's language. */
  markdown: string;
  /** What to apply it by; empty when there is no repair. */
  name: string;
  /** The repair as a unified diff. */
  diff: string;
  /** The files it changes. */
  files: RepairFile[];
}

/** Asks to write a repair that the user has accepted. */
export interface RepairApplyParams {
  /** Name of the repair. */
  name: string;
}

/** What was written: all of it. When a file has changed since, it is an error and nothing is. */
export interface RepairApplyResult {
  /** URIs of the files. */
  files: string[];
}

/** Asks agents to verify a finding. */
export interface VerifyParams {
  /** The file. */
  uri: string;
  /** Fingerprint, id or number. */
  finding: string;
  /** Where the client wants the progress. */
  workDoneToken?: ProgressToken;
}

/** What agents concluded; it is kept, and part of the finding from now on. */
export interface VerifyResult {
  /** Whether they came to a conclusion, and why not. */
  status: VerifyStatus;
  /** The result in a sentence, in the user's language. */
  summary: string;
  /** All that they said, for people; empty when they said nothing. */
  markdown: string;
}

/** What the runs have shown; it is kept, and part of the findings from now on. */
export interface ProveResult {
  /** Findings that were examined. */
  examined: number;
  /** The result in a sentence, in the user's language. */
  summary: string;
  /** One for each of them. */
  proofs: ProofItem[];
  /** Whether it was cancelled before all were examined. */
  cancelled: boolean;
}

/** Names a run that has shown a flaw. */
export interface CaseParams {
  /** A file of the folder it is of. */
  uri: string;
  /** Its name. */
  case: string;
  /** Where the client wants the progress, of a request that has any. */
  workDoneToken?: ProgressToken;
}

/** What a run shows when it is repeated. */
export interface ReplayResult {
  /** Whether it still shows the flaw. */
  reproduced: boolean;
  /** What it shows, in a sentence. */
  text: string;
  /** Whether it was cancelled: then it is not known. */
  cancelled: boolean;
}

/** Everything that a run was given. */
export interface CaseResult {
  /** Arguments, standard input, files, environment and what was made to fail; for people. */
  markdown: string;
}

/** Asks for a run as a test of the project. */
export interface RegressionTestParams {
  /** A file of the folder it is of. */
  uri: string;
  /** Its name. */
  case: string;
  /** False: only tell what would be written. */
  write: boolean;
}

/** A file of a test. */
export interface TestFile {
  /** Where it is. */
  uri: string;
  /** The same, relative to the folder. */
  path: string;
  /** What will be in it; bytes that are no text are shown as such. */
  text: string;
  /** Whether it is there already, and is changed. */
  exists: boolean;
}

/** The files of a test; the script that is run comes first. */
export interface RegressionTestResult {
  /** What is written, or was. */
  files: TestFile[];
}

/** Asks to write a report of everything known. */
export interface ExportParams {
  /** The form of the report. */
  format: ExportFormat;
  /** Absolute path of the file to write, inside a folder of the workspace. */
  path: string;
  /** Where the client wants the progress; the server makes a token when it is absent. */
  workDoneToken?: ProgressToken;
}

/** The report that was written once everything was known, or that was not. */
export interface ExportResult {
  /** The file. */
  path: string;
  /** Findings in it. */
  findings: number;
  /** Why it is not about the whole workspace; empty when it is. */
  partial: string;
  /** Whether it was cancelled: then nothing was written. */
  cancelled: boolean;
}

/** Asks to show the results of a SARIF log as diagnostics of their own source. */
export interface ImportSarifParams {
  /** Absolute path of the log. */
  path: string;
}

/** What came of it. */
export interface ImportSarifResult {
  /** Sources of the diagnostics: the tools of the log. */
  tools: string[];
  /** Results that are shown. */
  shown: number;
  /** Results without a place in a file of the workspace, suppressed, or beyond the limit. */
  leftOut: number;
}

/** The section `jarvisLs` of the client's settings. */
export interface Settings {
  /** Off: no analysis, no diagnostics. */
  enable: boolean;
  /** Milliseconds of silence after a keystroke before the file is analysed. */
  debounce: number;
  /** Analyse all files of the workspace in the background at start-up. */
  workspaceScan: boolean;
  /** Findings below this confidence are not shown. */
  minConfidence: number;
  /** Switches a rule off or gives it another severity. */
  rules: Record<string, RuleLevel>;
  /** Glob patterns, in the syntax of `.gitignore`, of files never analysed. */
  exclude: string[];
  /** Files with more bytes are skipped and named. */
  maxFileSize: number;
  /** Follow values through and across the functions of C and C++. */
  flow: boolean;
  /** Ask the headers of the machine for types, constants and functions that nothing else
declares. */
  installedHeaders: boolean;
  /** Show sizes of memory, and where input enters, inside of the text. */
  valueHints: boolean;
  /** Where the Rust crate of a migration goes; empty: beside the project, as `<project>_rs`. */
  crateFolder: string;
  /** Run the project's own build, in a copy, to learn how its files are compiled. */
  projectBuild: boolean;
}

/** `initializationOptions`: the settings and what only the client knows. */
export interface InitializationOptions extends Settings {
  /** False in a workspace the user does not trust: settings of the workspace are not read. */
  trusted: boolean;
  /** Language of messages (`en`, `zh-cn`) when it is not that of the protocol's `locale`. */
  locale?: string;
}

/** Asks for a review of what has changed since the last commit. */
export interface ReviewParams {
  /** `working`: the files on the disk; `staged`: the index. */
  state: ReviewState;
  /** True sends the diff to the model: agents read it as well. */
  agents: boolean;
  /** A file or folder of the repository; absent: the first folder of the workspace. */
  uri?: string;
  /** Where the client wants the progress; the server makes a token when it is absent. */
  workDoneToken?: ProgressToken;
}

/** Something that a reviewer should look at; it is also a diagnostic of source
`jarvis review`. */
export interface ReviewIssue {
  /** What it is known by, also in later reviews. */
  key: string;
  /** The file. */
  uri: string;
  /** From 1, as the file is after the change. */
  line: number;
  /** How bad it is. */
  severity: Severity;
  /** Its id. */
  rule: string;
  /** What is wrong, in the user's language. */
  message: string;
  /** What to do. */
  suggestion: string;
  /** Whether the user has agreed with it. */
  accepted: boolean;
}

/** What a review found. */
export interface ReviewResult {
  /** `no_model`: agents could not be asked, the rest was reviewed; `unfinished`: agents have not
read all of it. */
  status: ReviewStatus;
  /** The result in a sentence, in the user's language. */
  summary: string;
  /** The gravest first. */
  issues: ReviewIssue[];
}

/** Says that the user agrees with an issue; it stays, and later reviews show it so. */
export interface ReviewAcceptParams {
  /** Its file. */
  uri: string;
  /** The issue. */
  key: string;
}

/** Says that an issue is none; later reviews leave it out. */
export interface ReviewDismissParams {
  /** Its file. */
  uri: string;
  /** The issue. */
  key: string;
  /** Why it is none. */
  reason: string;
}

/** What a language model of the editor asks; see `facade.questions`. */
export interface ToolParams {
  /** Of the question. */
  name: string;
  /** Of the question, by name. */
  arguments: Record<string, unknown>;
  /** URI of a folder of the workspace; the first without. */
  folder?: string;
}

/** What the model is told. */
export interface ToolResult {
  /** Markdown, or JSON. */
  text: string;
}

/** Asks for a repair of the failing tests of a folder. */
export interface TestRepairParams {
  /** A file or folder of it; absent: the first folder of the workspace. */
  uri?: string;
  /** How to repair, in the user's words. */
  hint: string;
  /** Where the client wants the progress; the server makes a token when it is absent. */
  workDoneToken?: ProgressToken;
}

/** A patch with which all tests pass. Nothing of it is written: that is the client's to do. */
export interface TestRepairCandidate {
  /** Its name. */
  id: string;
  /** What it does, in the words of the model. */
  description: string;
  /** What it may break, by what uses the changed code. */
  risk: Severity;
  /** As `git apply` takes it. */
  diff: string;
  /** The files as they would become. */
  files: RepairFile[];
}

/** What came of a repair of tests. */
export interface TestRepairResult {
  /** `passed`: no test fails. */
  status: TestRepairStatus;
  /** The result in a sentence, in the user's language. */
  summary: string;
  /** The best first. */
  candidates: TestRepairCandidate[];
}

/** Something the side panel asks; see `panel`, which is loaded when it is needed. */
export interface PanelAskParams {
  /** One of the union `Ask`; the result is what `AskAnswers` names for its `kind`. */
  ask: Record<string, unknown>;
}

/** Keys from the editor's secret storage: for the runtime's environment, never kept. */
export interface PanelKeysParams {
  /** Environment variable to key; they replace those handed over before. */
  keys: Record<string, string>;
  /** A key to be checked by what is asked next; forgotten with the next message of these. */
  trial?: string;
}

/** A file that an agent has changed, for the editor to change where it has it open. */
export interface PanelWriteParams {
  /** The file. */
  uri: string;
  /** Its text as the agent knew it, with line feeds. */
  before: string;
  /** Its text as it shall be, with line feeds. */
  after: string;
}

/** Asks what is known of the migration of a folder of the workspace. */
export interface MigrationParams {
  /** URI of the folder; the first one when it is absent. */
  folder?: string;
}

/** How much of something there is in the crate. */
export interface MigrationCount {
  /** `unsafe_functions`, `unsafe_lines` or `raw_pointers`. */
  name: string;
  /** Before a stage. */
  before: number;
  /** After it. */
  after: number;
}

/** One stage of the pipeline. */
export interface MigrationStage {
  /** `scan`, `baseline`, `build`, … */
  name: string;
  /** How far it is. */
  state: StageState;
  /** What lifting has made less of. */
  counts: MigrationCount[];
  /** When it was done, in seconds since 1970. */
  at?: number;
}

/** One pass of lifting. */
export interface MigrationPass {
  /** `references`, `slices`, … */
  name: string;
  /** False when it is not in the crate. */
  kept: boolean;
  /** Why it is not, in the user's language. */
  why: string;
  /** Functions that are written otherwise after it. */
  changed: number;
  /** Functions it was taken back from: they did not build, or behaved otherwise. */
  refused: number;
  /** What it made less of. */
  counts: MigrationCount[];
}

/** How many small mistakes in the Rust the tests of equivalence find. */
export interface MigrationStrength {
  /** Mistakes that were planted, each in a crate of its own. */
  planted: number;
  /** Those that a test has seen. */
  killed: number;
}

/** One function of the project. */
export interface MigrationFunction {
  /** Its number in `symbols.jsonl`. */
  id: number;
  /** Its step of the translation order; functions of one circle share it. */
  step: number;
  /** True when it is in a circle with others: they are translated together. */
  circle: boolean;
  /** Its name. */
  name: string;
  /** The C file. */
  uri: string;
  /** The C file, relative to the folder. */
  path: string;
  /** Its lines. */
  range: Range;
  /** What it is written in; `new` before the first run. */
  state: FunctionState;
  /** Why it is in C, in the user's language; empty when it is not. */
  reason: string;
  /** What the tests of equivalence say: `equal`, `differs`, `no_input`, `unstable`, `not_run`;
empty when they say nothing. */
  tests: string;
  /** Why, what differs, or how many cases were equal. */
  testsNote: string;
}

/** A file that is not translated at all. */
export interface MigrationSkipped {
  /** The file. */
  uri: string;
  /** Relative to the folder. */
  path: string;
  /** Why, in the user's language. */
  reason: string;
}

/** What is known of the migration of a folder. */
export interface MigrationResult {
  /** URI of the folder; empty in a workspace without one. */
  folder: string;
  /** Number of the state; a higher one is newer. */
  revision: number;
  /** False in a workspace that is not trusted: nothing is read or run there. */
  trusted: boolean;
  /** True while a scan or run continues. */
  running: boolean;
  /** In the order of the pipeline. */
  stages: MigrationStage[];
  /** In the order of translation. */
  functions: MigrationFunction[];
  /** Files that are not translated at all. */
  skipped: MigrationSkipped[];
  /** Of lifting, in the order they were tried. */
  passes: MigrationPass[];
  /** What the scan left out. */
  notes: string[];
  /** What cargo said, its end; empty when it had nothing to say. */
  log: string;
  /** True when only chosen files and functions are to be in Rust so far. */
  partial: boolean;
  /** True when a run began that did not come to its end. */
  resumable: boolean;
  /** URI of the folder of the Rust crate, once there is one. */
  crate?: string;
  /** URI of the report of the last comparison, in Markdown, once there is one. */
  report?: string;
  /** Of the tests, once mistakes were planted. */
  strength?: MigrationStrength;
}

/** Asks for a scan or a run. */
export interface MigrationRunParams {
  /** `scan` reads only; `resume` continues with what was asked for last; `verify` compares the
crate with the C, `lift` makes better Rust of it; `rewrite` lets a model write one function,
`revert` puts its baseline back. */
  scope: MigrationScope;
  /** URI of the folder; that of `uri`, else the first one, when it is absent. */
  folder?: string;
  /** The C file, for `file` and `function`; for `verify` that of the one function to compare. */
  uri?: string;
  /** Name of the function, for `function`, `verify`, `rewrite` and `revert`. */
  function?: string;
  /** A line in the function, from 0, where its name is not known. */
  line?: number;
  /** True: stages that are done are done again. */
  reset?: boolean;
  /** Where the client wants the progress; the server makes a token when it is absent. */
  workDoneToken?: ProgressToken;
}

/** What a scan or run did. */
export interface MigrationRunResult {
  /** True when it was stopped; it continues where it was with `resume`. */
  cancelled: boolean;
  /** Functions of the project; after `verify` those that behave like the C, after `lift`
passes over the crate that were kept. */
  functions: number;
  /** Those that are in C; after `verify` those that were not compared or differ, after `lift`
passes that were not kept. */
  left: number;
  /** Files that are not translated at all. */
  skipped: number;
  /** After `verify`: functions, or programs, that behave differently. */
  differs: number;
  /** True when everything was done already. */
  again: boolean;
  /** How long it took. */
  milliseconds: number;
  /** After `lift`: what there is less of. */
  counts: MigrationCount[];
  /** URI of the folder of the crate; absent after a scan. */
  crate?: string;
  /** After `rewrite` and `revert`: what became of the function, in the user's language. */
  told?: string;
}

/** Asks where the Rust of a C function is. */
export interface MigrationRustParams {
  /** The C file. */
  uri: string;
  /** Its name; else the function at `line`. */
  function?: string;
  /** A line of it, from 0. */
  line?: number;
}

/** The two sides of a function. */
export interface MigrationRustResult {
  /** Its name; empty when there is none at the line. */
  function: string;
  /** What it is written in. */
  state: FunctionState;
  /** Why there is no Rust, in the user's language. */
  reason: string;
  /** Its lines in C. */
  cRange: Range;
  /** The Rust file; absent when there is none. */
  uri?: string;
  /** Its lines in Rust. */
  range?: Range;
}

/** Asks for the picture of who refers to whom. */
export interface MigrationGraphParams {
  /** URI of the folder; the first one when it is absent. */
  folder?: string;
  /** Number of a function: only it and what it needs; else the whole project. */
  root?: number;
  /** What is drawn; functions only when it is absent. */
  kinds?: NodeKind[];
}

/** A symbol in the picture. */
export interface GraphNode {
  /** Its number in `symbols.jsonl`. */
  id: number;
  /** What it is. */
  kind: NodeKind;
  /** Its name. */
  name: string;
  /** Its file, relative to the folder. */
  path: string;
  /** Its line, from 1. */
  line: number;
  /** Left edge, in pixels. */
  x: number;
  /** Upper edge. */
  y: number;
  /** In pixels; all are of one height. */
  width: number;
}

/** One symbol refers to another. */
export interface GraphEdge {
  /** Number of the one that refers. */
  source: number;
  /** Number of the other. */
  target: number;
  /** x and y in turn: where the line begins, bends and ends. */
  points: number[];
}

/** Who refers to whom, laid out. */
export interface MigrationGraphResult {
  /** Of the picture, in pixels. */
  width: number;
  /** Of the picture, in pixels. */
  height: number;
  /** In the order of reading: by layer, then from top to bottom. */
  nodes: GraphNode[];
  /** Among the nodes. */
  edges: GraphEdge[];
  /** Symbols that are not drawn because there are too many; then there are no nodes. */
  omitted: number;
}

/** Tells that a migration has changed, or how far a run is; at most ten times a second. */
export interface MigrationChangedParams {
  /** URI of the folder. */
  folder: string;
  /** What `jarvis/migration` would answer now. */
  revision: number;
  /** True while a scan or run continues. */
  running: boolean;
  /** The stage that is going on; empty when none is. */
  stage: string;
  /** Parts of the stage that are done. */
  done: number;
  /** Parts of the stage; 0 when it has none. */
  total: number;
}

/** What the server assumes for a setting that is not sent. */
export const DEFAULT_SETTINGS: Settings = {
  enable: true,
  debounce: 150,
  workspaceScan: true,
  minConfidence: 0.3,
  rules: {},
  exclude: [],
  maxFileSize: 8000000,
  flow: true,
  installedHeaders: true,
  valueHints: false,
  crateFolder: '',
  projectBuild: false,
};

/** Requests from client to server. */
export interface Requests {
  'jarvis/scanWorkspace': { params: ScanWorkspaceParams; result: ScanWorkspaceResult };
  'jarvis/findings': { params: FindingsParams; result: FindingsResult };
  'jarvis/finding': { params: FindingRef; result: FindingDetails };
  'jarvis/explainRule': { params: ExplainRuleParams; result: ExplainRuleResult };
  'jarvis/rules': { params: RulesParams; result: RuleItem[] };
  'jarvis/fix': { params: FindingRef; result: FixResult };
  'jarvis/suppress': { params: SuppressParams; result: SuppressResult };
  'jarvis/prove': { params: ProveParams; result: ProveResult };
  'jarvis/replay': { params: CaseParams; result: ReplayResult };
  'jarvis/case': { params: CaseParams; result: CaseResult };
  'jarvis/regressionTest': { params: RegressionTestParams; result: RegressionTestResult };
  'jarvis/repair': { params: RepairParams; result: RepairResult };
  'jarvis/repairApply': { params: RepairApplyParams; result: RepairApplyResult };
  'jarvis/verify': { params: VerifyParams; result: VerifyResult };
  'jarvis/review': { params: ReviewParams; result: ReviewResult };
  'jarvis/reviewAccept': { params: ReviewAcceptParams; result: boolean };
  'jarvis/reviewDismiss': { params: ReviewDismissParams; result: boolean };
  'jarvis/testRepair': { params: TestRepairParams; result: TestRepairResult };
  'jarvis/export': { params: ExportParams; result: ExportResult };
  'jarvis/importSarif': { params: ImportSarifParams; result: ImportSarifResult };
  'jarvis/gaps': { params: GapsParams; result: GapsResult };
  'jarvis/tool': { params: ToolParams; result: ToolResult };
  'jarvis/panel/ask': { params: PanelAskParams; result: Record<string, unknown> };
  'jarvis/panel/keys': { params: PanelKeysParams; result: boolean };
  'jarvis/migration': { params: MigrationParams; result: MigrationResult };
  'jarvis/migration/run': { params: MigrationRunParams; result: MigrationRunResult };
  'jarvis/migration/stop': { params: MigrationParams; result: boolean };
  'jarvis/migration/rust': { params: MigrationRustParams; result: MigrationRustResult };
  'jarvis/migration/graph': { params: MigrationGraphParams; result: MigrationGraphResult };
}

/** Requests from server to client. */
export interface ClientRequests {
  'jarvis/panel/write': { params: PanelWriteParams; result: boolean };
}

/** Notifications from server to client. */
export interface Notifications {
  'jarvis/findingsChanged': FindingsChangedParams;
  'jarvis/status': StatusParams;
  'jarvis/gapsFound': GapsFoundParams;
  'jarvis/migrationChanged': MigrationChangedParams;
  'jarvis/panel/events': PanelEvents;
}
