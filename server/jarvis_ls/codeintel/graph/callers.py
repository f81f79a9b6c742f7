"""Who uses a symbol, directly and through others, and which tests reach it.

A name is resolved as far as the languages tell without types: by family of languages, by what a
file keeps to itself, by a file's own definition of a plain name, and by its imports. What stays
open counts as a use: to miss a caller is worse than to name too many. Names that many files define
as members (`get`, `run`) are followed one step only.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from functools import cache

from jarvis_ls.codeintel.graph.imports import importers_of
from jarvis_ls.codeintel.graph.languages import GraphLanguage, family_of
from jarvis_ls.codeintel.graph.records import Definition, Kind, Use
from jarvis_ls.codeintel.graph.store import File, Located, Reference, SymbolStore

MOST_DEFINERS = 5
"""Definitions of a name beyond which a use through a dot says little about which is meant."""
MOST_REACHED = 4_000
"""Symbols that a search visits; what is further away is left out, and said."""
_NOWHERE: frozenset[tuple[int, int]] = frozenset()
_ALIASES = frozenset({Kind.PROTOTYPE, Kind.MACRO})
"""What declares a name of C that another file defines, or gives it another one."""
_DECLARED = frozenset({Kind.PROTOTYPE, Kind.VARIABLE})
_NEED_IMPORTS = frozenset({"python", "go", "javascript", "typescript", "tsx"})
"""Languages where what is before the dot of a function is a module that was imported."""
_PASSING = frozenset({"__init__.py", "index.js", "index.ts", "index.mjs", "index.tsx"})
"""Files that pass on what they import."""
_MOST_PASSED = 50
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".inl", ".ipp", ".tpp")
_IMPLICIT = frozenset({"constructor", "new", "init", "main"})


@dataclass(frozen=True, slots=True)
class Caller:
    """A place from which a symbol is reached."""

    path: str
    """Its file."""
    name: str
    """Qualified name of the definition there; empty for what a file does outside of all."""
    line: int
    """Where it uses the next symbol on the way."""
    depth: int
    """1 for a direct use."""
    via: str
    """Name that it uses."""
    is_test: bool
    """Whether it is code of a test."""
    is_certain: bool
    """Whether only one definition can be meant by each name on the way."""


@dataclass(frozen=True, slots=True)
class Reached:
    """The answer of a search."""

    callers: tuple[Caller, ...]
    """By depth, then path and line."""
    is_whole: bool
    """Whether the search was not cut off."""


@dataclass(frozen=True, slots=True)
class Target:
    """A symbol whose users are looked for; it may be gone from the graph."""

    path: str
    """Its file."""
    name: str
    """Last part of its name."""
    kind: Kind
    """What it is."""
    container: str = ""
    """What it is defined in."""
    is_exported: bool = True
    """Whether code elsewhere may use it."""


class _Rivals:
    """Other symbols of the name of one, in other files."""

    __slots__ = ("all", "by_file", "importers")

    def __init__(self, others: list[Located]) -> None:
        self.all = others
        self.by_file: dict[int, list[Located]] = {}
        for other in others:
            self.by_file.setdefault(other.file.id, []).append(other)
        self.importers: frozenset[int] | None = None
        """Files that import one of theirs, once somebody has asked."""

    def __bool__(self) -> bool:
        return bool(self.all)


class Search:
    """Finds users in one state of the graph, and remembers what it read."""

    def __init__(self, store: SymbolStore) -> None:
        self._store = store
        self._named: dict[str, list[Located]] = {}
        self._uses: dict[str, list[Reference]] = {}
        self._importers: dict[int, frozenset[int]] = {}
        self._in_file: dict[str, Callable[[int], Located | None]] = {}

    def reach(self, targets: Iterable[Target], depth: int) -> Reached:
        """Return what uses the targets, up to `depth` steps away; a place that uses several of
        them once for each."""
        found: dict[tuple[int, int, str], Caller] = {}
        reached: set[tuple[int, int]] = set()
        level = [(target, True) for target in targets]
        seen = {(target.path, target.container, target.name) for target, _ in level}
        for step in range(1, depth + 1):
            following: list[tuple[Target, bool]] = []
            for target, is_certain in level:
                for use, is_sure in self.users(target, reached if step > 1 else _NOWHERE):
                    place = (use.file.id, use.scope)
                    key = (*place, target.name)
                    if key in found or (step > 1 and place in reached):
                        continue
                    reached.add(place)
                    scope = self._scope(use)
                    if scope is None:
                        name, is_test = "", use.file.is_test
                    else:
                        name = scope.definition.qualified
                        is_test = scope.definition.is_test
                    sure = is_certain and is_sure
                    found[key] = Caller(
                        use.file.path, name, use.line, step, target.name, is_test, sure
                    )
                    if len(found) >= MOST_REACHED:
                        return Reached(_order(found.values()), False)
                    is_macro = scope is not None and scope.definition.kind is Kind.MACRO
                    behind = level if is_macro else following  # who uses a macro is as near
                    behind += self._next(use, scope, sure, seen)
            level = following
        return Reached(_order(found.values()), True)

    def users(
        self, target: Target, known: Set[tuple[int, int]] = _NOWHERE
    ) -> list[tuple[Reference, bool]]:
        """Return the uses of a symbol outside of itself, each with whether no other symbol of its
        name can be meant; those in `known` scopes, by file and number, are left out.
        """
        own = self._store.file(target.path)
        names = _names_of(target)
        found: list[tuple[Reference, bool]] = []
        for name in names:
            rivals = _Rivals(
                [
                    other
                    for other in self._definitions(name)
                    if other.file.path != target.path and other.definition.kind not in _ALIASES
                ]
            )
            for use in self._references(name):
                if (use.file.id, use.scope) in known:
                    continue
                sure = self._resolves(use, name, target, own, rivals)
                if sure is not None and not self._is_within(use, target):
                    found.append((use, sure))
        return found

    def _resolves(
        self,
        use: Reference,
        name: str,
        target: Target,
        own: File | None,
        rivals: _Rivals,
    ) -> bool | None:
        """Return whether a use certainly means the target; None when it cannot."""
        language = own.language if own is not None else use.file.language
        is_plain = use.use <= Use.NAME
        if use.use is Use.IMPORT or family_of(language) != family_of(use.file.language):
            return None
        if target.kind is Kind.METHOD and name == target.name:
            return self._resolves_member(use, target, rivals, language)
        same = use.file.path == target.path
        if language == "c" and not is_plain:
            return None  # a field that has the name of a function
        if same:
            return not rivals or is_plain
        if not target.is_exported and not _is_visible(target.path, use.file.path, language):
            return None
        imports = own is None or self._is_imported(own, use.file)
        if not is_plain:
            if language in _NEED_IMPORTS and not imports and not self._is_passed_on(own, use.file):
                return None
            return not rivals
        near = rivals.by_file.get(use.file.id, ())
        if any(other.definition.kind is not Kind.METHOD for other in near):
            return None
        if not imports and use.file.id in self._importers_of(rivals):
            return None
        return not rivals or imports

    def _resolves_member(
        self, use: Reference, target: Target, rivals: _Rivals, language: GraphLanguage
    ) -> bool | None:
        """Return the same for a use of a method's name."""
        same = use.file.path == target.path
        if use.use <= Use.NAME:  # without an object only where the class itself is meant
            if language in ("cpp", "java") and use.use is Use.CALL:
                return same or not rivals
            return False if same and self._is_in_class(use) else None
        if use.use is Use.OWN:
            scope = self._scope(use)
            around = scope.definition.container if scope is not None else ""
            here = [
                other
                for other in rivals.by_file.get(use.file.id, ())
                if other.definition.container == around
            ]
            if here:
                return None
            return same and around == target.container
        return not rivals

    def _is_in_class(self, use: Reference) -> bool:
        scope = self._scope(use)
        return scope is not None and scope.definition.kind is Kind.CLASS

    def _is_passed_on(self, file: File | None, importer: File) -> bool:
        """Return whether a file is imported through another that imports it."""
        if file is None:
            return True
        self._is_imported(file, importer)
        return any(
            self._is_imported(self._store.file_by_id(number), importer)
            for number in sorted(self._importers[file.id])[:_MOST_PASSED]
            if _last(self._store.file_by_id(number).path) in _PASSING
        )

    def _is_within(self, use: Reference, target: Target) -> bool:
        """Return whether a use is inside the target itself, such as a recursive call."""
        if use.file.path != target.path or use.scope < 0:
            return False
        scope = self._scope(use)
        return scope is not None and (
            (scope.definition.name, scope.definition.container) == (target.name, target.container)
        )

    def _next(
        self, use: Reference, scope: Located | None, sure: bool, seen: set[tuple[str, str, str]]
    ) -> list[tuple[Target, bool]]:
        """Return what is looked for next behind a use."""
        if scope is None:
            return []
        definition = scope.definition
        if _is_macro_before(definition) and use.file.language in ("c", "cpp"):
            return []
        key = (use.file.path, definition.container, definition.name)
        if key in seen:
            return []
        seen.add(key)
        many = definition.kind is Kind.METHOD and (
            len(self._definitions(definition.name)) > MOST_DEFINERS
        )
        if many:
            return []
        target = Target(
            use.file.path,
            definition.name,
            definition.kind,
            definition.container,
            definition.is_exported,
        )
        return [(target, sure)]

    def _scope(self, use: Reference) -> Located | None:
        if use.scope < 0:
            return None
        if use.file.path not in self._in_file:
            self._in_file[use.file.path] = cache(self._store.scopes_in(use.file.path))
        return self._in_file[use.file.path](use.scope)

    def _definitions(self, name: str) -> list[Located]:
        if name not in self._named:
            self._named[name] = self._store.definitions_named(name)
        return self._named[name]

    def _references(self, name: str) -> list[Reference]:
        if name not in self._uses:
            self._uses[name] = self._store.references(name)
        return self._uses[name]

    def _is_imported(self, file: File, importer: File) -> bool:
        return importer.id in self._importers_of_file(file)

    def _importers_of_file(self, file: File) -> frozenset[int]:
        if file.id not in self._importers:
            self._importers[file.id] = frozenset(f.id for f in importers_of(self._store, file))
        return self._importers[file.id]

    def _importers_of(self, rivals: _Rivals) -> frozenset[int]:
        """Return the files that import one in which a rival is defined."""
        if rivals.importers is None:
            files = {other.file.id: other.file for other in rivals.all}
            rivals.importers = frozenset().union(*map(self._importers_of_file, files.values()))
        return rivals.importers


