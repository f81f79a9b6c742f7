"""The `#include` lines that a rewrite needs for the names it introduces."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from jarvis_ls.codeintel.declarations import Facts
from jarvis_ls.codeintel.include_insertion import include_place
from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import Edit

_NULL = ("stddef.h", "stdio.h", "stdlib.h", "string.h", "time.h", "locale.h", "wchar.h", "unistd.h")

HEADERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("snprintf", "vsnprintf", "fgets", "stdin", "perror"), ("stdio.h",)),
    **dict.fromkeys(("calloc", "free", "abort", "mkstemp"), ("stdlib.h",)),
    **dict.fromkeys(
        ("strcmp", "strlen", "strncat", "strncpy", "strcspn", "explicit_bzero"), ("string.h",)
    ),
    **dict.fromkeys(("asctime_r", "ctime_r", "gmtime_r", "localtime_r"), ("time.h",)),
    **dict.fromkeys(("fork", "getcwd"), ("unistd.h",)),
    "SIZE_MAX": ("stdint.h", "inttypes.h"),
    "NULL": _NULL,
    "std::setw": ("iomanip",),
}
"""The names that rewrites introduce, with the headers that declare them: the first is added when
the file has none of them."""

_MACROS = frozenset({"NULL", "SIZE_MAX"})
_NAME = re.compile(r"(?:std::)?[A-Za-z_]\w*")
_KERNEL = ("linux/", "asm/", "xen/")
"""Headers of programs that run without the standard library."""


class Includes:
    """What a file includes, and where one more line would go."""

    def __init__(
        self,
        source: Source,
        language: LanguageName,
        root: Node,
        facts: Facts,
        headers: Iterable[Facts],
    ) -> None:
        """`facts` are all that is declared to the file, `headers` those of the project's headers
        behind it."""
        self._source = source
        self._language = language
        self._root = root
        self._facts = facts
        self._headers = headers
        self._place: tuple[int, str, str] | None = None
        self._held: dict[str, bool] = {}

    def needed(self, edits: Iterable[Edit]) -> tuple[Edit, ...]:
        """Return the insertions that bring what a rewrite introduces; none when the file has it."""
        if self._language == "rust":
            return ()
        names = [name for edit in edits for name in self._new_names(edit)]
        wanted = [HEADERS[name] for name in dict.fromkeys(names) if not self._has(name)]
        if not wanted:
            return ()
        included = self._reached_headers
        if any(header.startswith(_KERNEL) for header in included):
            return ()
        missing = [some[0] for some in wanted if included.isdisjoint(some)]
        return tuple(self._line(header) for header in dict.fromkeys(missing))

    def _new_names(self, edit: Edit) -> list[str]:
        names = [name for name in _NAME.findall(edit.new_text) if name in HEADERS]
        if not names:
            return []
        source, span = self._source, edit.span
        start = source.offset(span.line, span.column)
        end = source.offset(span.end_line, span.end_column)
        before = set(_NAME.findall(source.data[start:end].decode("utf-8", "replace")))
        return [name for name in names if name not in before]

    def _has(self, name: str) -> bool:
        """Return whether a name is declared, or a macro that the file uses already."""
        held = self._held.get(name)
        if held is None:  # the same few names are asked for, each a search of the whole file
            written = rb"\b%b\b" % name.encode() if name in _MACROS else b""
            used = bool(written) and re.search(written, self._source.data) is not None
            held = self._held[name] = used or self._declares(name)
        return held

    def _declares(self, name: str) -> bool:
        facts = self._facts
        known = (facts.functions, facts.macros, facts.function_macros, facts.variables)
        return any(name in names for names in known)

    @functools.cached_property
    def _reached_headers(self) -> set[str]:
        """Headers the file reaches, those of C++ by their names in C; what is behind an `#if`
        counts."""
        reached = [
            *self._facts.includes,
            *(include for some in self._headers for include in some.includes),
        ]
        return {_name_in_c(name) for name in reached} | set(reached)

    def _line(self, header: str) -> Edit:
        if self._place is None:
            self._place = include_place(self._root, self._source.data)
        at, before, behind = self._place
        return Edit(self._source.span(at, at), f"{before}#include <{header}>{behind}")


def is_include(edit: Edit) -> bool:
    """Return whether an edit only inserts an `#include`: several rewrites may want the same, and
    several such lines go to one place.
    """
    span = edit.span
    empty = (span.line, span.column) == (span.end_line, span.end_column)
    return empty and edit.new_text.lstrip().startswith("#include <")


def _name_in_c(header: str) -> str:
    return f"{header[1:]}.h" if header.startswith("c") and "." not in header else header
