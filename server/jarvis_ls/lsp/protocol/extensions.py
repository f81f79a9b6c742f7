"""The messages that Jarvis LS adds to the language server protocol.

This file and `migration_protocol` are the source. ``client-vscode/src/protocol.ts`` is generated
from them by ``python -m jarvis_ls.lsp.protocol_ts``, committed, and compared in ``npm run check``.
A field is ``snake_case`` here and ``camelCase`` on the wire; a field that may be absent is
``... | None`` and is left out when it is ``None``.
"""

from __future__ import annotations

from typing import Any, Literal

import attrs
from lsprotocol.types import ProgressToken, Range, WorkspaceEdit

from jarvis_ls.jsec.settings.settings import SHOWN_CONFIDENCE
from jarvis_ls.lsp.protocol import migration

SCAN_WORKSPACE = "jarvis/scanWorkspace"
FINDINGS = "jarvis/findings"
FINDING = "jarvis/finding"
EXPLAIN_RULE = "jarvis/explainRule"
RULES = "jarvis/rules"
FIX = "jarvis/fix"
SUPPRESS = "jarvis/suppress"
EXPORT = "jarvis/export"
IMPORT_SARIF = "jarvis/importSarif"
GAPS = "jarvis/gaps"
FINDINGS_CHANGED = "jarvis/findingsChanged"
PROVE = "jarvis/prove"
REPLAY = "jarvis/replay"
CASE = "jarvis/case"
REGRESSION_TEST = "jarvis/regressionTest"
REPAIR = "jarvis/repair"
REPAIR_APPLY = "jarvis/repairApply"
VERIFY = "jarvis/verify"
REVIEW = "jarvis/review"
REVIEW_ACCEPT = "jarvis/reviewAccept"
REVIEW_DISMISS = "jarvis/reviewDismiss"
TOOL = "jarvis/tool"
TEST_REPAIR = "jarvis/testRepair"
GAPS_FOUND = "jarvis/gapsFound"
STATUS = "jarvis/status"
PANEL_ASK = "jarvis/panel/ask"
PANEL_KEYS = "jarvis/panel/keys"
PANEL_EVENTS = "jarvis/panel/events"
PANEL_WRITE = "jarvis/panel/write"

COMMAND_SCAN_WORKSPACE = "jarvis.scanWorkspace"
COMMAND_CANCEL_SCAN = "jarvis.cancelScan"
COMMAND_EXPORT_REPORT = "jarvis.exportReport"
COMMAND_IMPORT_SARIF = "jarvis.importSarif"
COMMAND_CLEAR_IMPORTED = "jarvis.clearImported"
COMMAND_ADD_TO_BASELINE = "jarvis.addToBaseline"
COMMAND_EXPLAIN_RULE = "jarvis.explainRule"
COMMAND_EXPLAIN_GAPS = "jarvis.explainGaps"
COMMAND_SHOW_FINDING = "jarvis.showFinding"
COMMAND_PROVE = "jarvis.prove"
COMMAND_REPLAY = "jarvis.replay"
COMMAND_REPAIR = "jarvis.repair"
COMMAND_APPLY_REPAIR = "jarvis.applyRepair"
COMMAND_VERIFY = "jarvis.verify"
COMMAND_REVIEW = "jarvis.review"
COMMAND_TEST_REPAIR = "jarvis.testRepair"

SETTINGS_SECTION = "jarvisLs"

Severity = Literal["high", "medium", "low"]
RuleLevel = Literal["off", "low", "medium", "high"]
SuppressScope = Literal["line", "function", "file", "baseline"]
ExportFormat = Literal["json", "jsonl", "sarif", "markdown", "html"]
ProofVerdict = Literal["reproduced", "depends_on_caller", "refuted", "survived", "unproven"]
AgentsVerdict = Literal["reproduced", "unproven", "undecided", "false_positive"]
RepairStatus = Literal["repaired", "unfixable", "no_model", "cancelled"]
VerifyStatus = Literal["verified", "unfinished", "no_model", "cancelled"]
TestRepairStatus = Literal["candidates", "passed", "unfixable", "no_model", "cancelled"]
ReviewState = Literal["working", "staged"]
ReviewStatus = Literal["reviewed", "unfinished", "no_model", "cancelled"]
ModelHealth = Literal["none", "ready", "failing"]
ServerState = Literal["starting", "scanning", "following", "idle", "error"]


