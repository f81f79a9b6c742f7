"""What the headers of a project declare to the files that include them.

An include is looked for beside the including file, in the folders that `compile_commands.json`
names for it, then among the project's files by the end of their path. What is not found there may
be installed on the machine: such headers are asked for single names only (`installed_headers`).
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from jarvis_ls.codeintel.compile_commands import NOTHING, CompileCommands, Flags, definitions
from jarvis_ls.codeintel.conditions import using
from jarvis_ls.codeintel.declarations import Declared, Facts
from jarvis_ls.codeintel.extract import c, rust
from jarvis_ls.codeintel.installed_headers import InstalledHeaders, View
from jarvis_ls.codeintel.languages import LanguageName, language_of
from jarvis_ls.codeintel.parse import Node, parse
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


def facts_of(root: Node, language: LanguageName) -> Facts:
    """Return what a file declares, by the root of its tree."""
    return merge_items(item_facts(item, language) for item in items(root, language))


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

    def __init__(
        self,
        read: ReadFile,
        paths: Iterable[str],
        *,
        root: str = "",
        installed: InstalledHeaders | None = None,
        commands: CompileCommands = NOTHING,
    ) -> None:
        """`paths` are the project's source files relative to its `root`, a real path, with forward
        slashes; `installed` are the headers outside of it, `commands` say how it is compiled."""
        self._read = read
        self._root = root.rstrip("/") + "/"
        self._installed = installed
        self._commands = commands
        self._outside: dict[str, tuple[str, ...]] = {}
        self._paths: set[str] = set()
        self._by_name: dict[str, list[str]] = {}
        self._facts: dict[str, tuple[str, Facts]] = {}
        self._resolved: dict[tuple[str, str, tuple[str, ...]], str | None] = {}
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
        self._outside.pop(path, None)

    def forget(self, path: str) -> None:
        """Forget a file that changed or was deleted; it is read again when needed."""
        self._facts.pop(path, None)
        self._direct.pop(path, None)
        self._outside.pop(path, None)

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
        flags = self.flags(path)
        digest = hashlib.blake2b(digest_size=16)
        for name in reached:
            digest.update(self._load(name)[0].encode())
        if flags.macros:
            digest.update(repr(flags.macros).encode("utf-8", "surrogatepass"))
        beyond = self._beyond(path, own, reached, flags)
        if beyond is not None:
            digest.update(beyond.digest.encode())
        first = [Facts(macros=flags.defined, beyond=beyond)] if beyond or flags.macros else []
        return digest.hexdigest(), first + [self._load(name)[1] for name in reversed(reached)]

    def flags(self, path: str) -> Flags:
        """Return how a file is compiled."""
        return Flags() if path.endswith(".rs") else self._commands.of(path)

    def outside(self, path: str, own: Facts) -> Sequence[str]:
        """Return the paths of the headers outside of the project that a file reaches."""
        beyond = self._beyond(path, own, self.closure(path, own), self.flags(path))
        return beyond.paths if beyond is not None else ()

    def digests(self, outside: Iterable[str]) -> list[str]:
        """Return what names the contents of headers outside of the project, in order."""
        return sorted(map(self._installed.digest, outside)) if self._installed is not None else []

    def _beyond(self, path: str, own: Facts, reached: Sequence[str], flags: Flags) -> View | None:
        """Return what the headers declare that a file reaches and that are not in the project."""
        if self._installed is None:
            return None
        names = dict.fromkeys((*flags.forced, *self._missing(path, own.includes)))
        for header in reached:
            known = self._outside.get(header)
            if known is None:
                missing = self._missing(header, self._load(header)[1].includes)
                known = self._outside[header] = tuple(missing)
            names.update(dict.fromkeys(known))
        view = self._installed.view(names, flags.folders) if names else None
        return view if view is not None and view.paths else None

    def _missing(self, path: str, includes: Iterable[str]) -> Iterable[str]:
        folder = posixpath.dirname(path)
        folders = self._commands.of(path).folders
        return (name for name in includes if self._find(folder, name, folders) is None)

    def closure(self, path: str, own: Facts) -> list[str]:
        """Project files that `path` includes, directly or not, nearest first."""
        reached: dict[str, None] = {}
        level = self._find_all(path, (*self._commands.of(path).forced, *own.includes))
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
        and C++ standards, nor installed."""
        folders = self._commands.of(path).folders
        return [
            include
            for include in dict.fromkeys(self._missing(path, own.includes))
            if include not in _STANDARD
            and "." in include
            and not (self._installed is not None and self._installed.finds(include, folders))
        ]

    def _includes(self, path: str) -> Sequence[str]:
        known = self._direct.get(path)
        if known is None:
            found = self._find_all(path, self._load(path)[1].includes)
            known = self._direct[path] = tuple(found)
        return known

    def _find_all(self, path: str, includes: Iterable[str]) -> list[str]:
        folder, folders = posixpath.dirname(path), self._commands.of(path).folders
        found = (self._find(folder, include, folders) for include in dict.fromkeys(includes))
        return [fromkey for fromkey in dict.fromkeys(found) if fromkey is not None]

    def _resolve_anew(self) -> None:
        self._resolved.clear()
        self._direct.clear()
        self._outside.clear()

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
        with using(definitions(self._commands.common)):  # the same for whoever includes it
            root = parse(source.data, language).root_node
            facts = facts_of(root, language)
        return hashlib.blake2b(source.data, digest_size=16).hexdigest(), facts

    def _find(self, folder: str, include: str, folders: tuple[str, ...]) -> str | None:
        place = folder, include, folders
        if place not in self._resolved:
            self._resolved[place] = self._resolve(*place)
        return self._resolved[place]

    def _resolve(self, folder: str, include: str, folders: tuple[str, ...]) -> str | None:
        beside = posixpath.normpath(posixpath.join(folder, include))
        if beside in self._paths:
            return beside
        for named in folders:
            path = posixpath.normpath(posixpath.join(named, include))
            if path.startswith(self._root) and path[len(self._root) :] in self._paths:
                return path[len(self._root) :]
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
