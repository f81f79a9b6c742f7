"""What the page of the side panel and the extension around it say to each other.

These records never reach the server; they stand here since their TypeScript is generated beside
that of `panel`, some of whose records they hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from jarvis_ls.lsp.protocol.panel import Ask, Attachment, AttachmentKind, Done, PanelEvents

ServerLife = Literal["starting", "running", "stopped", "noPython", "failed"]
PanelTab = Literal["chat", "agents", "explorer", "memory", "settings"]
PageCommand = Literal["focus", "newSession", "stop", "sessions"]


@dataclass(frozen=True, slots=True)
class OpenFileAsk:
    """Show a file of the workspace in the editor."""

    path: str
    root: int = 0
    line: int = 0
    """From 1; 0 means wherever the cursor was."""
    kind: Literal["open_file"] = "open_file"


@dataclass(frozen=True, slots=True)
class ShowDiffAsk:
    """Show what a `ToolEntry` changes of a file as a diff in the editor."""

    session: str
    entry: str
    path: str
    root: int = 0
    kind: Literal["show_diff"] = "show_diff"


@dataclass(frozen=True, slots=True)
class ChooseHunksAsk:
    """Say which hunks of a waiting `ToolEntry` are chosen, for Accept in the diff's title."""

    session: str
    entry: str
    accepted: dict[str, tuple[int, ...]]
    """Indices of chosen hunks by path."""
    kind: Literal["choose_hunks"] = "choose_hunks"


@dataclass(frozen=True, slots=True)
class CopyAsk:
    """Put a text on the clipboard."""

    text: str
    kind: Literal["copy"] = "copy"


@dataclass(frozen=True, slots=True)
class InsertCodeAsk:
    """Put a block of code at the cursor of the editor, in place of what is selected there."""

    text: str
    kind: Literal["insert_code"] = "insert_code"


@dataclass(frozen=True, slots=True)
class ApplyCodeAsk:
    """Show what a block of code changes of the file it is meant for as a diff in the editor, with
    Accept and Refuse; where the place is not certain the user is asked."""

    session: str
    text: str
    info: str = ""
    """Info string of the block."""
    before: str = ""
    """Words right before the block."""
    kind: Literal["apply_code"] = "apply_code"


@dataclass(frozen=True, slots=True)
class PickFilesAsk:
    """Let the user choose files; they come back by `insert`."""

    kind: Literal["pick_files"] = "pick_files"


@dataclass(frozen=True, slots=True)
class DropAsk:
    """Files or folders were dropped on the page; they come back by `insert`."""

    uris: tuple[str, ...]
    kind: Literal["drop"] = "drop"


@dataclass(frozen=True, slots=True)
class EditorContextAsk:
    """Attach the selection, or the problems, of the editor in front; back by `insert`."""

    what: AttachmentKind
    kind: Literal["editor_context"] = "editor_context"


@dataclass(frozen=True, slots=True)
class SetKeyAsk:
    """Ask the user for a provider's key and keep it in the editor's secret storage."""

    variable: str = ""
    """Which; empty lets the user choose."""
    provider: str = ""
    """Whose, as models are prefixed; the key is checked there before it is kept."""
    kind: Literal["set_key"] = "set_key"


@dataclass(frozen=True, slots=True)
class SetUpModelAsk:
    """Lead the user from a provider to a model that answers."""

    provider: str = ""
    """Whose models, as they are prefixed; empty lets the user choose a provider."""
    kind: Literal["set_up_model"] = "set_up_model"


@dataclass(frozen=True, slots=True)
class SaveExportAsk:
    """Let the user save a session as a Markdown file."""

    session: str
    kind: Literal["save_export"] = "save_export"


@dataclass(frozen=True, slots=True)
class OpenSettingsAsk:
    """Open the runtime's settings file, made with comments when there is none."""

    kind: Literal["open_settings"] = "open_settings"


