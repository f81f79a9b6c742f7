"""Everything known of the workspace's findings: of open documents and of files on disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from jarvis_ls.core.finding import Finding, Span
from jarvis_ls.lsp.events import Event


@dataclass(frozen=True, slots=True)
class FunctionRange:
    """A function of a document, for code lenses."""

    name: str
    """Its name."""
    span: Span
    """All of it."""


@dataclass(slots=True)
class FileState:
    """What is known of one file."""

    findings: list[Finding]
    """In order of position; suppressed and baselined ones too."""
    version: int | None = None
    """Version of the open document they belong to; None: the file on disk."""
    functions: list[FunctionRange] = field(default_factory=list)
    """Its functions, when it is open."""
    notes: list[str] = field(default_factory=list)
    """What of it was not analysed."""

    @property
    def active(self) -> list[Finding]:
        """Findings that are neither suppressed nor in the baseline."""
        return [finding for finding in self.findings if not finding.suppressed]


class FindingStore:
    """Files by URI; what is open wins over what is on disk."""

    def __init__(self) -> None:
        self._open: dict[str, FileState] = {}
        self._disk: dict[str, FileState] = {}
        self.changed: Event[str] = Event("findings changed")

    def get(self, uri: str) -> FileState | None:
        """Return what is known of a file; None when it was never analysed."""
        return self._open.get(uri) or self._disk.get(uri)

    def on_disk(self, uri: str) -> FileState | None:
        """Return what is known of the file as it is on disk."""
        return self._disk.get(uri)

    def __iter__(self) -> Iterator[tuple[str, FileState]]:
        for uri in {**self._disk, **self._open}:
            state = self.get(uri)
            if state is not None:
                yield uri, state

    def uris_on_disk(self) -> list[str]:
        """Return the files known from disk."""
        return list(self._disk)

    def count(self) -> int:
        """Return the number of findings that are neither suppressed nor in the baseline."""
        return sum(len(state.active) for _uri, state in self)

    def put_open(self, uri: str, state: FileState) -> None:
        """Take the findings of an open document."""
        self._open[uri] = state
        self.changed.fire(uri)

    def put_disk(self, uri: str, findings: list[Finding]) -> None:
        """Take the findings of a file on disk."""
        before = self._disk.get(uri)
        if findings:
            self._disk[uri] = FileState(findings)
        else:
            self._disk.pop(uri, None)
        if uri not in self._open and (findings or before is not None):
            self.changed.fire(uri)

    def close(self, uri: str) -> None:
        """The document is no longer open: the file on disk counts again."""
        if self._open.pop(uri, None) is not None:
            self.changed.fire(uri)