@attrs.frozen
class ProofItem:
    """What running the code has shown of a finding, as long as the code is the same."""

    verdict: ProofVerdict
    """What was shown."""
    name: str
    """The verdict in the user's language."""
    text: str
    """All that is said of it, the verdict first."""
    case: str
    """Name of the run that shows it; empty when there is none."""


@attrs.frozen
class AgentsItem:
    """What agents concluded of a finding, as long as the code is the same."""

    verdict: AgentsVerdict
    """What they concluded."""
    text: str
    """The conclusion in a sentence, in the user's language."""


@attrs.frozen
class FindingItem:
    """One finding as the findings view shows it."""

    id: str
    """Id as reports show it: `C` or `R` and six digits; it changes with the line."""
    fingerprint: str
    """Identity across edits, runs and line moves; what the baseline stores."""
    rule: str
    """Id of the rule, for example `double-free`."""
    uri: str
    """The file."""
    range: Range
    """The exact expression, in UTF-16 code units."""
    severity: Severity
    """Severity after the settings were applied."""
    category: str
    """Family of the rule, for example `memory_mgmt`."""
    cwe: list[int]
    """Numbers of the Common Weakness Enumeration."""
    message: str
    """One sentence in the user's language."""
    confidence: float
    """How sure the rule is, 0 to 1."""
    score: float
    """`confidence` times the weight of the severity (high 3, medium 2, low 1)."""
    suppressed: bool
    """True when a comment in the source, or what agents concluded, suppresses it."""
    baselined: bool
    """True when the baseline file holds it."""
    fixable: bool
    """True when the rule offers a safe rewrite."""
    evidence: str
    """The source line that shows it."""
    gid: int | None = None
    """Number in `candidates.jsonl`, once written there."""
    proof: ProofItem | None = None
    """What running the code has shown; absent when it was not run, or has changed since."""
    agents: AgentsItem | None = None
    """What agents concluded; absent when they were not asked, or the code has changed since."""
    steps: int = 0
    """Number of steps on the path to it; `jarvis/finding` has them."""


@attrs.frozen
class ScanWorkspaceParams:
    """Asks for a scan of every folder of the workspace."""

    changed_only: bool | None = None
    """True: only files that changed since the last scan of this session."""
    work_done_token: ProgressToken | None = None
    """Where the client wants the progress; the server makes a token when it is absent."""


@attrs.frozen
class SkippedFile:
    """A file that was found but not analysed."""

    uri: str
    """The file."""
    reason: str
    """Why, in the user's language."""


@attrs.frozen
class ScanWorkspaceResult:
    """What a scan of the workspace did."""

    files: int
    """Files analysed."""
    findings: int
    """Findings that are neither suppressed nor in the baseline."""
    skipped: list[SkippedFile]
    """Files that were not analysed."""
    cancelled: bool
    """True when the scan was stopped before its end; what was found is kept."""
    milliseconds: int
    """How long it took."""


@attrs.frozen
class FindingsParams:
    """Asks for every finding the server knows."""


@attrs.frozen
class FindingsResult:
    """Every finding the server knows."""

    revision: int
    """Number of the state; `jarvis/findingsChanged` with a higher one is newer."""
    findings: list[FindingItem]
    """All of them, suppressed and baselined ones too."""


@attrs.frozen
class FileFindings:
    """All findings of one file; an empty list means the file has none any more."""

    uri: str
    """The file."""
    findings: list[FindingItem]
    """They replace what was known of the file."""


@attrs.frozen
class FindingsChangedParams:
    """Tells which files have new findings; at most ten times a second."""

    revision: int
    """Grows with every notification."""
    files: list[FileFindings]
    """Only the files that changed."""


@attrs.frozen
class StatusParams:
    """What the server is doing, for a status bar."""

    state: ServerState
    """While a scan of the workspace runs: `scanning` as long as the rules look at its files,
    `following` as long as values are followed through their functions."""
    done: int
    """Files that are done: of the half that runs, or in the last scan."""
    total: int
    """Files to do in the running or the last scan."""
    findings: int
    """Findings that are neither suppressed nor in the baseline."""
    model: ModelHealth | None = None
    """Whether there is a model to talk with; absent until the panel is used."""
    message: str | None = None
    """One sentence for people, in their language."""


@attrs.frozen
class ExplainRuleParams:
    """Asks for the page of a rule."""

    rule: str
    """Id of the rule."""


