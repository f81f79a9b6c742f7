"""What a `compile_commands.json` says of how files are compiled: folders of headers, macros, and
headers that are included first.

It is read, nothing in it is run: not the compiler it names, no response file, no plug-in. The
format is that of https://clang.llvm.org/docs/JSONCompilationDatabase.html.
"""

from __future__ import annotations

import functools
import json
import os
import posixpath
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel.conditions import Definitions
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.words import Words

FILE = "compile_commands.json"
MAX_BYTES = 48_000_000
"""Larger files are not read."""
_MAX_ENTRIES = 200_000
_MAX_WORDS = 4_000
_LONGEST = 100_000
"""Characters of a command that is read."""
_MAX_FOLDERS = 200
_MAX_MACROS = 1_000
_MAX_UP = 6
"""Folders above the project that are looked into."""
_PLACES = ("", "build", "out", "_build", "builddir")
_FOLDERS = ("-iquote", "-I", "-isystem", "-idirafter")
"""Options that name folders, in the order in which compilers look into them."""
_OPTION = re.compile(r"-(?:iquote|isystem|idirafter|include|I|D|U)")
_MACRO = re.compile(r"([A-Za-z_]\w*)(?:=(.*))?", re.DOTALL)
_YEARS: Mapping[str, str | None] = {
    **dict.fromkeys(("c89", "c90", "gnu89", "gnu90"), None),
    **dict.fromkeys(("c99", "gnu99", "c9x", "gnu9x"), "199901"),
    **dict.fromkeys(("c11", "gnu11", "c1x", "gnu1x"), "201112"),
    **dict.fromkeys(("c17", "gnu17", "c18", "gnu18"), "201710"),
    **dict.fromkeys(("c23", "gnu23", "c2x", "gnu2x"), "202311"),
}


@dataclass(frozen=True, slots=True)
class Flags:
    """How one file is compiled."""

    folders: tuple[str, ...] = ()
    """Folders of headers, absolute, in the order in which they are looked into."""
    forced: tuple[str, ...] = ()
    """Headers that are included before the first line."""
    macros: tuple[tuple[str, str | None], ...] = ()
    """Macros by `-D`, and with None by `-U`, in order of name."""

    @property
    def defined(self) -> dict[str, str]:
        """Return the macros with what they represent."""
        return {name: body for name, body in self.macros if body is not None}


@functools.lru_cache(1024)
def definitions(flags: Flags) -> Definitions:
    """Return what conditions know of a file with these flags."""
    return Definitions(dict(flags.macros))


@dataclass(frozen=True, slots=True)
class CompileCommands:
    """How the files of a project are compiled."""

    files: Mapping[str, Flags] = field(default_factory=dict)
    """By path relative to the project."""
    common: Flags = field(default_factory=Flags)
    """What holds for all of them: for headers, and files that are not listed."""

    def of(self, path: str) -> Flags:
        """Return how a file is compiled."""
        return self.files.get(path, self.common)


NOTHING = CompileCommands()
"""Nothing is known."""


def read_compile_commands(root: str, paths: Collection[str]) -> tuple[CompileCommands, str]:
    """Return how files of the project at `root`, a real path, are compiled, and why its
    `compile_commands.json` cannot be used, in words; empty when it can, or when there is none.

    `paths` are the files of the project, relative to it.
    """
    place = _find(root)
    if place is None:
        return NOTHING, ""
    name = os.path.relpath(place, root)
    try:
        listed = json.loads(read_regular(place, limit=MAX_BYTES))
    except SkippedFile as skipped:
        return NOTHING, Words("{file} is not used: {why}", file=name, why=Words(skipped.reason))
    except (ValueError, RecursionError):
        return NOTHING, Words("{file} is not used: its JSON is not valid", file=name)
    if not isinstance(listed, list):
        return NOTHING, Words("{file} is not used: it does not hold a list of commands", file=name)
    reader = _Reader(root, posixpath.dirname(str(place)), set(paths))
    files: dict[str, Flags] = {}
    for entry in listed[:_MAX_ENTRIES]:
        if isinstance(entry, dict):
            path, flags = reader.read(entry)
            if path and path not in files and flags is not None:
                files[path] = flags
    return CompileCommands(files, _common(list(files.values()))), ""


