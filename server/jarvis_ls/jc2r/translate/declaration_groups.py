"""Declarations that one text makes: `int f(void), g(void);`, and macros that make several.

What becomes of one of them cannot be written in its place, as that is the place of the others too:
all are written once more, one by one, as the parser has them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jarvis_ls.codeintel import clang

_NAMED = ("FUNCTION_DECL", "VAR_DECL")
_TYPES = ("STRUCT_DECL", "UNION_DECL", "ENUM_DECL", "TYPEDEF_DECL")


def groups(cursors: Sequence[Any]) -> list[list[Any]]:
    """Of the declarations of a file those that share their text, in their order, with the types
    that are defined in it."""
    found: list[tuple[int, list[Any]]] = []
    for cursor in sorted((cursor for cursor in cursors if cursor.kind.name in _NAMED), key=extent):
        start, end = extent(cursor)
        if found and start < found[-1][0]:
            found[-1] = (max(end, found[-1][0]), [*found[-1][1], cursor])
        else:
            found.append((end, [cursor]))
    result = []
    for end, named in found:
        if len(named) > 1:
            start = extent(named[0])[0]
            result.append(
                [
                    cursor
                    for cursor in cursors
                    if cursor.kind.name in (*_NAMED, *_TYPES)
                    and start <= extent(cursor)[0]
                    and extent(cursor)[1] <= end
                ]
            )
    return result


def extent(cursor: Any) -> tuple[int, int]:
    """Return where a declaration begins and ends, in bytes; what a macro brings is where it is
    named.
    """
    return cursor.extent.start.offset, cursor.extent.end.offset


def apart(group: Sequence[Any], instead: Callable[[Any], str | None]) -> str:
    """Return the declarations of a group one by one, each as it is or as `instead` says."""
    parts = []
    nameless = False
    for cursor in group:
        if cursor.kind.name in _TYPES and (not cursor.spelling or "(" in cursor.spelling):
            nameless = True  # it is written with the one that it is the type of
            continue
        text = instead(cursor) if cursor.kind.name in _NAMED else None
        parts.append(text or f"{clang.printed(cursor, whole=True, types=nameless)};")
        nameless = False
    return " ".join(parts)
