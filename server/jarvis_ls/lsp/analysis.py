"""What the features need from the processes that analyse; none of it runs on the event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from jarvis_ls.core.finding import Finding
from jarvis_ls.lsp.findings import FunctionRange

Change = tuple[tuple[int, int, int, int] | None, str]
"""A replaced range (0-based line and UTF-16 character of start and end; None: everything) and
the text that took its place."""


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """What analysing an open document gave."""

    version: int
    """Version of the document it belongs to."""
    findings: list[Finding]
    """In order of position, suppressed and baselined ones too."""
    functions: list[FunctionRange]
    """Its functions."""
    notes: list[str]
    """What of it was not analysed."""


@dataclass(frozen=True, slots=True)
class FileResult:
    """What analysing a file on disk gave."""

    path: str
    """Absolute path."""
    findings: list[Finding]
    """As for a document."""
    skipped: str | None
    """Why it was not analysed, or None when it was."""


@dataclass(frozen=True, slots=True)
class RulePage:
    """A rule as its page shows it."""

    id: str
    """Its name."""
    title: str
    """First line of the page."""
    page: str
    """Markdown."""
    languages: tuple[str, ...]
    """Grammars it runs on."""
    category: str
    """Its family."""
    cwe: tuple[int, ...]
    """Weaknesses."""
    severity: str
    """The worst it can be."""
    fixable: bool
    """Whether it can offer a rewrite."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the client's settings and trust mean for the analysis."""

    min_confidence: float
    """Findings below are left out."""
    rules: dict[str, str]
    """Rule to `off`, `low`, `medium`, `high`."""
    exclude: tuple[str, ...]
    """Globs of files that are not analysed."""
    max_file_size: int
    """In bytes."""
    trusted: bool
    """Whether the folders' own `.jarvis/jsec.toml` may loosen the settings."""


class Analysis(Protocol):
    """The analysis processes as the features see them."""

    async def configure(self, folders: Sequence[str], options: Options) -> list[str]:
        """Use these folders and settings; return complaints about settings files."""
        ...

    def open(self, uri: str, path: str | None, language_id: str, text: str, version: int) -> None:
        """Take over the text of a document."""
        ...

    def change(self, uri: str, changes: Sequence[Change], version: int) -> None:
        """Follow an edit."""
        ...

    def close(self, uri: str) -> None:
        """Forget the text of a document."""
        ...

    async def analyse(self, uri: str) -> DocumentResult:
        """Analyse an open document as it is now.

        Raises `WorkerGone` when it takes too long; the process is started anew by itself.
        """
        ...

    def scan(self, folder: str) -> AsyncIterator[FileResult]:
        """Analyse every file below a folder in other processes; closing it ends the work."""
        ...

    async def rules(self) -> list[RulePage]:
        """Return every rule."""
        ...

    async def stop(self) -> None:
        """End the processes."""
        ...
