"""Whether what a C file includes can be read to its end: a compiler opens whatever is named, and
waits for ever at a named pipe, or reads a device without an end.

Only what directives name plainly is seen here. Anyone who parses files of strangers does it in a
process that can be ended besides.
"""

from __future__ import annotations

import functools
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import TOO_LARGE, kind_of, read_regular
from jarvis_ls.core.words import Words

MAX_BYTES = 64_000_000
"""Larger files are not read for the files that include them."""
_MOST_FILES = 20_000
_NAMED = re.compile(
    rb"^[ \t]*#[ \t]*(?:include|include_next|import|embed|pragma[ \t]+GCC[ \t]+dependency"
    rb'|(?:el)?if[^\n]*__has_(?:include|include_next|embed)[ \t]*\()[ \t]*[<"]([^>"\n]+)[>"]',
    re.MULTILINE,
)
_FOLDERS = ("-I", "-isystem", "-iquote", "-idirafter")
_FILES = ("-include", "-imacros")


def refuse_endless(path: Path, arguments: Sequence[str], system: Sequence[str]) -> None:
    """Raise `SkippedFile` when a file, or one that it includes or that `arguments` name, is no
    regular one below a size. Headers in the folders `system` are not looked into.
    """
    folders, files = _named_by(arguments)
    waiting = [str(path), *files]
    seen: set[str] = set()
    while waiting and len(seen) < _MOST_FILES:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        if why := _objection(file):
            if file == str(path):
                raise SkippedFile(why)
            raise SkippedFile(Words("it includes {file}: {why}", file=file, why=Words(why)))
        if any(file.startswith(f"{folder}/") for folder in system):
            continue
        for name in _names_in(file):
            for folder in (os.path.dirname(file), *folders):  # noqa: PTH120 - str either way
                found = os.path.normpath(os.path.join(folder, name))  # noqa: PTH118
                if found not in seen and _is_there(found):
                    waiting.append(found)


def _named_by(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the folders for headers that arguments name, and the files."""
    folders: list[str] = []
    files: list[str] = []
    rest = iter(arguments)
    for word in rest:
        for options, found in ((_FOLDERS, folders), (_FILES, files)):
            option = next((option for option in options if word.startswith(option)), None)
            if option is not None:
                found.append(word[len(option) :] or next(rest, ""))
                break
    return folders, files


@functools.lru_cache(maxsize=65_536)
def _is_there(path: str) -> bool:
    try:
        return not stat.S_ISDIR(os.stat(path).st_mode)  # noqa: PTH116 - asked very often
    except (OSError, ValueError):
        return False


@functools.lru_cache(maxsize=65_536)
def _objection(path: str) -> str:
    """Return why a file cannot be read to its end, in words; empty when it can, or is not there."""
    try:
        status = os.stat(path)  # noqa: PTH116 - asked very often
    except (OSError, ValueError):
        return ""
    if path == os.devnull:
        return ""
    return kind_of(status.st_mode) or (TOO_LARGE if status.st_size > MAX_BYTES else "")


@functools.lru_cache(maxsize=65_536)
def _names_in(path: str) -> tuple[str, ...]:
    """Return what the directives of a file name, each once."""
    try:
        text = read_regular(os.path.realpath(path), limit=MAX_BYTES)
    except SkippedFile:
        return ()
    return tuple(dict.fromkeys(os.fsdecode(name) for name in _NAMED.findall(text)))
