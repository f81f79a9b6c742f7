"""What the headers of a project declare to the files that include them.

Only files of the project are read: an include is looked for beside the including file, then
among the project's files by the end of their path. System headers are not.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from jarvis_ls.codeintel.declarations import Declared, Facts
from jarvis_ls.codeintel.extract import c, rust
from jarvis_ls.codeintel.languages import LanguageName, language_of
from jarvis_ls.codeintel.parse import parse
from jarvis_ls.codeintel.source import decode
from jarvis_ls.codeintel.top_level_items import Item, items

MAX_HEADERS = 300
"""Most headers followed for one file."""

MAX_HEADER_BYTES = 2_000_000
"""Headers larger than this are not read: they are data."""

_STANDARD = frozenset(
    "assert.h ctype.h errno.h fcntl.h float.h inttypes.h limits.h locale.h math.h "
    "pthread.h setjmp.h signal.h stdarg.h stdbool.h stddef.h stdint.h stdio.h stdlib.h "
    "string.h strings.h time.h unistd.h wchar.h windows.h".split()
)

SEVERAL = "?"
"""What a macro represents that a file gives several numbers, and a type that it declares in several
ways.
"""
_TAGS = frozenset({"struct", "union", "class", "enum"})

_NUMBER = re.compile(r"[\s()\da-fA-FxXuUlL+*/<-]+")
_DIGIT = re.compile(r"\d")

ReadFile = Callable[[str], bytes | None]
"""Bytes of a project file by its relative path, or None when it cannot be read."""


def item_facts(item: Item, language: LanguageName) -> Facts | None:
    """Return what an item declares to the rest of its file."""
    if language == "rust":
        return rust.item_facts(item.node, item.prefix)
    facts = None if item.stray else c.item_facts(item.node)
    return facts if facts is None or not item.foreign else replace(facts, foreign=True)


def merge_items(parts: Iterable[Facts | None]) -> Facts:
    """One file's facts from those of its items."""
    facts = Facts()
    includes: list[str] = []
    defined: set[str] = set()
    compared: set[str] = set()
    stops: set[str] = set()
    several: set[str] = set()
    unclear: set[str] = set()
    foreign: list[Facts] = []
    for part in parts:
        if part is None:
            continue
        if part.foreign:
            foreign.append(part)
            continue
        several |= _said_otherwise(facts.macros, part.macros)
        unclear |= _ambiguous_types(facts.types, part.types)
        if part.function_macros and _asserts_nothing(facts, part):
            continue
        includes.extend(part.includes)
        defined |= part.defined
        compared |= part.compared
        stops |= part.stops
        facts.asserting |= part.asserting
        facts.add(part)
    facts.macros.update(dict.fromkeys(several, SEVERAL))
    facts.types.update((name, Declared(name, SEVERAL)) for name in unclear)
    for part in foreign:
        facts.fill(part)
        includes.extend(part.includes)
        defined |= part.defined
        compared |= part.compared
        stops |= part.stops
    facts.includes, facts.defined = tuple(includes), frozenset(defined)
    facts.compared, facts.stops = frozenset(compared), frozenset(stops)
    return facts


def _said_otherwise(macros: dict[str, str], again: dict[str, str]) -> set[str]:
    """Macros that represent one number here and for another there: it hangs on how the file is
    compiled, or on the line, which is meant."""
    return {
        name
        for name, body in again.items()
        if (before := macros.get(name)) is not None
        and before != body
        and _is_number(before)
        and _is_number(body)
    }


def _ambiguous_types(types: dict[str, Declared], again: dict[str, Declared]) -> set[str]:
    """Return the types that a file declares in several ways: it hangs on how it is compiled, which
    is meant.
    """
    return {
        name
        for name, declared in again.items()
        if name in types
        and types[name] != declared
        and not {*types[name].type.split()[:1], *declared.type.split()[:1]} & _TAGS
    }


def _is_number(body: str) -> bool:
    return _NUMBER.fullmatch(body) is not None and _DIGIT.search(body) is not None


def _asserts_nothing(facts: Facts, again: Facts) -> bool:
    """Return whether this is how an assertion looks in builds without: what it says holds there,
    too.
    """
    return all(
        not macro.body and "assert" in name.lower() and name in facts.function_macros
        for name, macro in again.function_macros.items()
    )


