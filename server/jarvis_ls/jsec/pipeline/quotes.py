"""Quoted code is looked up: what a model says of a line counts only when the line says it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Protocol

from jarvis_ls.codeintel.source import Source, decode
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular

_LARGEST = 8_000_000
_LEAST = 4
"""Characters of a quote that is only a part of its line."""
_KEPT = 64
"""Files whose text is kept."""


class Quoted(Protocol):
    """A piece of code and where it is said to be."""

    file: str
    line: int
    code: str


class QuoteChecker:
    """Compares quotes with the files of a workspace."""

    def __init__(self, root: Path) -> None:
        """`root` is the real path of the workspace."""
        self._root = root
        self._texts: dict[str, Source | None] = {}

    def problems(self, quotes: Sequence[Quoted]) -> list[str]:
        """Return what is wrong, for a model. What the lines hold is not told: it must look."""
        return [told for quote in quotes if (told := self._problem(quote))]

    def _problem(self, quote: Quoted) -> str:
        where = f"{quote.file}:{quote.line}"
        wanted = [_words(line) for line in quote.code.splitlines() if line.strip()]
        if not wanted:
            return f"the quote of {where} is empty"
        source = self._source(quote.file)
        if source is None:
            return f"{quote.file} is not a source file of the workspace"
        last = quote.line + len(wanted) - 1
        if last > len(source.line_starts):
            return f"{quote.file} has only {len(source.line_starts)} lines"
        lines = [
            _words(source.line_text(number))
            for number in range(quote.line, len(source.line_starts) + 1)[: 2 * len(wanted) + 8]
        ]
        found = [lines[0], *(line for line in lines[1:] if line)][: len(wanted)]
        if len(found) == len(wanted) and all(map(_holds, found, wanted)):
            return ""
        return f"{where} does not hold what is quoted; read it again"

    def _source(self, file: str) -> Source | None:
        path = PurePosixPath(file)
        if path.is_absolute() or ".." in path.parts or "\0" in file or not file:
            return None
        if file not in self._texts:
            if len(self._texts) >= _KEPT:
                self._texts.pop(next(iter(self._texts)))
            try:
                data = read_regular(self._root / file, limit=_LARGEST, root=self._root)
                self._texts[file] = decode(file, data)
            except (SkippedFile, ValueError):
                self._texts[file] = None
        return self._texts[file]


def _holds(line: str, part: str) -> bool:
    """Return whether a line holds a quote that is long enough to say something, or is the line."""
    return part == line or (len(part) >= _LEAST and part in line)


def _words(line: str) -> str:
    """Return a line without what only lays it out."""
    return "".join(line.split())
