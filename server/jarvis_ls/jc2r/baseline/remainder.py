"""What stays in C: the file once more, with all that was translated only declared.

A function that is left finds everything else of its file in Rust, statics included, so that
nothing is there twice. Names of statics are made unique by the module they are in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.core.files import read_regular
from jarvis_ls.jc2r.baseline.names import Unsupported

MAX_BYTES = 64_000_000
_STATIC_MACRO = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(?:\w+[ \t]+)*static\b", re.MULTILINE
)
_DIRECTIVE = re.compile(rb"^[ \t]*#(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)
"""Conditions and definitions for the preprocessor hold beyond the function they stand in."""
_ATTRIBUTE = re.compile(r"__attribute__\(\(\w+\)\)")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_WORD = re.compile(r"\s*(\w+)")


def symbol(module: str, name: str) -> str:
    """The linker's name of a static of a module."""
    return f"{module}__{name}"


def remainder(path: Path, top: Any, module: str, left: Iterable[str]) -> bytes:
    """The text of the C file at `path` with only the functions `left` still defined.

    `top` is its translation unit's cursor. Raises `Unsupported` when something that must be
    declared has a type without a name.
    """
    stays = set(left)
    data = read_regular(path, limit=MAX_BYTES)
    static_words = {"static", *(m[1].decode() for m in _STATIC_MACRO.finditer(data))}
    changes: list[tuple[int, int, str]] = []
    aliases: list[str] = []
    variables: dict[int, list[Any]] = {}
    for cursor in clang.children(top):
        file = cursor.location.file
        if file is None or Path(file.name) != path:
            continue
        name, kind = cursor.spelling, cursor.kind.name
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        static = cursor.linkage.name == "INTERNAL"
        if kind == "FUNCTION_DECL":
            if name in stays:
                if static and cursor.is_definition():
                    aliases.append(
                        f"extern __typeof__({name}) {symbol(module, name)}"
                        f' __attribute__((alias("{name}")));'
                    )
            elif cursor.is_definition():
                changes.append((start, end, _declared(cursor, module, static)))
            elif static:
                changes.append((start, _end(data, end), _declared(cursor, module, static)))
        elif kind == "VAR_DECL" and cursor.storage_class.name != "EXTERN":
            variables.setdefault(start, []).append(cursor)
    for start, group in variables.items():
        staying = [one for one in group if one.spelling in stays]
        if staying:
            if len(staying) < len(group):
                raise Unsupported(f"{staying[0].spelling}: declared beside what Rust defines")
            aliases += [
                f"extern __typeof__({one.spelling}) {symbol(module, one.spelling)}"
                f' __attribute__((alias("{one.spelling}")));'
                for one in staying
                if one.linkage.name == "INTERNAL" and clang.is_made_here(one)
            ]
            continue
        end = _end(data, max(one.extent.end.offset for one in group))
        changes.append((start, end, _variables(data, start, end, group, module, static_words)))
    for start, end, text in sorted(changes, reverse=True):
        kept = b"".join(b"\n" + line for line in _DIRECTIVE.findall(data[start:end]))
        lines = max(0, data.count(b"\n", start, end) - text.count("\n") - kept.count(b"\n"))
        kept += b"\n" if kept else b""
        data = data[:start] + text.encode() + kept + b"\n" * lines + data[end:]
    return data + "\n".join(["", *aliases, ""]).encode()


def _end(data: bytes, at: int) -> int:
    """Behind the semicolon that ends a declaration."""
    found = data.find(b";", at)
    return len(data) if found < 0 else found + 1


def _variables(
    data: bytes, start: int, end: int, group: list[Any], module: str, static_words: set[str]
) -> str:
    """The declaration of variables that Rust defines."""
    if len(group) > 1:
        return " ".join(_declared(one, module, one.linkage.name == "INTERNAL") for one in group)
    (cursor,) = group
    value = clang.initializer(cursor)
    stop = end - 1 if value is None else value.extent.start.offset
    head = _COMMENT.sub(" ", data[start:stop].decode("utf-8", "replace"))
    if value is not None:
        head = head.rpartition("=")[0]
    head = head.rstrip()
    match = _WORD.match(head)
    while match is not None and match[1] in static_words:
        head = head[match.end() :]
        match = _WORD.match(head)
    static = cursor.linkage.name == "INTERNAL"
    name = f' __asm__("{symbol(module, cursor.spelling)}")' if static else ""
    return f"extern {head.lstrip()}{name};"


def _declared(cursor: Any, module: str, static: bool) -> str:
    spelling = _ATTRIBUTE.sub("", cursor.type.spelling).strip()
    spelling = spelling.replace("struct __va_list_tag *", "__builtin_va_list")
    if "(unnamed" in spelling or "(anonymous" in spelling:
        raise Unsupported(f"{cursor.spelling}: a type without a name that C and Rust would share")
    name = f' __asm__("{symbol(module, cursor.spelling)}")' if static else ""
    return f"extern __typeof__({spelling}) {cursor.spelling}{name};"
