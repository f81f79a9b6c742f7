"""What an observer of agents sees: one closed union of events, all of them upserts by id.

A panel, a terminal or a test that has seen every event from the beginning, or one `snapshot`
and every event after it, shows the same thing. Streamed text is the only delta: `EntryGrew`
names the offset it continues from, so that one seen twice or late does no harm.

The hooks that extensions subscribe to (before a model call, after a tool call, …) are something
else: see `hooks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from jarvis_ls.runtime.base.messages import Image, Usage

NodeState = Literal["created", "running", "paused", "completed", "failed", "cancelled"]
NodeKind = Literal["root", "child", "act"]
ToolState = Literal["asked", "running", "done", "failed", "denied", "cancelled"]
Level = Literal["info", "warning", "error"]
ModelWrong = Literal["", "none", "key", "credit", "model", "address", "busy", "other"]
"""What is wrong with a model: none is configured, its key, the account, its name, the address, it
is busy now, or something else."""
Grown = Literal["text", "thinking", "output"]
StepState = Literal["pending", "active", "done", "dropped"]
TaskState = Literal["waiting", "running", "done", "failed", "skipped", "cancelled"]
TaskGraphState = Literal["running", "done", "failed", "stopped"]
FaultCause = Literal["timeout", "stuck", "errors", "failed"]
"""What is wrong with a task: it takes too long, makes no progress, its tool calls fail, or it has
failed."""
CorrectionKind = Literal["wait", "redirect", "adjust", "restart", "retry", "give_up"]
Mode = Literal["ask", "edits", "plan"]
"""`ask`: changes and programs are asked for. `edits`: changes of files in the workspace are written
without being shown first. `plan`: nothing is written or run."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """One place where a proposed edit changes a file."""

    index: int
    """From 0, in the order of the file."""
    old_start: int
    """First line before, from 1."""
    old_lines: tuple[str, ...]
    """Lines that go, without line ends."""
    new_start: int
    """First line after, from 1."""
    new_lines: tuple[str, ...]
    """Lines that come, without line ends."""
    before: tuple[str, ...] = ()
    """Lines of context above."""
    after: tuple[str, ...] = ()
    """Lines of context below."""


@dataclass(frozen=True, slots=True)
class ProposedEdit:
    """A change of one file that no one has written yet."""

    path: str
    """From the root it is in, with forward slashes."""
    change: Literal["create", "modify", "delete"]
    hunks: tuple[Hunk, ...]
    root: int = 0
    """Which of the workspace's folders."""


@dataclass(frozen=True, slots=True)
class AskedTarget:
    """One thing a tool wants to do that needs consent."""

    kind: Literal["read", "write", "execute", "connect"]
    target: str
    """Made visible: no character of it is invisible or changes direction."""


@dataclass(frozen=True, slots=True)
class UserEntry:
    """What the user said."""

    id: str
    text: str
    images: tuple[Image, ...] = ()
    queued: bool = False
    """Not yet read by the agent, which is still busy."""
    checkpoint: str = ""
    """Files as they were before this turn can be brought back by this id; empty without."""
    kind: Literal["user"] = "user"


@dataclass(frozen=True, slots=True)
class AnswerEntry:
    """What the model said in one answer."""

    id: str
    text: str = ""
    thinking: str = ""
    streaming: bool = False
    model: str = ""
    """`provider/model`."""
    usage: Usage = field(default_factory=Usage)
    kind: Literal["answer"] = "answer"


@dataclass(frozen=True, slots=True)
class ScriptRun:
    """A script that a tool runs, where, and what it can reach."""

    language: str
    """Program that runs it: bash, python3, …"""
    text: str
    """Made visible: no character of it is invisible or changes direction."""
    folder: str
    """Workspace folder it runs in, on a copy."""
    network: bool
    """Whether it can use the network."""
    isolation: str
    """Rung of the sandbox; `none` without one, empty when it is not known."""


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """One tool call, from its wish to its result."""

    id: str
    """Unique in the session; not the provider's id."""
    name: str
    arguments: str
    """As JSON, indented, made visible; cut when long."""
    state: ToolState
    output: str = ""
    seconds: float = 0.0
    """It worked; the time it waited for the user's consent does not count."""
    asked: tuple[AskedTarget, ...] = ()
    """What needs consent while the state is `asked`."""
    reason: str = ""
    """Why it is asked, or why it was refused."""
    edits: tuple[ProposedEdit, ...] = ()
    """Files it wants to change, or has changed."""
    isolation: str = ""
    """Rung of the sandbox it ran on."""
    child: str = ""
    """Id of the node it created."""
    lasting: bool = False
    """Whether consent can hold for later calls too."""
    script: ScriptRun | None = None
    """What it runs, when it runs a script."""
    background: str = ""
    """Name of the script in the background that it started, and whose state it shows."""
    kind: Literal["tool"] = "tool"