def dependents(store: SymbolStore, paths: Iterable[str], depth: int) -> list[tuple[str, int]]:
    """Return the files that import these, directly or through others, with the number of steps."""
    found: dict[str, int] = {}
    level = [file for path in paths if (file := store.file(path)) is not None]
    start = {file.path for file in level}
    for step in range(1, depth + 1):
        following: list[File] = []
        for file in level:
            for importer in importers_of(store, file):
                if importer.path not in found and importer.path not in start:
                    found[importer.path] = step
                    following.append(importer)
            if len(found) > MOST_REACHED:
                return sorted(found.items(), key=lambda item: (item[1], item[0]))
        level = following
    return sorted(found.items(), key=lambda item: (item[1], item[0]))


def _is_visible(defined: str, used: str, language: GraphLanguage) -> bool:
    """Return whether a symbol that is not exported can be used in another file."""
    if language in ("c", "cpp"):
        return defined.endswith(_HEADERS)
    if language == "go":
        return posixpath.dirname(defined) == posixpath.dirname(used)
    return True


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def _is_macro_before(definition: Definition) -> bool:
    """Return whether a macro before a declaration was taken for its name."""
    is_value = "=" in definition.signature
    return definition.kind in _DECLARED and definition.name.isupper() and not is_value


def _names_of(target: Target) -> tuple[str, ...]:
    """Return the names by which a symbol is used: a constructor is called by its class's."""
    last = target.container.rpartition(".")[2]
    special = target.name.startswith("__") and target.name.endswith("__")
    if last and (target.name in _IMPLICIT or special or target.name == last):
        return (target.name, last)
    return (target.name,)


def _order(callers: Iterable[Caller]) -> tuple[Caller, ...]:
    return tuple(sorted(callers, key=lambda c: (c.depth, c.path, c.line, c.name)))