@dataclass(frozen=True, slots=True)
class OpenLinkAsk:
    """Open a web address in the browser, after the editor's own question."""

    url: str
    kind: Literal["open_link"] = "open_link"


@dataclass(frozen=True, slots=True)
class ConfirmAsk:
    """Ask the user before something that cannot be undone; answered by `Confirmed`."""

    text: str
    action: str
    """What the button says."""
    kind: Literal["confirm"] = "confirm"


HostAsk = (
    OpenFileAsk
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
    | ConfirmAsk
)


@dataclass(frozen=True, slots=True)
class Confirmed:
    """Whether the user said yes."""

    yes: bool


@dataclass(frozen=True, slots=True)
class AppliedCode:
    """What became of a block of code."""

    said: str
    """What its diff replaces, in the user's language; empty when none was opened."""


HOST_ANSWERS: dict[type, type] = {
    OpenFileAsk: Done,
    ShowDiffAsk: Done,
    ChooseHunksAsk: Done,
    CopyAsk: Done,
    InsertCodeAsk: Done,
    ApplyCodeAsk: AppliedCode,
    PickFilesAsk: Done,
    DropAsk: Done,
    EditorContextAsk: Done,
    SetKeyAsk: Done,
    SetUpModelAsk: Done,
    SaveExportAsk: Done,
    OpenSettingsAsk: Done,
    OpenLinkAsk: Done,
    ConfirmAsk: Confirmed,
}
"""What each ask of the extension is answered with."""


@dataclass(frozen=True, slots=True)
class EventsTell:
    """Events from the server, as they came."""

    events: PanelEvents
    kind: Literal["events"] = "events"


@dataclass(frozen=True, slots=True)
class LifeTell:
    """The server started, stopped or failed; when it runs, the page attaches again."""

    life: ServerLife
    kind: Literal["life"] = "life"


@dataclass(frozen=True, slots=True)
class InsertTell:
    """Put this into the input line: by a command, a menu, a drop or a choice."""

    attachments: tuple[Attachment, ...] = ()
    text: str = ""
    kind: Literal["insert"] = "insert"


@dataclass(frozen=True, slots=True)
class CommandTell:
    """The user ran a command of the extension that the page carries out."""

    command: PageCommand
    kind: Literal["command"] = "command"


@dataclass(frozen=True, slots=True)
class RefreshTell:
    """Models, keys or trust have changed: attach again."""

    kind: Literal["refresh"] = "refresh"


@dataclass(frozen=True, slots=True)
class HunksTell:
    """The user chose hunks of a waiting `ToolEntry` in the diff of the editor."""

    entry: str
    accepted: dict[str, tuple[int, ...]]
    """Indices of chosen hunks by path."""
    kind: Literal["hunks"] = "hunks"


@dataclass(frozen=True, slots=True)
class AnsweredTell:
    """The answer to a `PageMessage`."""

    id: int
    """Of the message."""
    answer: dict[str, Any]
    """What `AskAnswers` names for the ask's `kind`."""
    kind: Literal["answered"] = "answered"


@dataclass(frozen=True, slots=True)
class FailedTell:
    """Why a `PageMessage` could not be answered."""

    id: int
    """Of the message."""
    reason: str
    """For the user, in their language."""
    kind: Literal["failed"] = "failed"


HostTell = (
    EventsTell
    | LifeTell
    | InsertTell
    | CommandTell
    | RefreshTell
    | HunksTell
    | AnsweredTell
    | FailedTell
)
PageAsk = Ask | HostAsk


@dataclass(frozen=True, slots=True)
class PageMessage:
    """All that the page sends to the extension."""

    id: int
    """Comes back with the answer."""
    ask: PageAsk


@dataclass(frozen=True, slots=True)
class PanelStart:
    """What the page finds in the JSON script tag `panel-start` when it is loaded."""

    locale: str
    """Language of the editor, such as `zh-cn`."""
    life: ServerLife
    tab: PanelTab = "chat"
