"""What the side panel and the server say to each other, as one closed union each way.

The page asks (`Ask`, told apart by `kind`) and gets the answer that `ANSWERS` names; the server
tells by batches of the runtime's own events (`PanelEvents`). Both travel as `jarvis/panel/ask`
and `jarvis/panel/events`. What only the extension and the page say to each other is in
`panel_host`.

It is a file beside `protocol` because a server whose panel no one opens does not load it. In
asks, fields with a default may be left out. A session that is named `""` is the one shown last,
or a new one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jarvis_ls.lsp.protocol.apply_code import PlaceCodeAsk, PlacedCode
from jarvis_ls.lsp.protocol.model_setup import (
    CheckProviderAsk,
    ModelUsed,
    ProviderChecked,
    ProviderOffers,
    ProvidersAsk,
    UseModelAsk,
)
from jarvis_ls.runtime.base.events import Event, Mode, ProposedEdit, SessionInfo
from jarvis_ls.runtime.base.messages import Image

Control = Literal["pause", "resume", "cancel", "retry"]
GrantScope = Literal["call", "session", "workspace", "user"]
RewindWhat = Literal["files", "conversation", "both"]
Side = Literal["before", "after"]
MemoryKind = Literal["short_term", "project", "global"]
CompletionKind = Literal["file", "folder", "command", "skill", "rule", "finding"]
AttachmentKind = Literal["file", "selection", "diagnostics"]
FileChange = Literal["none", "create", "modify", "delete"]


# What asks are made of --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Attachment:
    """Something of the workspace that goes along with a message."""

    kind: AttachmentKind
    path: str
    """From the root it is in, with forward slashes."""
    root: int = 0
    """Which of the workspace's folders."""
    start_line: int = 0
    """First line of a selection, from 1; 0 means the whole file."""
    end_line: int = 0
    """Last line of a selection; 0 means the whole file."""
    text: str = ""
    """What was selected, or the problems reported for the file; a file is read when it is sent."""


# Asks -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AttachAsk:
    """Begin, come back after a restart, or look at another session."""

    session: str = ""
    kind: Literal["attach"] = "attach"


@dataclass(frozen=True, slots=True)
class NewSessionAsk:
    """Begin a session; it is kept from its first message on."""

    kind: Literal["new_session"] = "new_session"