class Headers:
    """The headers of one project, each read and parsed once."""

    def __init__(self, read: ReadFile, paths: Iterable[str]) -> None:
        """`paths` are the project's source files relative to its root, with forward slashes."""
        self._read = read
        self._paths: set[str] = set()
        self._by_name: dict[str, list[str]] = {}
        self._facts: dict[str, tuple[str, Facts]] = {}
        self._resolved: dict[tuple[str, str], str | None] = {}
        self._direct: dict[str, tuple[str, ...]] = {}
        for path in paths:
            self.add(path)

    def add(self, path: str) -> None:
        """Add a file to the project."""
        if path not in self._paths:
            self._paths.add(path)
            self._resolve_anew()
            self._by_name.setdefault(posixpath.basename(path), []).append(path)

    def know(self, path: str, digest: str, facts: Facts) -> None:
        """Take what an earlier reading of a file gave; `digest` names its text."""
        self._facts[path] = digest, facts
        self._direct.pop(path, None)

    def forget(self, path: str) -> None:
        """Forget a file that changed or was deleted; it is read again when needed."""
        self._facts.pop(path, None)
        self._direct.pop(path, None)

    def discard(self, path: str) -> None:
        """Remove a file from the project."""
        self.forget(path)
        if path in self._paths:
            self._paths.remove(path)
            self._resolve_anew()
            self._by_name[posixpath.basename(path)].remove(path)

    def facts_for(self, path: str, own: Facts) -> tuple[str, Sequence[Facts]]:
        """Return a digest and the facts of all headers `path` includes, directly or not.

        Nearer headers come later, so that what they say wins when facts are merged in order.
        """
        reached = self.closure(path, own)
        digest = hashlib.blake2b(digest_size=16)
        for name in reached:
            digest.update(self._load(name)[0].encode())
        return digest.hexdigest(), [self._load(name)[1] for name in reversed(reached)]

    def closure(self, path: str, own: Facts) -> list[str]:
        """Project files that `path` includes, directly or not, nearest first."""
        reached: dict[str, None] = {}
        level = self._find_all(path, own.includes)
        while level and len(reached) < MAX_HEADERS:
            following: list[str] = []
            for found in level:
                if found not in reached and found != path:
                    reached[found] = None
                    following += self._includes(found)
            level = following
        return list(reached)

    def missing(self, path: str, own: Facts) -> list[str]:
        """Return what `path` itself includes that is neither in the project nor a header of the C
        and C++ standards."""
        folder = posixpath.dirname(path)
        return [
            include
            for include in dict.fromkeys(own.includes)
            if include not in _STANDARD and "." in include and self._find(folder, include) is None
        ]

    def _includes(self, path: str) -> Sequence[str]:
        known = self._direct.get(path)
        if known is None:
            found = self._find_all(path, self._load(path)[1].includes)
            known = self._direct[path] = tuple(found)
        return known

    def _find_all(self, path: str, includes: Iterable[str]) -> list[str]:
        folder = posixpath.dirname(path)
        found = (self._find(folder, include) for include in dict.fromkeys(includes))
        return [fromkey for fromkey in dict.fromkeys(found) if fromkey is not None]

    def _resolve_anew(self) -> None:
        self._resolved.clear()
        self._direct.clear()

    def _load(self, path: str) -> tuple[str, Facts]:
        known = self._facts.get(path)
        if known is None:
            known = self._facts[path] = self._parse(path)
        return known

    def _parse(self, path: str) -> tuple[str, Facts]:
        raw = self._read(path)
        if raw is None or len(raw) > MAX_HEADER_BYTES:
            return "", Facts()
        source = decode(path, raw)
        language = language_of(path, source.data) or "c"
        root = parse(source.data, language).root_node
        facts = merge_items(item_facts(item, language) for item in items(root, language))
        return hashlib.blake2b(source.data, digest_size=16).hexdigest(), facts

    def _find(self, folder: str, include: str) -> str | None:
        place = folder, include
        if place not in self._resolved:
            self._resolved[place] = self._resolve(folder, include)
        return self._resolved[place]

    def _resolve(self, folder: str, include: str) -> str | None:
        beside = posixpath.normpath(posixpath.join(folder, include))
        if beside in self._paths:
            return beside
        if include in _STANDARD:
            return None
        include = posixpath.normpath(include)
        candidates = [
            path
            for path in self._by_name.get(posixpath.basename(include), ())
            if path == include or path.endswith("/" + include)
        ]
        if not candidates:
            return None
        return max(candidates, key=lambda p: (_common_folders(folder, p), -len(p), p))


def _common_folders(folder: str, path: str) -> int:
    """Length of the folders that a folder and a file have in common."""
    return len(posixpath.commonpath([folder, path])) if folder else 0
