"""What a client of sessions sees and says, as records of one closed union: `Update`.

A client shows the updates in the order in which they come. `CallShown` is an upsert by its id;
`Spoken` is a piece of text that is appended to its message.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Speaker = Literal["user", "answer", "thought", "notice"]
CallKind = Literal["read", "edit", "search", "execute", "fetch", "other"]
CallState = Literal["asked", "running", "done", "failed", "denied", "cancelled"]
StepState = Literal["pending", "active", "done", "dropped"]
OptionKind = Literal["allow_once", "allow_always", "reject_once"]


@dataclass(frozen=True, slots=True)
class Spoken:
    """A piece of a message."""

    message: str
    """Id of the message that it belongs to."""
    speaker: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class Location:
    """A place that a call is about."""

    path: str
    """Absolute."""
    line: int | None = None
    """From 1; None for the whole file."""


@dataclass(frozen=True, slots=True)
class Change:
    """One place of a file that a call wants to change, or has changed."""

    path: str
    """Absolute."""
    before: str | None
    """Lines there are, with those around them; None for a new file."""
    after: str
    """Lines there will be."""


@dataclass(frozen=True, slots=True)
class CallShown:
    """A tool call as it is now."""

    id: str
    """Unique in the session."""
    node: str
    """Agent of the tree that calls."""
    title: str
    kind: CallKind
    state: CallState
    arguments: Mapping[str, Any]
    """Empty when they could not be read."""
    text: str = ""
    """What it runs, why it is asked or was refused, and what it has put out."""
    changes: tuple[Change, ...] = ()
    locations: tuple[Location, ...] = ()
    is_new: bool = False
    """Whether it was not shown before."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan."""

    text: str
    state: StepState


@dataclass(frozen=True, slots=True)
class PlanShown:
    """The plan as it is now."""

    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class AgentShown:
    """One agent of the tree."""

    id: str
    parent: str | None
    """None for the main agent."""
    title: str
    state: str
    activity: str
    tokens: int
    """Of it and all below it."""
    cost: float
    """In the currency of the configured prices."""
    error: str


@dataclass(frozen=True, slots=True)
class TreeShown:
    """All agents of the session as they are now, parents before their children."""

    agents: tuple[AgentShown, ...]


@dataclass(frozen=True, slots=True)
class ContextShown:
    """How full the context of the main agent is."""

    used: int
    """Tokens."""
    window: int
    """Tokens that the model takes."""


@dataclass(frozen=True, slots=True)
class TitleShown:
    """The title of the session as it is now."""

    title: str


@dataclass(frozen=True, slots=True)
class ModeShown:
    """The mode of the session as it is now."""

    mode: str


@dataclass(frozen=True, slots=True)
class CommandOffered:
    """Something that `/name` does."""

    name: str
    description: str
    hint: str
    """What may follow it; empty for nothing."""


@dataclass(frozen=True, slots=True)
class CommandsShown:
    """The commands that a prompt can begin with."""

    commands: tuple[CommandOffered, ...]


Update = (
    Spoken
    | CallShown
    | PlanShown
    | TreeShown
    | ContextShown
    | TitleShown
    | ModeShown
    | CommandsShown
)


@dataclass(frozen=True, slots=True)
class Named:
    """Something that the user can choose."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Option:
    """One answer to a question."""

    id: str
    kind: OptionKind
    name: str


@dataclass(frozen=True, slots=True)
class Question:
    """Something the user must decide, about a call."""

    session: str
    call: CallShown
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a prompt."""

    media_type: str
    base64: str


@dataclass(frozen=True, slots=True)
class ToolServer:
    """A server of the Model Context Protocol that the client wants its session to have."""

    name: str
    command: tuple[str, ...] = ()
    """Program and arguments; empty for a server that is reached by URL."""
    environment: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens of the whole session."""

    input: int
    output: int
    cached: int
    """Of the input."""
    reasoning: int
    """Of the output."""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """How the work on a prompt ended."""

    state: Literal["completed", "failed", "cancelled"]
    error: str
    """Why it failed and what to do, in the user's language."""
    spent: Spent


@dataclass(frozen=True, slots=True)
class SessionListed:
    """One session on disk."""

    id: str
    folder: str
    title: str
    updated: float
    """Seconds since 1970."""


class Client(ABC):
    """Who shows a session to its user."""

    @abstractmethod
    async def choose(self, question: Question) -> str:
        """Return the id of the option chosen; empty without an answer."""

    @abstractmethod
    async def write(self, session: str, text: str) -> str:
        """Return what the user writes as an answer; empty without one."""