@dataclass(frozen=True, slots=True)
class SendAsk:
    """Say something; while the agent works it is queued, and read before its next answer."""

    session: str
    text: str
    node: str = ""
    """Whom; empty means the root."""
    images: tuple[Image, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    kind: Literal["send"] = "send"


@dataclass(frozen=True, slots=True)
class StopAsk:
    """End what is going on, at once."""

    session: str
    node: str = ""
    """This agent and all below it; empty means everything."""
    kind: Literal["stop"] = "stop"


@dataclass(frozen=True, slots=True)
class EndScriptAsk:
    """End a script in the background."""

    session: str
    entry: str
    """The `ToolEntry` that shows it."""
    kind: Literal["end_script"] = "end_script"


@dataclass(frozen=True, slots=True)
class ControlAsk:
    """Pause, resume, cancel or retry an agent and all below it."""

    session: str
    node: str
    action: Control
    kind: Literal["control"] = "control"


@dataclass(frozen=True, slots=True)
class RedirectAsk:
    """Give an agent another direction; it keeps what it knows."""

    session: str
    node: str
    text: str
    kind: Literal["redirect"] = "redirect"


@dataclass(frozen=True, slots=True)
class BudgetAsk:
    """Set what an agent and all below it may spend; what is left out has no limit."""

    session: str
    node: str
    tokens: int | None = None
    cost: float | None = None
    kind: Literal["budget"] = "budget"


@dataclass(frozen=True, slots=True)
class PermitAsk:
    """Answer a `ToolEntry` that is `asked`."""

    session: str
    entry: str
    allowed: bool
    scope: GrantScope = "call"
    """How long it holds."""
    note: str = ""
    """What to tell the model."""
    kind: Literal["permit"] = "permit"


@dataclass(frozen=True, slots=True)
class ReviewAsk:
    """Answer a `ToolEntry` that is `asked` and has edits."""

    session: str
    entry: str
    accepted: dict[str, list[int]]
    """Indices of accepted hunks by path; a path that is missing is refused as a whole."""
    scope: GrantScope = "call"
    """How long the files may be written without being shown again."""
    note: str = ""
    """What to tell the model."""
    kind: Literal["review"] = "review"


@dataclass(frozen=True, slots=True)
class AnswerAsk:
    """Answer a `QuestionEntry`."""

    session: str
    entry: str
    text: str
    kind: Literal["answer"] = "answer"


@dataclass(frozen=True, slots=True)
class RewindAsk:
    """Go back to before a `UserEntry`."""

    session: str
    entry: str
    what: RewindWhat
    paths: tuple[str, ...] = ()
    """Only these files, from the root they are in; empty means all. For `files` alone."""
    root: int = 0
    """Which of the workspace's folders `paths` are in."""
    kind: Literal["rewind"] = "rewind"


@dataclass(frozen=True, slots=True)
class ForkAsk:
    """Begin a new session with what was said before an entry."""

    session: str
    entry: str
    kind: Literal["fork"] = "fork"


@dataclass(frozen=True, slots=True)
class SessionsAsk:
    """List sessions, the latest first; with words, those that hold them."""

    query: str = ""
    offset: int = 0
    limit: int = 50
    kind: Literal["sessions"] = "sessions"


@dataclass(frozen=True, slots=True)
class RenameAsk:
    """Give a session a title."""

    session: str
    title: str
    kind: Literal["rename"] = "rename"


@dataclass(frozen=True, slots=True)
class DeleteAsk:
    """Delete a session for good."""

    session: str
    kind: Literal["delete"] = "delete"


@dataclass(frozen=True, slots=True)
class ExportAsk:
    """A session as Markdown."""

    session: str
    kind: Literal["export"] = "export"


@dataclass(frozen=True, slots=True)
class CompleteAsk:
    """What can follow `@` or `/` in the input."""

    trigger: Literal["@", "/"]
    text: str
    """What is behind the trigger."""
    kind: Literal["complete"] = "complete"


@dataclass(frozen=True, slots=True)
class ModelsAsk:
    """The model groups, and which of them can be used."""

    session: str = ""
    kind: Literal["models"] = "models"


@dataclass(frozen=True, slots=True)
class PickModelAsk:
    """Use a group (or one `provider/model`) for an agent from its next call on."""

    session: str
    group: str
    node: str = ""
    """Which agent; empty means the root, and sessions begun later."""
    kind: Literal["pick_model"] = "pick_model"


@dataclass(frozen=True, slots=True)
class SetModeAsk:
    """Choose how much the agents of a session may do without being asked."""

    session: str
    mode: Mode
    kind: Literal["set_mode"] = "set_mode"


@dataclass(frozen=True, slots=True)
class MemoriesAsk:
    """List memories, the latest first; with words, those that hold them."""

    query: str = ""
    session: str = ""
    """Whose short-term memories are listed too."""
    kind: Literal["memories"] = "memories"


@dataclass(frozen=True, slots=True)
class SaveMemoryAsk:
    """Write a memory: a new one without an id."""

    memory: MemoryKind
    content: str
    tags: tuple[str, ...] = ()
    id: str = ""
    session: str = ""
    kind: Literal["save_memory"] = "save_memory"


@dataclass(frozen=True, slots=True)
class DeleteMemoryAsk:
    """Delete a memory."""

    memory: MemoryKind
    id: str
    session: str = ""
    kind: Literal["delete_memory"] = "delete_memory"


@dataclass(frozen=True, slots=True)
class ExplorerAsk:
    """What the agents of a session read and changed."""

    session: str
    kind: Literal["explorer"] = "explorer"


@dataclass(frozen=True, slots=True)
class ChangesAsk:
    """What differs between a checkpoint and the files as they are."""

    session: str
    checkpoint: str
    kind: Literal["changes"] = "changes"


@dataclass(frozen=True, slots=True)
class SideAsk:
    """A file as it is before or after the edits of a `ToolEntry`, for a diff."""

    session: str
    entry: str
    path: str
    side: Side
    root: int = 0
    kind: Literal["side"] = "side"


@dataclass(frozen=True, slots=True)
class SettingsAsk:
    """What is configured, and where."""

    kind: Literal["settings"] = "settings"


Ask = (
    AttachAsk
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
)


# Answers ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Done:
    """It was done."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """One model group."""

    name: str
    models: tuple[str, ...]
    """`provider/model` names, in order of preference."""
    ready: bool
    """Whether a key is there for at least one of them."""


@dataclass(frozen=True, slots=True)
class ModelState:
    """Which models there are."""

    ready: bool
    """Whether the chosen group can be asked."""
    current: str
    """The group in use."""
    choices: tuple[ModelChoice, ...]
    advice: str = ""
    """When nothing can be asked: what to set, in the user's language."""


@dataclass(frozen=True, slots=True)
class CommandItem:
    """One command of the input line."""

    name: str
    """With its slash."""
    title: str
    """What it does, in the user's language."""
    argument: str = ""
    """What it takes, such as `RULE`."""
    needs_model: bool = False


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Something to begin with: a click puts it into the input line."""

    title: str
    """What it is about, in the user's language."""
    text: str
    """What is put into the input line."""


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything the panel shows at first; later events add to it."""

    seq: int
    """Batches of events with a number up to this are in the picture already."""
    session: str
    """The session shown; empty when it has not begun."""
    events: tuple[Event, ...]
    """What there is to say of the session shown."""
    sessions: tuple[SessionInfo, ...]
    """The latest ones."""
    models: ModelState
    commands: tuple[CommandItem, ...]
    suggestions: tuple[Suggestion, ...]
    """From the findings at hand, the gravest first; none without a model."""
    folders: tuple[str, ...]
    """Names of the workspace's folders."""
    trusted: bool
    """In a workspace that is not trusted nothing is written or run."""
    locale: str
    """`en` or `zh-cn`."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The session to show from now on."""

    session: str


@dataclass(frozen=True, slots=True)
class Rewound:
    """What was brought back."""

    text: str
    """What the user had said there, to be said again or changed."""
    files: tuple[str, ...]
    """Files that were brought back."""
    kept: tuple[str, ...] = ()
    """Files that were not, because they were changed by someone else."""


@dataclass(frozen=True, slots=True)
class SessionList:
    """Some of the sessions."""

    sessions: tuple[SessionInfo, ...]
    total: int
    """How many match."""


@dataclass(frozen=True, slots=True)
class Exported:
    """A session as a file to save."""

    name: str
    """Name for the file."""
    markdown: str


@dataclass(frozen=True, slots=True)
class Completion:
    """One thing that can follow."""

    kind: CompletionKind
    label: str
    insert: str
    """What replaces the trigger and the text behind it."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Completions:
    """What can follow, the likeliest first."""

    items: tuple[Completion, ...]


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """One memory."""

    memory: MemoryKind
    id: str
    content: str
    tags: tuple[str, ...] = ()
    updated: float = 0.0
    """Seconds since 1970."""
    path: str = ""
    """The file it is in; empty for short-term ones."""


@dataclass(frozen=True, slots=True)
class MemoryList:
    """Memories that match."""

    items: tuple[MemoryItem, ...]


@dataclass(frozen=True, slots=True)
class ExplorerFile:
    """One file the agents touched."""

    path: str
    root: int
    read: int
    """How often it was read."""
    change: FileChange
    added: int = 0
    """Lines added in all."""
    removed: int = 0
    """Lines removed in all."""
    nodes: tuple[str, ...] = ()
    """Ids of the agents."""
    entries: tuple[str, ...] = ()
    """Ids of the tool entries that changed it, in order."""


@dataclass(frozen=True, slots=True)
class CheckpointItem:
    """The files as they were before a turn."""

    id: str
    entry: str
    """The `UserEntry` the turn begins with."""
    title: str
    time: float
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Explored:
    """What the agents of a session read and changed."""

    files: tuple[ExplorerFile, ...]
    checkpoints: tuple[CheckpointItem, ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs."""

    edits: tuple[ProposedEdit, ...]


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's text."""

    text: str
    exists: bool = True


@dataclass(frozen=True, slots=True)
class ProviderItem:
    """Where models are served."""

    name: str
    type: str
    base: str
    """Base URL; empty means the platform's own."""
    variables: tuple[str, ...]
    """Environment variables that hold keys."""
    ready: bool
    """Whether a key is set, or none is needed."""


@dataclass(frozen=True, slots=True)
class SettingLine:
    """One thing that is configured."""

    name: str
    value: str
    detail: str = ""
    level: Literal["info", "warning", "error"] = "info"


@dataclass(frozen=True, slots=True)
class SettingGroup:
    """Things that belong together: tools, permissions, skills, servers, rules."""

    title: str
    """In the user's language."""
    lines: tuple[SettingLine, ...]


@dataclass(frozen=True, slots=True)
class SettingsShown:
    """What is configured, and where."""

    file: str
    """The settings file."""
    template: str
    """What a new settings file says."""
    schema: str
    """File with the JSON schema of the settings, which is laid beside them."""
    providers: tuple[ProviderItem, ...]
    groups: tuple[SettingGroup, ...]


ANSWERS: dict[type, type] = {
    AttachAsk: Picture,
    NewSessionAsk: Picture,
    SendAsk: Opened,
    SetModeAsk: Opened,
    StopAsk: Done,
    EndScriptAsk: Done,
    ControlAsk: Done,
    RedirectAsk: Done,
    BudgetAsk: Done,
    PermitAsk: Done,
    ReviewAsk: Done,
    AnswerAsk: Done,
    RewindAsk: Rewound,
    ForkAsk: Opened,
    SessionsAsk: SessionList,
    RenameAsk: Done,
    DeleteAsk: Done,
    ExportAsk: Exported,
    CompleteAsk: Completions,
    ModelsAsk: ModelState,
    PickModelAsk: ModelState,
    MemoriesAsk: MemoryList,
    SaveMemoryAsk: MemoryItem,
    DeleteMemoryAsk: Done,
    ExplorerAsk: Explored,
    ChangesAsk: Changes,
    SideAsk: FileText,
    PlaceCodeAsk: PlacedCode,
    SettingsAsk: SettingsShown,
    ProvidersAsk: ProviderOffers,
    CheckProviderAsk: ProviderChecked,
    UseModelAsk: ModelUsed,
}
"""What each ask is answered with."""


@dataclass(frozen=True, slots=True)
class PanelEvents:
    """What happened since the batch before: at most 60 batches a second."""

    seq: int
    """Number of the batch; each is one more than the one before."""
    events: tuple[Event, ...]
