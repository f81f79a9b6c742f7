"""Diagnostics that are not findings of the analysis, by file: the feature `diagnostics` shows them
with the findings, so that neither replaces the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lsprotocol import types

from jarvis_ls.lsp.events import Event

WHOLE_LINE = 10_000
"""A character beyond the end of a line means its end."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something to be said about a line."""

    line: int
    """From 1, in the file as it was when the note was made."""
    message: str
    severity: types.DiagnosticSeverity
    code: str
    function: str = ""
    """The function it is about: where it is in an open document, the note goes with it."""
    below: int = 0
    """Lines below the first of that function."""
    columns: tuple[int, int] | None = None
    """First character and the one behind the last, from 0; None: the whole line."""
    lines: int = 0
    """Lines that it covers below its first."""


class Notes:
    """Notes of all sources."""

    def __init__(self) -> None:
        self._by_key: dict[str, dict[str, list[Note]]] = {}
        self._serials: dict[str, int] = {}
        self.changed: Event[str] = Event("notes changed")
        """A file whose notes are others than before."""

    def replace(self, source: str, notes: Mapping[str, list[Note]], among: Iterable[str]) -> None:
        """Take all notes of a source about the files with keys `among`; who has none loses his."""
        for key in {*among, *notes}:
            held = self._by_key.setdefault(key, {})
            new = notes.get(key, [])
            if held.get(source, []) == new:
                continue
            held[source] = new
            self._serials[key] = self._serials.get(key, 0) + 1
            self.changed.fire(key)

    def keys(self, source: str) -> list[str]:
        """Files a source has notes about."""
        return [key for key, held in self._by_key.items() if held.get(source)]

    def serial(self, key: str) -> int:
        """Return a number that changes with the notes of a file."""
        return self._serials.get(key, 0)

    def diagnostics(
        self, key: str, functions: Iterable[tuple[str, int, int]]
    ) -> list[types.Diagnostic]:
        """Return the notes of a file; `functions` are name, first and last line of those it has
        now.
        """
        held = self._by_key.get(key)
        if not held:
            return []
        lines = {name: (first, last) for name, first, last in functions}
        return [
            _diagnostic(note, _line(note, lines.get(note.function)), source)
            for source, notes in held.items()
            for note in notes
        ]


def _line(note: Note, extent: tuple[int, int] | None) -> int:
    return note.line if extent is None else min(extent[0] + note.below, extent[1])


def _diagnostic(note: Note, line: int, source: str) -> types.Diagnostic:
    first, last = note.columns or (0, WHOLE_LINE)
    start = types.Position(max(0, line - 1), first)
    end = types.Position(start.line + note.lines, last)
    return types.Diagnostic(
        types.Range(start, end), note.message, note.severity, code=note.code, source=source
    )
