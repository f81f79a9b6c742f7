"""Which code a failure can come from: what the failing tests and lines reach through calls.

The graph answers who uses a symbol; here it is walked the other way, from a test to what it calls.
A name that stays open counts for all that it may mean, as in the graph.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TypeVar

from jarvis_ls.codeintel.graph.callers import Search, Target
from jarvis_ls.codeintel.graph.extract import LARGEST, read_symbols
from jarvis_ls.codeintel.graph.records import Definition, Kind
from jarvis_ls.codeintel.graph.store import File, Located, SymbolStore
from jarvis_ls.codeintel.graph.workspace import sync_folder
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.tester.results import Place

_DEPTH = 12
"""Calls from a test to what is still reached."""
_MOST_UNITS = 3_000
_MOST_TESTS = 200
"""Failing tests that are begun with."""
_MOST_MEANT = 12
"""Definitions that a name may mean; beyond them it says nothing."""
_CALLERS = 2
"""Steps from a failing line to who calls it."""
T = TypeVar("T")
_WORD = re.compile(r"[\w$]+")


@dataclass(frozen=True, slots=True)
class Unit:
    """A definition in a file, or what the file does outside of all."""

    path: str
    scope: int
    """Number of the definition in its file; -1 outside of all."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What a failure can come from."""

    files: tuple[str, ...]
    """Files by path."""
    symbols: tuple[str, ...]
    """`path::name` in the order they are reached: what is called first comes first."""


