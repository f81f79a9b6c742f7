"""What an editor and the process that holds its documents tell each other.

Apart from the analysis, so that the server can read the answers without loading it.
"""

from __future__ import annotations

from dataclasses import dataclass

from jarvis_ls.core.finding import Finding


@dataclass(frozen=True, slots=True)
class TextChange:
    """One edit as LSP sends it: 0-based lines and UTF-16 columns; no range replaces all."""

    text: str
    """What is there afterwards."""
    range: tuple[int, int, int, int] | None = None
    """Start line, start character, end line, end character; None for the whole text."""


@dataclass(frozen=True, slots=True)
class LiveResult:
    """Findings of one version of a document."""

    version: int
    """The version that was analysed."""
    findings: list[Finding]
    """In order of position, suppressed ones included."""
    notes: list[str]
    """What could not be analysed, in words."""
    functions: list[tuple[str, int, int]]
    """Name, first and last line (1-based) of each function."""
    declarations: str
    """Digest of what the document declares to files that include it."""
    more: bool = False
    """Whether flow has more to follow: asked again, it knows more."""
    settled: bool = True
    """Whether flow has followed all functions of the document, as far as it is asked to."""
    others: tuple[str, ...] = ()
    """URIs of other open documents in which something else is known now."""


@dataclass(frozen=True, slots=True)
class ValueHint:
    """What is known of memory or of a value behind a place."""

    line: int
    """1-based."""
    column: int
    """1-based, in UTF-16 units."""
    size: int
    """Bytes of the memory; -1 when it is about a value."""
    source: str
    """What brings the value from outside; empty when it is about memory."""
