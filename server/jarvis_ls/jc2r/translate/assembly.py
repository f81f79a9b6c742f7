"""Assembly at file scope: versions of names, and all else as it is written."""

from __future__ import annotations

import platform
import re
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.translate.strings import text_of

_WRITTEN = re.compile(r"__asm(?:__)? ?\((.*)\)", re.DOTALL)
_VERSION = re.compile(r"\s*\.symver\s+([\w.$]+)\s*,\s*([\w.$]+)(@{1,3})[\w.$]+(?:\s*,\s*\w+)?\s*")
_BETWEEN = re.compile(r"[;\n]")


def assembly(cursor: Any) -> str:
    """Return the assembly that a declaration consists of; empty when it is another one."""
    if cursor.kind.name != "UNEXPOSED_DECL":
        return ""
    match = _WRITTEN.fullmatch(clang.printed(cursor, whole=True))
    return "" if match is None else text_of(match[1])


def versions(text: str) -> dict[str, str] | None:
    """Return the names that are meant where no version of them is asked for (`name@@VERSION`), each
    with what it is another name of; None when the assembly does something else than name versions.
    """
    found: dict[str, str] = {}
    for part in _BETWEEN.split(text):
        match = _VERSION.fullmatch(part)
        if match is not None and match[3] != "@":
            found[match[2]] = match[1]
        elif match is None and part.strip():
            return None
    return found


def in_rust(text: str) -> str:
    """Return the same assembly as an item of Rust."""
    hashes = "#" * (max((len(run) for run in re.findall(r'"(#*)', text)), default=0) + 1)
    syntax = "att_syntax, " if platform.machine() in ("x86_64", "AMD64", "i686", "i386") else ""
    return f'core::arch::global_asm!(r{hashes}"{text}"{hashes}, options({syntax}raw));'
