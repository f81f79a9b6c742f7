"""Everything known of the workspace's findings: of open documents and of files on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from jarvis_ls.core.finding import Finding
from jarvis_ls.lsp.events import Event


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


class FindingStore:
    """Files by key (see `DocumentLocation`); what is open wins over what is on disk."""

    def __init__(self) -> None:
        self._open: dict[str, FileState] = {}
        self._disk: dict[str, FileState] = {}
        self._serial = 0
        self.analysed: Event[str] = Event("document analysed")
        """An open document, whether its findings changed or not."""
        self.changed: Event[str] = Event("findings changed")
        """A file whose findings are others than before."""

    def get(self, key: str) -> FileState | None:
        """Return what is known of a file; None when it was never analysed."""
        return self._open.get(key) or self._disk.get(key)

    def __iter__(self) -> Iterator[tuple[str, FileState]]:
        for key in {**self._disk, **self._open}:
            state = self.get(key)
            if state is not None:
                yield key, state

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
        return sum(len(state.active) for _key, state in self)

    def put_open(self, key: str, state: FileState) -> None:
        """Take the findings of an open document."""
        before = self._open.get(key)
        self._open[key] = state
        same = before is not None and _visible_parts(before) == _visible_parts(state)
        state.serial = before.serial if same and before else self._next()
        self.analysed.fire(key)
        if not same:
            self.changed.fire(key)

    def put_disk(self, key: str, findings: list[Finding], raw: list[Finding]) -> None:
        """Take the findings of a file on disk; none when it is gone."""
        before = self._disk.pop(key, None)
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
        if self._open.pop(key, None) is not None:
            self.changed.fire(key)

    def _next(self) -> int:
        self._serial += 1
        return self._serial


def _visible_parts(state: FileState) -> tuple[object, ...]:
    return state.findings, state.notes, state.timed_out