def _find(root: str) -> Path | None:
    """Return the file of a project: in it, in a folder where builds are, or above."""
    with_builds = [Path(root, place, FILE) for place in _PLACES]
    try:
        with_builds += sorted(folder / FILE for folder in Path(root).glob("cmake-build-*"))
    except OSError:  # the scan says why the folder cannot be read
        return None
    for path in with_builds:
        if path.is_file():
            return path
    above = Path(root)
    for _ in range(_MAX_UP):
        if (above / ".git").exists() or above.parent == above:
            return None
        above = above.parent
        path = above / FILE
        if path.is_file() and _is_ours(path):
            return path
    return None


def _is_ours(path: Path) -> bool:
    """Return whether nobody else can have put a file there."""
    try:
        return not hasattr(os, "getuid") or path.stat().st_uid in (0, os.getuid())
    except OSError:
        return False


class _Reader:
    """Reads the entries of one file."""

    def __init__(self, root: str, place: str, wanted: Collection[str]) -> None:
        """`wanted` are the files of the project at `root`, `place` is the folder of the file."""
        self._wanted = wanted
        self._names = {posixpath.basename(path) for path in wanted}
        self._root = root.rstrip("/") + "/"
        self._place = place
        self._known: dict[Flags, Flags] = {}
        self._real: dict[str, str] = {}

    def read(self, entry: dict[str, Any]) -> tuple[str, Flags | None]:
        """Return the path of an entry, relative to the project, and how it is compiled; an empty
        path when it is none of its files."""
        directory, file = _plain(entry.get("directory", "")), _plain(entry.get("file"))
        if directory is None or file is None or posixpath.basename(file) not in self._names:
            return "", None
        directory = posixpath.join(self._place, directory)
        if directory not in self._real:
            self._real[directory] = os.path.realpath(directory)
        directory = self._real[directory]
        path = posixpath.normpath(posixpath.join(directory, file))
        if not path.startswith(self._root) or path[len(self._root) :] not in self._wanted:
            return "", None
        words = _words_of(entry)
        if words is None:
            return "", None
        flags = _flags(words, directory)
        return path[len(self._root) :], self._known.setdefault(flags, flags)


def _plain(written: object) -> str | None:
    """Return a text without what no file name and no program can have; None for what is none."""
    if not isinstance(written, str) or "\0" in written:
        return None
    return written.encode("utf-8", "replace").decode("utf-8")


def _words_of(entry: dict[str, Any]) -> Sequence[str] | None:
    """Return the words of a command; None when they cannot be told."""
    words = entry.get("arguments")
    if isinstance(words, list):
        return [word for word in map(_plain, words[:_MAX_WORDS]) if word is not None]
    command = _plain(entry.get("command"))
    if command is None or len(command) > _LONGEST:
        return None
    if not any(mark in command for mark in "\"'\\"):
        return command.split()[:_MAX_WORDS]
    try:
        return shlex.split(command)[:_MAX_WORDS]
    except ValueError:
        return None


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield options that matter, with their values."""
    rest = iter(words)
    for word in rest:
        match = _OPTION.match(word)
        if match is not None:
            yield match.group(), word[match.end() :] or next(rest, "")
        elif word.startswith("-std="):
            yield "-std", word[5:]


def _flags(words: Sequence[str], directory: str) -> Flags:
    folders: dict[str, dict[str, None]] = {option: {} for option in _FOLDERS}
    forced: dict[str, None] = {}
    macros: dict[str, str | None] = {}
    for option, value in _options(words):
        if not value or "\0" in value:
            continue
        if option in folders:
            folders[option][posixpath.normpath(posixpath.join(directory, value))] = None
        elif option == "-include":
            forced[value] = None
        elif option == "-std":
            if value in _YEARS:
                macros["__STDC_VERSION__"] = _YEARS[value]
        else:
            match = _MACRO.fullmatch(value)
            if match is not None and len(macros) < _MAX_MACROS:
                body = "1" if match[2] is None else match[2]
                macros[match[1]] = body if option == "-D" else None
    found = dict.fromkeys(folder for named in folders.values() for folder in named)
    return Flags(tuple(found)[:_MAX_FOLDERS], tuple(forced), tuple(sorted(macros.items())))


def _common(all_flags: Sequence[Flags]) -> Flags:
    """Return the folders that any file is compiled with, and the macros that all are."""
    distinct = list(dict.fromkeys(all_flags))
    if not distinct:
        return Flags()
    folders = dict.fromkeys(folder for flags in distinct for folder in flags.folders)
    macros = set(distinct[0].macros).intersection(*(flags.macros for flags in distinct[1:]))
    return Flags(
        tuple(folders)[:_MAX_FOLDERS],
        (),
        tuple(sorted(macros, key=lambda macro: macro[0])),
    )
