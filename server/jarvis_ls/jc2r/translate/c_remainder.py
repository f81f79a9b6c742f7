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
from jarvis_ls.jc2r.translate.assembly import assembly, versions
from jarvis_ls.jc2r.translate.attributes import alias_of
from jarvis_ls.jc2r.translate.c_types import is_open, is_pointer, plain
from jarvis_ls.jc2r.translate.declaration_groups import apart, extent, groups
from jarvis_ls.jc2r.translate.names import Unsupported

MAX_BYTES = 64_000_000
_WORDS_MACRO = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\w+(?:[ \t]+\w+)*)[ \t]*(?:$|\r|/\*|//)",
    re.MULTILINE,
)
"""A macro that represents words."""
_BESIDE_STATIC = {b"inline", b"__inline", b"__inline__", b"const", b"volatile", b"register"}
_DIRECTIVE = re.compile(
    rb"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    rb"|^[ \t]*(#(?:/\*.*?\*/|[^\n\\]|\\.)*)",
    re.MULTILINE | re.DOTALL,
)
"""Conditions and definitions for the preprocessor hold beyond the function they are in; comments
and texts hold none."""
_ATTRIBUTE = re.compile(r"__attribute__\(\(\w+\)\)")
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_EMPTY = re.compile(r"\[\s*\]")
_LEADING = re.compile(r"(?:\w+(?:\s+|\Z))*")
"""Words that a declaration begins with."""
_SPACED = re.compile(r"\w+\s*")


def symbol(module: str, name: str) -> str:
    """Return the linker's name of a static of a module."""
    return f"{module}__{name}"


def place_function(name: str) -> str:
    """Return the linker's name of the function that gives the place of a variable of each
    thread.
    """
    return f"{name}__place"


def places(variables: Iterable[tuple[Any, str]]) -> bytes:
    """Functions that give the places of variables of each thread, each with its linker's name."""
    return "".join(
        f"__typeof__({own.spelling}) *{place_function(name)}(void) {{ return &{own.spelling}; }}\n"
        for own, name in variables
    ).encode()


def remainder(
    path: Path, top: Any, module: str, left: Iterable[str], headers: Iterable[bytes]
) -> bytes:
    """Return the text of the C file at `path` with only the functions `left` still defined.

    `top` is its translation unit's cursor, `headers` are the texts of what it includes. Raises
    `Unsupported` when something that must be declared has a type without a name.
    """
    stays = set(left)
    data = read_regular(path, limit=MAX_BYTES)
    every = clang.children(top)
    own = [
        cursor
        for cursor in every
        if cursor.location.file and Path(cursor.location.file.name) == path
    ]
    aliases = [
        _alias(cursor.spelling, module)
        for cursor in every
        if cursor.spelling in stays and _is_static(cursor) and _is_made(cursor)
    ]
    statics = _static_words([*headers, data])
    for start, end, text in sorted(_changes(data, own, stays, module, statics), reverse=True):
        kept = b"".join(b"\n" + line for line in _DIRECTIVE.findall(data[start:end]) if line)
        lines = max(0, data.count(b"\n", start, end) - text.count("\n") - kept.count(b"\n"))
        kept += b"\n" if kept else b""
        data = data[:start] + text.encode() + kept + b"\n" * lines + data[end:]
    return data + "\n".join(["", *dict.fromkeys(aliases), ""]).encode()


def _static_words(texts: Iterable[bytes]) -> set[str]:
    """Words that make a variable static and say nothing of its type: macros, too."""
    found = {b"static"}
    macros = [
        (match[1], match[2].split()) for text in texts for match in _WORDS_MACRO.finditer(text)
    ]
    while (
        more := {
            name
            for name, words in macros
            if not found.isdisjoint(words) and found | _BESIDE_STATIC >= set(words)
        }
        - found
    ):
        found |= more
    return {name.decode() for name in found}


def _changes(
    data: bytes, own: list[Any], stays: set[str], module: str, static_words: set[str]
) -> list[tuple[int, int, str]]:
    """Return what is to be from where to where instead of what Rust defines."""
    changes = []

    def instead(cursor: Any) -> str | None:
        return _declaration(cursor, module) if _is_rusts(cursor, stays) else None

    shared = groups(own)
    for group in shared:
        if any(_is_rusts(cursor, stays) for cursor in group):
            ends = [extent(cursor)[1] for cursor in group]
            changes.append((extent(group[0])[0], max(ends), apart(group, instead)))
    together = {extent(cursor) for group in shared for cursor in group}
    for cursor in own:
        start, end = extent(cursor)
        text = assembly(cursor)
        if text and versions(text) is not None:  # of a library, which the crate is not
            changes.append((start, end, ""))
        if (start, end) in together or not _is_rusts(cursor, stays):
            continue
        text = ""
        if cursor.kind.name == "VAR_DECL":
            text = _variable(data, start, _end(data, end), cursor, module, static_words)
        if _is_written(data, cursor) and not _has_body(cursor):
            end = _end(data, end)
        changes.append((start, end, text or _declaration(cursor, module)))
    return changes


def _is_rusts(cursor: Any, stays: set[str]) -> bool:
    """Return whether a declaration makes something that Rust has, or is of a static that is
    there.
    """
    if cursor.spelling in stays:
        return False
    if cursor.kind.name == "VAR_DECL":
        return bool(cursor.storage_class.name != "EXTERN")
    return cursor.kind.name == "FUNCTION_DECL" and bool(
        cursor.is_definition() or _is_static(cursor) or alias_of(cursor)
    )


def _is_static(cursor: Any) -> bool:
    return bool(cursor.linkage.name == "INTERNAL")


def _is_made(cursor: Any) -> bool:
    """Return whether a function or a variable, but none of each thread, is made here."""
    if cursor.kind.name == "VAR_DECL":
        return clang.is_made_here(cursor) and not clang.is_thread_local(cursor)
    return cursor.kind.name == "FUNCTION_DECL" and bool(cursor.is_definition())


def _has_body(cursor: Any) -> bool:
    return cursor.kind.name == "FUNCTION_DECL" and bool(cursor.is_definition())


def _is_written(data: bytes, cursor: Any) -> bool:
    """Return whether the name is in the file, and no macro brings it."""
    return data.startswith(cursor.spelling.encode(), cursor.location.offset)


def _alias(name: str, module: str) -> str:
    """Return what gives a static of C a name that Rust can know."""
    return f'extern __typeof__({name}) {symbol(module, name)} __attribute__((alias("{name}")));'


def _end(data: bytes, at: int) -> int:
    """Behind the semicolon that ends a declaration."""
    found = data.find(b";", at)
    return len(data) if found < 0 else found + 1


def _variable(
    data: bytes, start: int, end: int, cursor: Any, module: str, static_words: set[str]
) -> str:
    """Return the declaration of a variable that Rust defines, as it is written; empty when a macro
    is all that is written.
    """
    value = clang.initializer(cursor)
    stop = end - 1 if value is None else value.extent.start.offset
    head = _COMMENT.sub(" ", data[start:stop].decode("utf-8", "replace"))
    if value is not None:
        head = head.rpartition("=")[0]
    head = _LEADING.sub(
        lambda match: "".join(
            word for word in _SPACED.findall(match[0]) if word.strip() not in static_words
        ),
        head.strip(),
        count=1,
    )
    if not head:
        return ""
    type_ = cursor.type.get_canonical()
    if type_.kind.name == "CONSTANTARRAY":  # the value said how many there are
        head = _EMPTY.sub(f"[{type_.element_count}]", head, count=1)
    name = f' __asm__("{symbol(module, cursor.spelling)}")' if _is_static(cursor) else ""
    head, attribute, rest = head.lstrip().partition("__attribute__")  # which are behind the name
    return f"extern {head}{name} {attribute}{rest};" if attribute else f"extern {head}{name};"


def _declaration(cursor: Any, module: str) -> str:
    if _takes_open_rows(cursor) and not _is_static(cursor) and cursor.canonical != cursor:
        return ""  # as it was declared before, which can be said there only
    spelling = _ATTRIBUTE.sub("", _type_of(cursor)).strip()
    spelling = spelling.replace("struct __va_list_tag *", "__builtin_va_list")
    if "(unnamed" in spelling or "(anonymous" in spelling:
        raise Unsupported(
            "{name}: an anonymous type that C and Rust would share", name=cursor.spelling
        )
    name = f' __asm__("{symbol(module, cursor.spelling)}")' if _is_static(cursor) else ""
    return f"extern __typeof__({spelling}) {cursor.spelling}{name};"


def _type_of(cursor: Any) -> str:
    """Return the type of what is declared; lengths that only a definition knows are left out of
    it.
    """
    type_ = cursor.type
    if _takes_open_rows(cursor):
        words = [
            "void *" if _is_open_row(argument_type) else argument_type.spelling
            for argument_type in type_.argument_types()
        ]
        words += ["..."] if type_.is_function_variadic() else []
        return f"__typeof__({type_.get_result().spelling}) ({', '.join(words)})"
    return str(type_.spelling)


def _takes_open_rows(cursor: Any) -> bool:
    type_ = cursor.type
    return type_.kind.name == "FUNCTIONPROTO" and any(map(_is_open_row, type_.argument_types()))


def _is_open_row(type_: Any) -> bool:
    """Return whether a parameter is an array of variable length, or points to one."""
    return is_open(type_) or (is_pointer(type_) and is_open(plain(type_).get_pointee()))
