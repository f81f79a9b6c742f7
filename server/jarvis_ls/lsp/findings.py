"""Everything known of the workspace's findings: of open documents and of files on disk.

Findings are many small objects, and Python gives the memory of small objects back only where none
of its neighbours is left. So a file that nobody has asked for lately is kept pickled, in one piece.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from jarvis_ls.core.finding import Finding
from jarvis_ls.lsp.events import Event

_AT_HAND = 32
"""Files whose findings are kept as they are asked for."""


@dataclass(slots=True)
class FileState:
    """What is known of one file."""

    findings: list[Finding]
    """In order of position; suppressed and baselined ones too."""
    raw: list[Finding] = field(default_factory=list)
    """The same before settings and baseline had their say."""
    version: int | None = None
    """Version of the open document they belong to; None: the file on disk."""
    functions: list[tuple[str, int, int]] = field(default_factory=list)
    """Name, first and last line (1-based) of its functions, when it is open."""
    notes: list[str] = field(default_factory=list)
    """What of it was not analysed."""
    timed_out: bool = False
    """True when the analysis took too long and was ended."""
    settled: bool = True
    """False as long as values are still followed in it: some findings are missing, others may be
    told otherwise."""
    serial: int = 0
    """Changes when something to be shown has changed."""

    def shows(self, other: FileState) -> bool:
        """Return whether both look the same to the user."""
        return _visible_parts(self) == _visible_parts(other)

    @property
    def active(self) -> list[Finding]:
        """Findings that are neither suppressed nor in the baseline."""
        return [finding for finding in self.findings if not finding.suppressed]


@dataclass(slots=True)
class _Entry:
    """What is kept of one file: its state, or what `pickle` made of it, or both."""

    state: FileState | None
    packed: bytes = b""
    active: int = 0
    """Number of its active findings, known once it is packed."""


class _States:
    """States of files by key; all but the `_AT_HAND` that were asked for last are pickled."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._at_hand: OrderedDict[str, None] = OrderedDict()

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def __setitem__(self, key: str, state: FileState) -> None:
        self._entries[key] = _Entry(state)
        self._take_in_hand(key)

    def get(self, key: str) -> FileState | None:
        """Return the state of a file; None when there is none."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        if entry.state is None:
            entry.state = pickle.loads(entry.packed)
        self._take_in_hand(key)
        return entry.state

    def peek(self, key: str) -> FileState:
        """Return the state of a file, which stays pickled if it is."""
        entry = self._entries[key]
        state: FileState = pickle.loads(entry.packed) if entry.state is None else entry.state
        return state

    def pop(self, key: str) -> FileState | None:
        """Remove a file; return its state, or None when there was none."""
        state = self.get(key)
        self._entries.pop(key, None)
        self._at_hand.pop(key, None)
        return state

    def settle(self, key: str, settled: bool) -> None:
        """Note whether values are still followed in a file."""
        state = self.get(key)
        if state is not None and state.settled != settled:
            self[key] = replace(state, settled=settled)

    def active(self, key: str) -> int:
        """Return the number of active findings of a file."""
        entry = self._entries[key]
        return entry.active if entry.state is None else len(entry.state.active)

    def _take_in_hand(self, key: str) -> None:
        self._at_hand[key] = None
        self._at_hand.move_to_end(key)
        if len(self._at_hand) <= _AT_HAND:
            return
        entry = self._entries[self._at_hand.popitem(last=False)[0]]
        if entry.state is not None and not entry.packed:
            entry.active = len(entry.state.active)
            entry.packed = pickle.dumps(entry.state, pickle.HIGHEST_PROTOCOL)
        entry.state = None


class FindingStore:
    """Files by key (see `DocumentLocation`); what is open wins over what is on disk."""

    def __init__(self) -> None:
        self._open = _States()
        self._disk = _States()
        self._serial = 0
        self.analysed: Event[str] = Event("document analysed")
        """An open document, whether its findings changed or not."""
        self.changed: Event[str] = Event("findings changed")
        """A file whose findings are others than before."""

    def get(self, key: str) -> FileState | None:
        """Return what is known of a file; None when it was never analysed."""
        return self._open.get(key) or self._disk.get(key)

    def __iter__(self) -> Iterator[tuple[str, FileState]]:
        for key, states in self._shown():
            yield key, states.peek(key)

    def is_open(self, key: str) -> bool:
        """Return whether findings of an open document are known."""
        return key in self._open

    def scanned(self, key: str) -> FileState | None:
        """Return what the scan found in a file that has findings, whether it is open or not."""
        return self._disk.get(key)

    def on_disk(self) -> list[str]:
        """Return the files with findings on disk."""
        return list(self._disk)

    def count(self) -> int:
        """Return the number of findings that are neither suppressed nor in the baseline."""
        return sum(states.active(key) for key, states in self._shown())

    def settle(self, key: str, settled: bool) -> None:
        """Note whether values are still followed in an open document whose findings are known."""
        self._open.settle(key, settled)

    def put_open(self, key: str, state: FileState) -> None:
        """Take the findings of an open document."""
        before = self._open.get(key)
        same = before is not None and _visible_parts(before) == _visible_parts(state)
        state.serial = before.serial if same and before else self._next()
        self._open[key] = state
        self.analysed.fire(key)
        if not same:
            self.changed.fire(key)

    def put_disk(self, key: str, findings: list[Finding], raw: list[Finding]) -> None:
        """Take the findings of a file on disk; none when it is gone."""
        before = self._disk.pop(key)
        if findings:
            self._disk[key] = FileState(findings, raw, serial=self._next())
        known = before.findings if before is not None else []
        if key not in self._open and findings != known:
            self.changed.fire(key)

    def rejudge(self, key: str, judge: Callable[[list[Finding]], list[Finding]]) -> None:
        """Have settings and baseline decide again about a file."""
        state = self._open.get(key)
        if state is not None:
            self.put_open(key, replace(state, findings=judge(state.raw)))
        state = self._disk.get(key)
        if state is not None:
            self.put_disk(key, judge(state.raw), state.raw)

    def close(self, key: str) -> None:
        """Return to the findings of the file on disk."""
        if self._open.pop(key) is not None:
            self.changed.fire(key)

    def _shown(self) -> list[tuple[str, _States]]:
        """Return every file, and where what is shown of it is kept."""
        keys = dict.fromkeys((*self._disk, *self._open))
        return [(key, self._open if key in self._open else self._disk) for key in keys]

    def _next(self) -> int:
        self._serial += 1
        return self._serial


def _visible_parts(state: FileState) -> tuple[object, ...]:
    return state.findings, state.notes, state.timed_out