@attrs.frozen
class ExplainRuleResult:
    """The page of a rule."""

    rule: str
    """Id of the rule."""
    title: str
    """Its title in the user's language."""
    markdown: str
    """What it finds, why it is bad, an example, what is better, references."""


@attrs.frozen
class RulesParams:
    """Asks for the list of rules."""


@attrs.frozen
class RuleItem:
    """One line of the list of rules."""

    id: str
    """Id of the rule."""
    title: str
    """Its title in the user's language."""
    languages: list[str]
    """`c`, `cpp`, `rust`."""
    category: str
    """Family of the rule."""
    cwe: list[int]
    """Numbers of the Common Weakness Enumeration."""
    severity: Severity
    """Severity before settings."""
    fixable: bool
    """True when the rule offers a safe rewrite."""


@attrs.frozen
class FindingRef:
    """Names one finding."""

    uri: str
    """The file."""
    fingerprint: str
    """The finding in it."""


@attrs.frozen
class FindingStep:
    """One step of the path to a finding."""

    uri: str
    """The file."""
    range: Range
    """Where in it."""
    message: str
    """What happens there, in the user's language."""


@attrs.frozen
class FindingDetails:
    """Everything known of a finding."""

    steps: list[FindingStep]
    """Source, steps and sink; empty where the place alone shows the flaw."""
    markdown: str
    """Rule, message, advice, evidence, score and why it matters, in the user's language; with
    commands of our extension as links."""


@attrs.frozen
class FixResult:
    """The rewrite of a finding of an open document."""

    edit: WorkspaceEdit
    """The client applies it."""


@attrs.frozen
class SuppressParams:
    """Asks for the edit that suppresses findings, or puts them into the baseline."""

    items: list[FindingRef]
    """The findings."""
    scope: SuppressScope
    """`baseline` writes the baseline file; the others answer an edit with comments."""
    reason: str
    """Why they are no problem; goes into the comment or the baseline."""


@attrs.frozen
class SuppressResult:
    """The edit to apply, or what was written to the baseline."""

    baseline: int
    """Findings written to the baseline."""
    edit: WorkspaceEdit | None = None
    """The comments to insert; the client applies it."""


@attrs.frozen
class GapsParams:
    """Asks what the analysis does not know of the C and C++ code of the workspace."""

    work_done_token: ProgressToken | None = None
    """Where the client wants the progress; the server makes a token when it is absent."""


@attrs.frozen
class GapsResult:
    """What the analysis does not know."""

    markdown: str
    """Headers, macros, types and functions with how often they are needed, where, and what to do;
    in the user's language."""
    count: int
    """How many of them are named."""
    cancelled: bool = False
    """Whether it was cancelled before its end."""


@attrs.frozen
class GapsFoundParams:
    """Tells, after a scan of the workspace, that many files include headers that are not found."""

    headers: int
    """How many headers."""
    files: int
    """How many files include one."""


@attrs.frozen
class ProveParams:
    """Asks to build and run the code of the workspace, to see whether findings can happen."""

    uri: str
    """The file; it must be saved."""
    finding: str | None = None
    """Fingerprint, id or number of one finding of the file; absent: all of them."""
    work_done_token: ProgressToken | None = None
    """Where the client wants the progress; the server makes a token when it is absent."""


@attrs.frozen
class RepairParams:
    """Asks to repair a finding: the rule's rewrite, then an agent, until a patch passes."""

    uri: str
    """The file; it must be saved."""
    finding: str
    """Fingerprint, id or number of the finding."""
    work_done_token: ProgressToken | None = None
    """Where the client wants the progress; the server makes a token when it is absent."""


@attrs.frozen
class RepairFile:
    """A file as a repair would make it."""

    uri: str
    """The file."""
    path: str
    """Relative to the folder."""
    text: str
    """What it would become."""


@attrs.frozen
class RepairResult:
    """What came of it; nothing is written yet."""

    status: RepairStatus
    """`no_model`: the rule has no rewrite that passes, and no agent can be asked."""
    summary: str
    """The result in a sentence, in the user's language."""
    markdown: str
    """What was tried and what each gate said, in the user's language."""
    name: str
    """What to apply it by; empty when there is no repair."""
    diff: str
    """The repair as a unified diff."""
    files: list[RepairFile]
    """The files it changes."""


@attrs.frozen
class RepairApplyParams:
    """Asks to write a repair that the user has accepted."""

    name: str
    """Name of the repair."""


