"""The watch of auto mode over its agents: which take too long, make no progress, or only fail.

`AutoWatch` is told every event and looks now and then; it only says what is wrong. Time in which a
person is asked, or an agent is held, does not count.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from jarvis_ls.agents.auto_settings import AutoSettings
from jarvis_ls.agents.node import Node
from jarvis_ls.agents.tree import Tree
from jarvis_ls.runtime.base.events import (
    EntryGrew,
    EntryPut,
    Event,
    FaultCause,
    QuestionEntry,
    ToolEntry,
    UserEntry,
)

FEWEST = 4
"""Tool calls of which more than the allowed share must have failed."""
FAILED_STATES = frozenset({"failed", "denied"})
ENDED_STATES = frozenset({"done", *FAILED_STATES})


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with an agent."""

    node: str
    cause: FaultCause
    seconds: float
    """It has worked, or made no progress."""
    failed: int = 0
    calls: int = 0
    """Tool calls that have ended, `failed` of them without success."""


@dataclass(slots=True)
class _Watched:
    timeout: float
    worked: float = 0.0
    """Seconds."""
    idle: float = 0.0
    """Seconds since the last progress."""
    patience: float = 1.0
    """How many times longer than usual it may make no progress."""
    has_moved: bool = False
    calls: int = 0
    failed: int = 0
    ended: set[str] = field(default_factory=set)
    """Tool calls that were counted."""
    asking: set[str] = field(default_factory=set)
    """Entries that wait for a person."""
    is_handled: bool = False
    """Whether something is being done about it."""


class AutoWatch:
    """Watches the agents of tasks, each with all below it."""

    def __init__(self, tree: Tree, settings: AutoSettings) -> None:
        self._tree = tree
        self._settings = settings
        self._watched: dict[str, _Watched] = {}

    def begin(self, node: str, stretch: float = 1.0) -> None:
        """Watch an agent that begins; its time is `stretch` times the usual one."""
        self._watched[node] = _Watched(self._settings.timeout * stretch)

    def end(self, node: str) -> None:
        """Watch an agent no longer."""
        self._watched.pop(node, None)

    def calm(self, node: str, *, patience: float = 1.0, stretch: float = 1.0) -> None:
        """Look at an agent again after something was done about it, with `patience` and `stretch`
        times as much time as before."""
        if (known := self._watched.get(node)) is None:
            return
        known.is_handled = False
        known.idle, known.has_moved = 0.0, False
        known.calls = known.failed = 0
        known.patience *= patience
        known.timeout *= stretch

    def observe(self, event: Event) -> None:
        """Take in what an agent does."""
        if not isinstance(event, (EntryPut, EntryGrew)) or event.session != self._tree.session.id:
            return
        if event.node not in self._tree:
            return
        for node in self._tree.node(event.node).lineage():
            if (known := self._watched.get(node.id)) is not None:
                _take(known, event)

    def look(self, seconds: float) -> list[Trouble]:
        """Return what is wrong with whom, `seconds` after the last look."""
        found = []
        for id, known in self._watched.items():
            if id in self._tree and not known.is_handled:
                trouble = self._judge(self._tree.node(id), known, seconds)
                if trouble is not None:
                    known.is_handled = True
                    found.append(trouble)
        return found

    def _judge(self, node: Node, known: _Watched, seconds: float) -> Trouble | None:
        if node.state != "running" or not node.open.is_set() or known.asking:
            known.idle = 0.0
            return None
        known.worked += seconds
        known.idle = 0.0 if known.has_moved else known.idle + seconds
        known.has_moved = False
        limits = self._settings
        if known.worked > known.timeout:
            return Trouble(node.id, "timeout", known.worked)
        if known.calls >= FEWEST and known.failed > known.calls * limits.error_rate:
            return Trouble(node.id, "errors", known.worked, known.failed, known.calls)
        # a look is never exactly an interval after the last
        if known.idle > (limits.stuck - 0.5) * limits.interval * known.patience:
            return Trouble(node.id, "stuck", known.idle)
        return None


def _take(known: _Watched, event: EntryPut | EntryGrew) -> None:
    if isinstance(event, EntryGrew):
        known.has_moved = True
        return
    entry = event.entry
    if isinstance(entry, UserEntry):
        return  # it was told something
    known.has_moved = True
    if isinstance(entry, QuestionEntry):
        _mark(known.asking, entry.id, entry.answer is None)
    elif isinstance(entry, ToolEntry):
        _mark(known.asking, entry.id, entry.state == "asked")
        if entry.state in ENDED_STATES and entry.id not in known.ended:
            known.ended.add(entry.id)
            known.calls += 1
            known.failed += entry.state in FAILED_STATES


def _mark(waiting: set[str], id: str, waits: bool) -> None:
    if waits:
        waiting.add(id)
    else:
        waiting.discard(id)