@dataclass(frozen=True, slots=True)
class NoticeEntry:
    """Something the runtime says: a wait, a retry, a summary, a budget, an error."""

    id: str
    level: Level
    text: str
    wrong: ModelWrong = ""
    """What a person has to see to, when a model could not be asked or did not answer."""
    provider: str = ""
    """Whose model that is, as it is named in settings; empty when there is none."""
    kind: Literal["notice"] = "notice"


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step of a plan."""

    text: str
    state: StepState = "pending"


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """The agent's plan, kept up to date."""

    id: str
    steps: tuple[PlanStep, ...]
    kind: Literal["plan"] = "plan"


@dataclass(frozen=True, slots=True)
class QuestionEntry:
    """A question to the user that is no permission: what next, yes or no, a text."""

    id: str
    text: str
    choices: tuple[str, ...] = ()
    """Answers offered; empty means free text."""
    answer: str | None = None
    """None while it waits."""
    kind: Literal["question"] = "question"


@dataclass(frozen=True, slots=True)
class Correction:
    """What was done about a task that did not go as it should."""

    cause: FaultCause
    kind: CorrectionKind
    text: str = ""
    """Why, or what the agent was told."""


@dataclass(frozen=True, slots=True)
class TaskShown:
    """One task of a graph."""

    id: str
    title: str
    needs: tuple[str, ...] = ()
    """Ids of the tasks that are done before it."""
    state: TaskState = "waiting"
    node: str = ""
    """Id of the agent that works on it; empty before it begins."""
    attempts: int = 0
    corrections: tuple[Correction, ...] = ()
    error: str = ""
    """Why it is not done, in words for the user."""


@dataclass(frozen=True, slots=True)
class TaskGraphEntry:
    """The tasks of auto mode, each of which comes after those that it needs."""

    id: str
    tasks: tuple[TaskShown, ...]
    state: TaskGraphState = "running"
    kind: Literal["tasks"] = "tasks"


Entry = (
    UserEntry | AnswerEntry | ToolEntry | NoticeEntry | PlanEntry | TaskGraphEntry | QuestionEntry
)


@dataclass(frozen=True, slots=True)
class Budget:
    """What a node and all below it may spend; None means no limit."""

    tokens: int | None = None
    """Input and output together."""
    cost: float | None = None
    """In the currency of the configured prices."""


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """One agent of the tree."""

    id: str
    parent: str | None
    kind: NodeKind
    title: str
    state: NodeState = "created"
    activity: str = ""
    """What it does right now, in a few words."""
    group: str = ""
    """Model group."""
    rounds: int = 0
    progress: float | None = None
    """0 to 1, when it is known."""
    usage: Usage = field(default_factory=Usage)
    """Of this node alone."""
    subtree: Usage = field(default_factory=Usage)
    """Of this node and all below it."""
    budget: Budget = field(default_factory=Budget)
    error: str = ""
    """Why it failed, in words for the user."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One session as lists show it."""

    id: str
    """UUIDv7."""
    title: str
    folder: str
    """First folder of the workspace."""
    created: float
    """Seconds since 1970."""
    updated: float
    """Seconds since 1970."""
    usage: Usage = field(default_factory=Usage)
    """Of all its nodes."""
    messages: int = 0
    working: bool = False
    mode: Mode = "ask"
    """How much its agents may do without being asked."""
    in_copy: bool = False
    """Whether its agents change a copy of the user's files, and the user decides on the whole."""


@dataclass(frozen=True, slots=True)
class Meter:
    """How full a node's context is."""

    window: int
    """Tokens the model takes."""
    parts: dict[str, int] = field(default_factory=dict)
    """Tokens by category: system, rules, tools, memory, files, history."""


@dataclass(frozen=True, slots=True)
class EntryPut:
    """An entry is new, or is now this."""

    session: str
    node: str
    entry: Entry
    kind: Literal["entry_put"] = "entry_put"