@attrs.frozen
class RepairApplyResult:
    """What was written: all of it. When a file has changed since, it is an error and nothing is."""

    files: list[str]
    """URIs of the files."""


@attrs.frozen
class VerifyParams:
    """Asks agents to verify a finding."""

    uri: str
    """The file."""
    finding: str
    """Fingerprint, id or number."""
    work_done_token: ProgressToken | None = None
    """Where the client wants the progress."""


@attrs.frozen
class VerifyResult:
    """What agents concluded; it is kept, and part of the finding from now on."""

    status: VerifyStatus
    """Whether they came to a conclusion, and why not."""
    summary: str
    """The result in a sentence, in the user's language."""
    markdown: str
    """All that they said, for people; empty when they said nothing."""


@attrs.frozen
class ProveResult:
    """What the runs have shown; it is kept, and part of the findings from now on."""

    examined: int
    """Findings that were examined."""
    summary: str
    """The result in a sentence, in the user's language."""
    proofs: list[ProofItem]
    """One for each of them."""
    cancelled: bool
    """Whether it was cancelled before all were examined."""


@attrs.frozen
class CaseParams:
    """Names a run that has shown a flaw."""

    uri: str
    """A file of the folder it is of."""
    case: str
    """Its name."""
    work_done_token: ProgressToken | None = None
    """Where the client wants the progress, of a request that has any."""


@attrs.frozen
class ReplayResult:
    """What a run shows when it is repeated."""

    reproduced: bool
    """Whether it still shows the flaw."""
    text: str
    """What it shows, in a sentence."""
    cancelled: bool
    """Whether it was cancelled: then it is not known."""


@attrs.frozen
class CaseResult:
    """Everything that a run was given."""

    markdown: str
    """Arguments, standard input, files, environment and what was made to fail; for people."""


@attrs.frozen
class RegressionTestParams:
    """Asks for a run as a test of the project."""

    uri: str
    """A file of the folder it is of."""
    case: str
    """Its name."""
    write: bool
    """False: only tell what would be written."""


@attrs.frozen
class TestFile:
    """A file of a test."""

    uri: str
    """Where it is."""
    path: str
    """The same, relative to the folder."""
    text: str
    """What will be in it; bytes that are no text are shown as such."""
    exists: bool
    """Whether it is there already, and is changed."""


@attrs.frozen
class RegressionTestResult:
    """The files of a test; the script that is run comes first."""

    files: list[TestFile]
    """What is written, or was."""


@attrs.frozen
class ExportParams:
    """Asks to write a report of everything known."""

    format: ExportFormat
    """The form of the report."""
    path: str
    """Absolute path of the file to write, inside a folder of the workspace."""
    work_done_token: ProgressToken | None = None
    """Where the client wants the progress; the server makes a token when it is absent."""


@attrs.frozen
class ExportResult:
    """The report that was written once everything was known, or that was not."""

    path: str
    """The file."""
    findings: int
    """Findings in it."""
    partial: str
    """Why it is not about the whole workspace; empty when it is."""
    cancelled: bool = False
    """Whether it was cancelled: then nothing was written."""


@attrs.frozen
class ImportSarifParams:
    """Asks to show the results of a SARIF log as diagnostics of their own source."""

    path: str
    """Absolute path of the log."""


@attrs.frozen
class ImportSarifResult:
    """What came of it."""

    tools: list[str]
    """Sources of the diagnostics: the tools of the log."""
    shown: int
    """Results that are shown."""
    left_out: int
    """Results without a place in a file of the workspace, suppressed, or beyond the limit."""


@attrs.frozen
class Settings:
    """The section `jarvisLs` of the client's settings."""

    enable: bool = True
    """Off: no analysis, no diagnostics."""
    debounce: int = 150
    """Milliseconds of silence after a keystroke before the file is analysed."""
    workspace_scan: bool = True
    """Analyse all files of the workspace in the background at start-up."""
    min_confidence: float = SHOWN_CONFIDENCE
    """Findings below this confidence are not shown."""
    rules: dict[str, RuleLevel] = attrs.field(factory=dict)
    """Switches a rule off or gives it another severity."""
    exclude: list[str] = attrs.field(factory=list)
    """Glob patterns, in the syntax of `.gitignore`, of files never analysed."""
    max_file_size: int = 8_000_000
    """Files with more bytes are skipped and named."""
    flow: bool = True
    """Follow values through and across the functions of C and C++."""
    installed_headers: bool = True
    """Ask the headers of the machine for types, constants and functions that nothing else
    declares."""
    value_hints: bool = False
    """Show sizes of memory, and where input enters, inside of the text."""
    crate_folder: str = ""
    """Where the Rust crate of a migration goes; empty: beside the project, as `<project>_rs`."""
    project_build: bool = False
    """Run the project's own build, in a copy, to learn how its files are compiled."""