class CallGraph:
    """The symbol graph of the copy, as it was before any patch."""

    def __init__(self, folder: Path) -> None:
        """Read the sources below a folder."""
        self._folder = folder
        self.store = SymbolStore()
        sync_folder(self.store, folder)
        self._names: dict[str, dict[int, set[str]]] = {}
        self._defined: dict[str, list[Definition]] = {}
        self._used_in: dict[Target, frozenset[Unit]] = {}

    @cached_property
    def sources(self) -> frozenset[str]:
        """Return the paths of all files in a language of the graph."""
        return frozenset(file.path for file in self.store.files())

    def reach(self, tests: Iterable[str], places: Iterable[Place]) -> Reach:
        """Return what failing tests, by the names of their runners, and failing lines reach.

        Where no test is found by its name, all files of tests are begun with.
        """
        named = [unit for test in islice(tests, _MOST_TESTS) for unit in self.find_test(test)]
        lines = [unit for place in places if (unit := self.unit_at(place)) is not None]
        begin = [*named, *lines]
        if not any(self._is_test(unit) for unit in begin):
            begin += [
                Unit(f.path, scope) for f in self._test_files() for scope in self._scopes(f.path)
            ]
        reached = self._walk(begin)
        for path, name in self._callers_of(lines):
            reached.setdefault(f"{path}::{name}", path)
        return Reach(tuple(dict.fromkeys(reached.values())), tuple(reached))

    def near(self, places: Iterable[Place]) -> Reach:
        """Return only what failing lines are in."""
        units = [unit for place in places if (unit := self.unit_at(place)) is not None]
        found = {self._name_of(unit): unit.path for unit in units}
        return Reach(tuple(dict.fromkeys(found.values())), tuple(found))

    def find_test(self, name: str) -> list[Unit]:
        """Return the definitions that a runner may mean by a name, or the files of that name."""
        path, _, inner = name.partition("::")
        is_file = self.store.file(path) is not None
        if is_file and not inner:
            return [Unit(path, scope) for scope in self._scopes(path)]
        words = _WORD.findall((inner if is_file else name).partition("[")[0])
        last = words[-1] if words else ""
        found = [
            Unit(located.file.path, located.number)
            for located in self.store.definitions_named(last)
            if located.definition.is_test or located.file.is_test
        ]
        exact = [unit for unit in found if unit.path == path]
        if exact or found:
            return exact or found
        stems = [f.path for f in self._test_files() if Path(f.path).stem == last]
        return [Unit(stem, scope) for stem in stems for scope in self._scopes(stem)]

    def unit_at(self, place: Place) -> Unit | None:
        """Return the innermost definition around a line; None for a file that is no source."""
        if self.store.file(place.path) is None:
            return None
        best: tuple[int, int] | None = None
        for number, definition in enumerate(self._definitions(place.path)):
            if definition.line <= place.line <= definition.end_line:
                size = definition.end_line - definition.line
                if best is None or size <= best[0]:
                    best = size, number
        return Unit(place.path, best[1] if best is not None else -1)

    def _walk(self, begin: Iterable[Unit]) -> dict[str, str]:
        """Return the reached symbols with their files, the nearest first."""
        found: dict[str, str] = {}
        waiting = deque((unit, 0) for unit in dict.fromkeys(begin))
        seen = {unit for unit, _ in waiting}
        while waiting and len(seen) < _MOST_UNITS:
            unit, depth = waiting.popleft()
            found.setdefault(self._name_of(unit), unit.path)
            if depth == _DEPTH:
                continue
            for following in self._called_by(unit):
                if following not in seen:
                    seen.add(following)
                    waiting.append((following, depth + 1))
        for unit, _ in waiting:
            found.setdefault(self._name_of(unit), unit.path)
        return found

    def _called_by(self, unit: Unit) -> Iterator[Unit]:
        """Yield what a definition uses; of a class also what it consists of."""
        for name in sorted(self._names_in(unit)):
            meant = self.store.definitions_named(name)
            if len(meant) > _MOST_MEANT:
                continue
            for located in meant:
                if unit in self._users(located):
                    yield Unit(located.file.path, located.number)
        if unit.scope < 0:
            return
        definitions = self._definitions(unit.path)
        own = definitions[unit.scope] if unit.scope < len(definitions) else None
        if own is not None and own.kind in (Kind.CLASS, Kind.IMPLEMENTATION):
            for number, definition in enumerate(definitions):
                if definition.container == own.qualified:
                    yield Unit(unit.path, number)

    def _users(self, located: Located) -> frozenset[Unit]:
        target = _target(located)
        if target not in self._used_in:
            users = self._search.users(target)
            self._used_in[target] = frozenset(
                Unit(reference.file.path, reference.scope) for reference, _ in users
            )
        return self._used_in[target]

    @cached_property
    def _search(self) -> Search:
        return Search(self.store)

    def _callers_of(self, units: Iterable[Unit]) -> Iterator[tuple[str, str]]:
        targets = []
        for unit in units:
            definitions = self._definitions(unit.path)
            if 0 <= unit.scope < len(definitions):
                targets.append(_target_of(unit.path, definitions[unit.scope]))
        for caller in self._search.reach(targets, _CALLERS).callers:
            yield caller.path, caller.name

    def _names_in(self, unit: Unit) -> set[str]:
        if unit.path not in self._names:
            by_scope: dict[int, set[str]] = defaultdict(set)
            try:
                data = read_regular(self._folder / unit.path, limit=LARGEST, root=self._folder)
                symbols = read_symbols(unit.path, data)
            except SkippedFile:
                symbols = None
            for name, places in symbols.places.items() if symbols is not None else ():
                for place in places:
                    by_scope[place.scope].add(name)
            self._names[unit.path] = by_scope
        return self._names[unit.path].get(unit.scope, set())

    def _definitions(self, path: str) -> list[Definition]:
        if path not in self._defined:
            found = self.store.definitions_in(path)
            self._defined[path] = [located.definition for located in found]
        return self._defined[path]

    def _scopes(self, path: str) -> range:
        return range(-1, len(self._definitions(path)))

    def _name_of(self, unit: Unit) -> str:
        definitions = self._definitions(unit.path)
        inside = 0 <= unit.scope < len(definitions)
        return f"{unit.path}::{definitions[unit.scope].qualified}" if inside else unit.path

    def _test_files(self) -> list[File]:
        return [file for file in self.store.files() if file.is_test]

    def _is_test(self, unit: Unit) -> bool:
        file = self.store.file(unit.path)
        if file is not None and file.is_test:
            return True
        definitions = self._definitions(unit.path)
        return 0 <= unit.scope < len(definitions) and definitions[unit.scope].is_test


class GraphThread:
    """The graph in a thread of its own: a database is for the thread that has opened it."""

    def __init__(self, thread: ThreadPoolExecutor, graph: CallGraph) -> None:
        """For `open`."""
        self._thread, self._graph = thread, graph
        self.sources = graph.sources
        """See `CallGraph`."""

    @staticmethod
    async def open(folder: Path) -> GraphThread:
        """Return the graph of the sources below a folder."""
        thread = ThreadPoolExecutor(1, thread_name_prefix="graph")
        loop = asyncio.get_running_loop()
        return GraphThread(thread, await loop.run_in_executor(thread, CallGraph, folder))

    async def ask(self, question: Callable[[CallGraph], T]) -> T:
        """Return what a function says of the graph."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, question, self._graph)

    def close(self) -> None:
        """Drop the graph."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def _target(located: Located) -> Target:
    return _target_of(located.file.path, located.definition)


def _target_of(path: str, definition: Definition) -> Target:
    return Target(
        path, definition.name, definition.kind, definition.container, definition.is_exported
    )