@dataclass(frozen=True, slots=True)
class EntryGrew:
    """Text was added to an entry."""

    session: str
    node: str
    entry: str
    """Its id."""
    part: Grown
    at: int
    """Length of the part before, in code points."""
    text: str
    kind: Literal["entry_grew"] = "entry_grew"


@dataclass(frozen=True, slots=True)
class EntriesCut:
    """Entries from this one on are gone: the conversation was rewound."""

    session: str
    node: str
    first: str
    """Id of the first that is gone."""
    kind: Literal["entries_cut"] = "entries_cut"


@dataclass(frozen=True, slots=True)
class NodePut:
    """A node is new, or is now this."""

    session: str
    node: NodeInfo
    kind: Literal["node_put"] = "node_put"


@dataclass(frozen=True, slots=True)
class NodeGone:
    """A node was removed from the tree."""

    session: str
    node: str
    kind: Literal["node_gone"] = "node_gone"


@dataclass(frozen=True, slots=True)
class SessionPut:
    """A session is new, or is now this."""

    session: SessionInfo
    kind: Literal["session_put"] = "session_put"


@dataclass(frozen=True, slots=True)
class MeterPut:
    """How full a node's context is now."""

    session: str
    node: str
    meter: Meter
    kind: Literal["meter_put"] = "meter_put"


Event = EntryPut | EntryGrew | EntriesCut | NodePut | NodeGone | SessionPut | MeterPut
Observer = Callable[[Event], None]


class Feed:
    """Passes events on to observers, and keeps what they add up to."""

    def __init__(self) -> None:
        self._observers: list[Observer] = []
        self._sessions: dict[str, _Session] = {}

    def publish(self, event: Event) -> None:
        """Tell every observer, in the order they came; observers must not raise or block."""
        self._keep(event)
        for observer in tuple(self._observers):
            observer(event)

    def observe(self, observer: Observer) -> Callable[[], None]:
        """Tell `observer` of every event from now on; the result ends that."""
        self._observers.append(observer)
        return lambda: self._observers.remove(observer) if observer in self._observers else None

    def snapshot(self, session: str) -> list[Event]:
        """Events that say all there is to say of a session; none when it is not known."""
        known = self._sessions.get(session)
        return list(known.events(session)) if known is not None else []

    def forget(self, session: str) -> None:
        """Keep nothing of a session any more."""
        self._sessions.pop(session, None)

    def _keep(self, event: Event) -> None:
        name = event.session.id if isinstance(event, SessionPut) else event.session
        session = self._sessions.setdefault(name, _Session())
        if isinstance(event, SessionPut):
            session.info = event.session
        elif isinstance(event, NodePut):
            session.nodes[event.node.id] = event.node
        elif isinstance(event, NodeGone):
            for kept in (session.nodes, session.entries, session.meters):
                kept.pop(event.node, None)
        elif isinstance(event, MeterPut):
            session.meters[event.node] = event.meter
        elif isinstance(event, EntryPut):
            session.entries.setdefault(event.node, {})[event.entry.id] = event.entry
        elif isinstance(event, EntryGrew):
            session.grow(event)
        else:
            session.cut(event)


@dataclass
class _Session:
    info: SessionInfo | None = None
    nodes: dict[str, NodeInfo] = field(default_factory=dict)
    entries: dict[str, dict[str, Entry]] = field(default_factory=dict)
    meters: dict[str, Meter] = field(default_factory=dict)

    def grow(self, event: EntryGrew) -> None:
        known = self.entries.get(event.node, {}).get(event.entry)
        if known is None or not hasattr(known, event.part):
            return
        text = getattr(known, event.part)[: event.at] + event.text
        self.entries[event.node][event.entry] = replace(known, **{event.part: text})

    def cut(self, event: EntriesCut) -> None:
        entries = self.entries.get(event.node, {})
        if event.first in entries:
            ids = list(entries)
            for gone in ids[ids.index(event.first) :]:
                del entries[gone]

    def events(self, name: str) -> Iterator[Event]:
        if self.info is not None:
            yield SessionPut(self.info)
        for node in self.nodes.values():
            yield NodePut(name, node)
        for of, entries in self.entries.items():
            for entry in entries.values():
                yield EntryPut(name, of, entry)
        for of, meter in self.meters.items():
            yield MeterPut(name, of, meter)
