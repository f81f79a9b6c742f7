"""Which branch a `_Generic` takes where several have one type, and the types that `sizeof` asks of.

libclang tells neither the types of the branches nor the type in `sizeof (T[n])`. Both are in the
text of the function as the parser writes it, macros filled in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from jarvis_ls.codeintel import clang

_STRING = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'")
_GENERIC = re.compile(r"\b_Generic\(")
_ROW = re.compile(
    r"\bsizeof\(((?:const |volatile )*(?:(?:struct|union|enum) )?[\w ]+?)( ?\*+ ?)?"
    r"((?:\[\d+\])*\[[^][]*[A-Za-z_][^][]*\](?:\[[^][]*\])*)\)"
)
_PLAIN = re.compile(
    r"(?:const|volatile|signed|unsigned|char|short|int|long|float|double|_Bool|void|__int128"
    r"|(?:struct|union|enum) \w+|[\s*])+"
)
"""Types without names that represent others."""


WIDTHS = {
    **dict.fromkeys(("char", "signed char", "unsigned char", "_Bool"), 1),
    **dict.fromkeys(("short", "unsigned short"), 2),
    **dict.fromkeys(("int", "unsigned int", "float"), 4),
    **dict.fromkeys(("long", "unsigned long", "long long", "unsigned long long", "double"), 8),
}
"""Bytes of types that C itself names."""


def taken_branch(cursor: Any, branches: Sequence[int]) -> int | None:
    """Return which of `branches`, given by their places, a `_Generic` takes; None when that is not
    told.
    """
    text = _matching(cursor, _GENERIC, lambda _: True)
    if text is None:
        return None
    types = [part.rpartition(":")[0].strip() for part in _parts(text)[1:]]
    asked = clang.children(cursor)[0].type
    names = {asked.spelling, asked.get_canonical().spelling}
    names |= {re.sub(r"^(?:const |volatile )+", "", name) for name in names if "*" not in name}
    named = [place for place in branches if place < len(types) and types[place] in names]
    if len(named) == 1:
        return named[0]
    others = [types[place] for place in branches if types[place] != "default"]
    if named or len(others) == len(branches) or not all(map(_PLAIN.fullmatch, others)):
        return None
    return next(place for place in branches if types[place] == "default")


def _parts(text: str) -> list[str]:
    """Return what is between the commas of the parentheses that `text` begins within."""
    parts, depth = [""], 0
    for character in text:
        if character == ")" and depth == 0:
            break
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def row_asked_of(cursor: Any) -> tuple[str, bool, int] | None:
    """Return the element's name, whether it is a pointer, and the dimensions of the array whose
    size a
    `sizeof` is; None when that is not told."""
    text = _matching(cursor, _ROW, _is_of_a_row)
    match = None if text is None else _ROW.match(f"sizeof({text}")
    if match is None:
        return None
    element = re.sub(r"^(?:const |volatile )+", "", match[1]).strip()
    return element, bool(match[2]), match[3].count("[")


def _is_of_a_row(cursor: Any) -> bool:
    """Return whether a `sizeof` is of an array type whose length is worked out: libclang shows it
    once for the type and once more for the value.
    """
    return clang.constant(cursor) is None and len(clang.children(cursor)) > 1


def _matching(cursor: Any, pattern: re.Pattern[str], counts: Callable[[Any], bool]) -> str | None:
    """Return what follows the parenthesis that an expression begins with, in the text of its
    function. Told by counting, and None when tree and text do not have as many.
    """
    function = _around(cursor)
    if function is None:
        return None
    kinds = frozenset({cursor.kind.value})
    nodes = [descendant for descendant in clang.descendants(function, kinds) if counts(descendant)]
    text = _STRING.sub('""', clang.printed(function, whole=True))
    found = list(pattern.finditer(text))
    place = next((n for n, node in enumerate(nodes) if node.hash == cursor.hash), None)
    if place is None or len(nodes) != len(found):
        return None
    return text[found[place].start() :].partition("(")[2]


def _around(cursor: Any) -> Any | None:
    """Return the function that an expression is in."""
    at = cursor.extent.start
    for child in clang.children(cursor.translation_unit.cursor):
        if child.kind.name == "FUNCTION_DECL" and child.is_definition():
            start, end = child.extent.start, child.extent.end
            if (
                at.file
                and start.file
                and at.file.name == start.file.name
                and (start.offset <= at.offset < end.offset)
            ):
                return child
    return None