@attrs.frozen
class InitializationOptions(Settings):
    """`initializationOptions`: the settings and what only the client knows."""

    trusted: bool = True
    """False in a workspace the user does not trust: settings of the workspace are not read."""
    locale: str | None = None
    """Language of messages (`en`, `zh-cn`) when it is not that of the protocol's `locale`."""


@attrs.frozen
class ReviewParams:
    """Asks for a review of what has changed since the last commit."""

    state: ReviewState
    """`working`: the files on the disk; `staged`: the index."""
    agents: bool = False
    """True sends the diff to the model: agents read it as well."""
    uri: str | None = None
    """A file or folder of the repository; absent: the first folder of the workspace."""
    work_done_token: ProgressToken | None = None
    """Where the client wants the progress; the server makes a token when it is absent."""


@attrs.frozen
class ReviewIssue:
    """Something that a reviewer should look at; it is also a diagnostic of source
    `jarvis review`."""

    key: str
    """What it is known by, also in later reviews."""
    uri: str
    """The file."""
    line: int
    """From 1, as the file is after the change."""
    severity: Severity
    """How bad it is."""
    rule: str
    """Its id."""
    message: str
    """What is wrong, in the user's language."""
    suggestion: str
    """What to do."""
    accepted: bool
    """Whether the user has agreed with it."""


@attrs.frozen
class ReviewResult:
    """What a review found."""

    status: ReviewStatus
    """`no_model`: agents could not be asked, the rest was reviewed; `unfinished`: agents have not
    read all of it."""
    summary: str
    """The result in a sentence, in the user's language."""
    issues: list[ReviewIssue]
    """The gravest first."""


@attrs.frozen
class ReviewAcceptParams:
    """Says that the user agrees with an issue; it stays, and later reviews show it so."""

    uri: str
    """Its file."""
    key: str
    """The issue."""


@attrs.frozen
class ReviewDismissParams:
    """Says that an issue is none; later reviews leave it out."""

    uri: str
    """Its file."""
    key: str
    """The issue."""
    reason: str
    """Why it is none."""


@attrs.frozen
class ToolParams:
    """What a language model of the editor asks; see `facade.questions`."""

    name: str
    """Of the question."""
    arguments: dict[str, Any]
    """Of the question, by name."""
    folder: str | None = None
    """URI of a folder of the workspace; the first without."""


@attrs.frozen
class ToolResult:
    """What the model is told."""

    text: str
    """Markdown, or JSON."""


@attrs.frozen
class TestRepairParams:
    """Asks for a repair of the failing tests of a folder."""

    __test__ = False  # it is no test

    uri: str | None = None
    """A file or folder of it; absent: the first folder of the workspace."""
    hint: str = ""
    """How to repair, in the user's words."""
    work_done_token: ProgressToken | None = None
    """Where the client wants the progress; the server makes a token when it is absent."""


@attrs.frozen
class TestRepairCandidate:
    """A patch with which all tests pass. Nothing of it is written: that is the client's to do."""

    __test__ = False  # it is no test

    id: str
    """Its name."""
    description: str
    """What it does, in the words of the model."""
    risk: Severity
    """What it may break, by what uses the changed code."""
    diff: str
    """As `git apply` takes it."""
    files: list[RepairFile]
    """The files as they would become."""


@attrs.frozen
class TestRepairResult:
    """What came of a repair of tests."""

    __test__ = False  # it is no test

    status: TestRepairStatus
    """`passed`: no test fails."""
    summary: str
    """The result in a sentence, in the user's language."""
    candidates: list[TestRepairCandidate]
    """The best first."""


@attrs.frozen
class PanelAskParams:
    """Something the side panel asks; see `panel`, which is loaded when it is needed."""

    ask: dict[str, Any]
    """One of the union `Ask`; the result is what `AskAnswers` names for its `kind`."""


