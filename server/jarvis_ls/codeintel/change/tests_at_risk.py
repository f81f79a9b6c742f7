"""Which tests may fail after a change, the likeliest first.

A test is at risk when it reaches a changed symbol through calls and names, when it changed itself,
or when its file imports a changed one. What a test framework calls by its name (`setUp`) puts all
tests of its class or file at risk, and a test of a class in Python those that its heirs run.

The nearest come first. A test that is named after what changed, or is in a file that is, counts as
nearer than its steps say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jarvis_ls.codeintel.change.symbol_changes import Change, SymbolChange
from jarvis_ls.codeintel.graph.callers import Caller
from jarvis_ls.codeintel.graph.languages import GraphLanguage
from jarvis_ls.codeintel.graph.records import Definition, Kind
from jarvis_ls.codeintel.graph.store import SymbolStore

_STARTED = {
    "python": re.compile(r"test"),
    "go": re.compile(r"(?:Test|Benchmark|Fuzz|Example)(?:[A-Z_]|$)"),
    "rust": re.compile(r""),
    "java": re.compile(r""),
}
"""Names of functions that the runner of a language starts; of other languages it starts files."""
_SET_UPS = frozenset(
    "setUp setUpClass setUpModule asyncSetUp setup setup_method setup_class setup_module "
    "tearDown tearDownClass teardown_method beforeEach beforeAll TestMain".split()
)
_MARKS = re.compile(r"^tests?|tests?$|_")
_BASES = re.compile(r"class \w+\s*\((?P<bases>[^()]*)\)")
_SHORTEST_PART = 3
"""Letters that a name must have to be looked for in others."""
_FAR = 100
"""Steps that an import counts for: a test that only imports comes behind those that reach."""


@dataclass(frozen=True, slots=True)
class TestAtRisk:
    """A test, or a file of tests."""

    path: str
    """Its file."""
    name: str
    """Qualified name; empty for the whole file."""
    depth: int
    """Steps from what changed; 0 when it changed itself."""

    def __str__(self) -> str:
        """Return it as a test runner takes it."""
        return f"{self.path}::{self.name.replace('.', '::')}" if self.name else self.path


def tests_at_risk(
    graph: SymbolStore,
    changes: Sequence[SymbolChange],
    reached: Iterable[Caller],
    imported: Iterable[tuple[str, int]],
) -> tuple[TestAtRisk, ...]:
    """Return the tests at risk, by distance, path and name.

    `reached` is the code that uses what changed, `imported` are the files that import it.
    """
    found: dict[tuple[str, str], int] = {}
    touched = [
        (change.path, change.definition.qualified, 0)
        for change in changes
        if change.definition.is_test and change.change is not Change.REMOVED
    ]
    touched += [(caller.path, caller.name, caller.depth) for caller in reached if caller.is_test]
    for path, name, depth in touched:
        for unit in _units(graph, path, name):
            found[path, unit] = min(depth, found.get((path, unit), depth))
    files = {path for path, _ in found}
    for path, steps in imported:
        file = graph.file(path)
        if file is not None and file.is_test and path not in files:
            for unit in _units(graph, path, ""):
                found[path, unit] = _FAR + steps
    distance = _Distance(changes)
    ordered = sorted(found.items(), key=lambda item: (distance.of(*item), item[0]))
    return tuple(TestAtRisk(path, name, depth) for (path, name), depth in ordered)


class _Distance:
    """How far tests are from what changed, their names considered."""

    def __init__(self, changes: Sequence[SymbolChange]) -> None:
        symbols = [change for change in changes if change.definition.kind is not Kind.FILE]
        self._names = {_plain(change.definition.name) for change in symbols}
        self._names |= {
            _plain(change.definition.container.rpartition(".")[2]) for change in symbols
        }
        stems = {_stem(change.path) for change in changes}
        self._files = {stem for stem in stems if len(stem) >= _SHORTEST_PART}

    def of(self, test: tuple[str, str], depth: int) -> float:
        """Return the steps, less where names say that it is nearer."""
        path, name = test
        is_named = _plain(name.rpartition(".")[2]) in self._names
        near = any(len(p) >= _SHORTEST_PART and p in _plain(name) for p in self._names)
        file = _stem(path)
        is_own = any(stem in file for stem in self._files)
        return depth - 0.5 * is_named - 0.75 * near - 0.75 * is_own


def _stem(path: str) -> str:
    return _plain(path.rpartition("/")[2].partition(".")[0])


def _plain(name: str) -> str:
    """Return a name without what says that it is a test, and without how it is written."""
    return _MARKS.sub("", name.casefold())


def _units(graph: SymbolStore, path: str, name: str) -> list[str]:
    """Return what a runner starts when the code `name` of a file is reached."""
    file = graph.file(path)
    if file is None:
        return []
    if file.language not in _STARTED:
        return [""]
    definitions = [located.definition for located in graph.definitions_in(path)]
    tests = [d for d in definitions if is_started_test(d, file.language)]
    if not name:
        return [test.qualified for test in tests] or ([""] if file.is_test else [])
    last = name.rpartition(".")[2]
    if last in _SET_UPS:
        around = name.rpartition(".")[0]
        return [test.qualified for test in tests if not around or test.container == around]
    found = [test.qualified for test in tests if test.qualified == name]
    return [*found, *_inherited(definitions, found)] if file.language == "python" else found


def _inherited(definitions: list[Definition], tests: list[str]) -> list[str]:
    """Return the same tests as classes of the file run them that inherit them."""
    known = {definition.qualified for definition in definitions}
    bases = {
        definition.qualified: [base.strip() for base in match["bases"].split(",")]
        for definition in definitions
        if definition.kind is Kind.CLASS and (match := _BASES.search(definition.signature))
    }
    found: dict[str, None] = {}
    wanted = list(tests)
    while wanted:
        around, _, name = wanted.pop().rpartition(".")
        for heir, names in bases.items():
            test = f"{heir}.{name}"
            if around and around in names and test not in known and test not in found:
                found[test] = None
                wanted.append(test)
    return list(found)


def is_started_test(definition: Definition, language: GraphLanguage) -> bool:
    """Return whether a definition of a test is what a runner starts.

    Where runners start files every function counts.
    """
    is_function = definition.kind in (Kind.FUNCTION, Kind.METHOD)
    named = _STARTED.get(language)
    return is_function and (named is None or named.match(definition.name) is not None)