@attrs.frozen
class PanelKeysParams:
    """Keys from the editor's secret storage: for the runtime's environment, never kept."""

    keys: dict[str, str]
    """Environment variable to key; they replace those handed over before."""
    trial: str | None = None
    """A key to be checked by what is asked next; forgotten with the next message of these."""


@attrs.frozen
class PanelWriteParams:
    """A file that an agent has changed, for the editor to change where it has it open."""

    uri: str
    """The file."""
    before: str
    """Its text as the agent knew it, with line feeds."""
    after: str
    """Its text as it shall be, with line feeds."""


REQUESTS: dict[str, tuple[type, type]] = {
    SCAN_WORKSPACE: (ScanWorkspaceParams, ScanWorkspaceResult),
    FINDINGS: (FindingsParams, FindingsResult),
    FINDING: (FindingRef, FindingDetails),
    EXPLAIN_RULE: (ExplainRuleParams, ExplainRuleResult),
    RULES: (RulesParams, list[RuleItem]),
    FIX: (FindingRef, FixResult),
    SUPPRESS: (SuppressParams, SuppressResult),
    PROVE: (ProveParams, ProveResult),
    REPLAY: (CaseParams, ReplayResult),
    CASE: (CaseParams, CaseResult),
    REGRESSION_TEST: (RegressionTestParams, RegressionTestResult),
    REPAIR: (RepairParams, RepairResult),
    REPAIR_APPLY: (RepairApplyParams, RepairApplyResult),
    VERIFY: (VerifyParams, VerifyResult),
    REVIEW: (ReviewParams, ReviewResult),
    REVIEW_ACCEPT: (ReviewAcceptParams, bool),
    REVIEW_DISMISS: (ReviewDismissParams, bool),
    TEST_REPAIR: (TestRepairParams, TestRepairResult),
    EXPORT: (ExportParams, ExportResult),
    IMPORT_SARIF: (ImportSarifParams, ImportSarifResult),
    GAPS: (GapsParams, GapsResult),
    TOOL: (ToolParams, ToolResult),
    PANEL_ASK: (PanelAskParams, dict[str, Any]),
    PANEL_KEYS: (PanelKeysParams, bool),
    migration.MIGRATION: (migration.MigrationParams, migration.MigrationResult),
    migration.MIGRATION_RUN: (migration.MigrationRunParams, migration.MigrationRunResult),
    migration.MIGRATION_STOP: (migration.MigrationParams, bool),
    migration.MIGRATION_RUST: (migration.MigrationRustParams, migration.MigrationRustResult),
    migration.MIGRATION_GRAPH: (migration.MigrationGraphParams, migration.MigrationGraphResult),
}
"""Requests from client to server: parameters and result."""

CLIENT_REQUESTS: dict[str, tuple[type, type]] = {PANEL_WRITE: (PanelWriteParams, bool)}
"""Requests from server to our own client: parameters and result. `PANEL_WRITE` is true when the
editor has the file open and now shows and keeps the new text."""

NOTIFICATIONS: dict[str, type] = {
    FINDINGS_CHANGED: FindingsChangedParams,
    STATUS: StatusParams,
    GAPS_FOUND: GapsFoundParams,
    migration.MIGRATION_CHANGED: migration.MigrationChangedParams,
}
"""Notifications from server to client: parameters. `PANEL_EVENTS` with `PanelEvents` is one more:
`panel` has it."""

SERVER_COMMANDS = (
    COMMAND_SCAN_WORKSPACE,
    COMMAND_CANCEL_SCAN,
    COMMAND_EXPORT_REPORT,
    COMMAND_IMPORT_SARIF,
    COMMAND_CLEAR_IMPORTED,
    COMMAND_ADD_TO_BASELINE,
    COMMAND_EXPLAIN_RULE,
    COMMAND_EXPLAIN_GAPS,
    COMMAND_SHOW_FINDING,
    COMMAND_PROVE,
    COMMAND_REPLAY,
    COMMAND_REPAIR,
    COMMAND_APPLY_REPAIR,
    COMMAND_VERIFY,
    COMMAND_REVIEW,
    COMMAND_TEST_REPAIR,
    migration.COMMAND_MIGRATE,
    migration.COMMAND_STOP_MIGRATION,
    migration.COMMAND_SHOW_RUST,
)
"""Commands any client can run by `workspace/executeCommand`."""


def camel_case(name: str) -> str:
    """Return the wire name of the field ``name``."""
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)
