"""A whole program over its files: which function, variable or class a name means in a file.

A tree may hold several programs, whose names collide. A name means what the file itself holds,
then what its headers hold, then the one definition that other files offer; of several the one
that is nearest in the folders; of two that are as near, none.

Who analyses a function notes which questions were asked here (`Lookups`). Its result holds as
long as they have the same answers.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeVar

from jarvis_ls.jsec.flow.domain.call_summary import DISTANCE, CallSummary
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR, GlobalIR, RecordIR
from jarvis_ls.jsec.flow.ir.types import FunctionType
from jarvis_ls.jsec.flow.library.c_functions import STOPS
from jarvis_ls.jsec.flow.program.file_outline import (
    FunctionOutline,
    Outline,
    digest_of,
    digest_of_values,
)
from jarvis_ls.jsec.flow.program.member_facts import members_of, records_of, unbounded

Load = Callable[[str, str], FunctionIR | None]
"""A function by the path of its file and its key there; None when it cannot be read."""

Lookup = tuple[str, str, str]
"""What was asked for: its sort, its name and the file that asks."""

Lookups = dict[Lookup, bytes]
"""Questions with what names their answers; empty bytes when there is none."""

_Name = TypeVar("_Name")
_Entry = TypeVar("_Entry")

_YES: Final = b"1"
_NO: Final = b""
_MOST_REACHES: Final = 4_000
"""How many are held: of a large program they are a third of what a process holds."""
_MOST_ANSWERS: Final = 8_000
"""How many answers are held besides those of the function that is examined."""
_BELOW: Final = 3
"""Calls inside of a call whose ways are examined."""


class Program:
    """Names of all files; the functions themselves are loaded when they are asked for."""

    def __init__(self, outlines: Iterable[Outline], load: Load) -> None:
        self._outlines: dict[str, Outline] = {}
        self._load = load
        self._functions: dict[str, list[tuple[str, str, bool]]] = {}
        self._methods: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self._globals: dict[str, list[str]] = {}
        self._records: dict[str, list[str]] = {}
        self._written: dict[str, set[str]] = {}
        self._stops: dict[str, set[str]] = {}
        self._decoded: dict[str, set[str]] = {}
        self._bounded: dict[str, set[str]] = {}
        """Files that store decoded numbers in members of a record, or bound some, by its name."""
        self._habits: dict[str, dict[str, list[int]]] = {}
        """How often each file tests what it uses before, and how often not, by key."""
        self._found: dict[Lookup, tuple[str, str] | None] = {}
        self._declared: dict[tuple[str, str], FunctionType | None] = {}
        self._reaches: dict[tuple[str, str, int], CallSummary] = {}
        self._digests: dict[CallSummary, bytes] = {}
        self._returning: dict[tuple[str, str, int], bool] = {}
        self._derived: dict[str, set[str]] | None = None
        """Classes by their base, until a file changes."""
        self._taken: set[str] | None = None
        """Functions whose address is taken, until a file changes."""
        self._asked: Lookups | None = None
        self._answers: Lookups = {}
        """What named the answers to the last questions, until a file changes."""
        for outline in outlines:
            self.add(outline)

    @property
    def outlines(self) -> Mapping[str, Outline]:
        """Of every file, by path."""
        return self._outlines

    def add(self, outline: Outline) -> None:
        """Add a file, or one that changed."""
        self.discard(outline.path)
        path = outline.path
        self._outlines[path] = outline
        for key, function in outline.functions.items():
            place = path, key, function.static
            self._functions.setdefault(function.name, []).append(place)
            for habit, tested in function.habits:
                counts = self._habits.setdefault(habit, {}).setdefault(path, [0, 0])
                counts[not tested] += 1
            if function.record:
                self._methods.setdefault(_method(function), []).append((path, key))
        for name in outline.globals:
            self._globals.setdefault(name, []).append(path)
        for name in outline.records:
            self._records.setdefault(name, []).append(path)
        for name in outline.written:
            self._written.setdefault(name, set()).add(path)
        for name in outline.stops:
            self._stops.setdefault(name, set()).add(path)
        for name in records_of(outline.decoded):
            self._decoded.setdefault(name, set()).add(path)
        for name in records_of(outline.bounded):
            self._bounded.setdefault(name, set()).add(path)

    def discard(self, path: str) -> None:
        """Forget a file that is gone."""
        self._found.clear()
        self._declared.clear()
        self._reaches.clear()
        self._digests.clear()
        self._returning.clear()
        self._answers.clear()
        self._derived = self._taken = None
        before = self._outlines.pop(path, None)
        if before is None:
            return
        for name in {function.name for function in before.functions.values()}:
            _remove(self._functions, name, lambda place: place[0] == path)
        for method in {
            _method(function) for function in before.functions.values() if function.record
        }:
            _remove(self._methods, method, lambda place: place[0] == path)
        for habit in {key for own in before.functions.values() for key, _ in own.habits}:
            del self._habits[habit][path]
            if not self._habits[habit]:
                del self._habits[habit]
        for name in before.globals:
            _remove(self._globals, name, lambda other: other == path)
        for name in before.records:
            _remove(self._records, name, lambda other: other == path)
        for name in before.written:
            _discard(self._written, name, path)
        for name in before.stops:
            _discard(self._stops, name, path)
        for name in records_of(before.decoded):
            _discard(self._decoded, name, path)
        for name in records_of(before.bounded):
            _discard(self._bounded, name, path)

    @property
    def is_watched(self) -> bool:
        """Return whether it is noted what is asked."""
        return self._asked is not None

    def watch(self) -> Lookups:
        """Begin to note what is asked, and what names the answers; gives where it is noted."""
        self._asked = {}
        return self._asked

    def holds(self, lookups: Lookups) -> bool:
        """Return whether every question still has its answer."""
        return all(self.answer(lookup) == digest for lookup, digest in lookups.items())

    def load(self, path: str, key: str) -> FunctionIR | None:
        """Return a function by its place; None when it cannot be read."""
        return self._load(path, key)

    def note_function(self, path: str, key: str) -> None:
        """Note that an answer is about this function."""
        self._note(("own", key, path))

    def function(self, name: str, from_file: str) -> FunctionIR | None:
        """Return the function that a name means in a file."""
        lookup = "function", name, from_file
        self._note(lookup)
        found = self._find(lookup)
        return None if found is None else self._load(*found)

    def overloads(self, name: str, from_file: str) -> list[FunctionIR]:
        """Return all definitions of that full name in the file that `function` finds it in, when
        they are several."""
        asking = self._outlines.get(from_file)
        if asking is None or asking.language != "cpp":
            return []
        self._note(("overloads", name, from_file))
        loaded = (self._load(*place) for place in self._overloads(name, from_file))
        return [function for function in loaded if function is not None]

    def overrides(self, record: str, method: str, from_file: str) -> list[FunctionIR]:
        """Return what a call of a virtual method may run: definitions in the class and in those
        derived from it."""
        lookup = "overrides", f"{record}::{method}", from_file
        self._note(lookup)
        loaded = (self._load(*place) for place in self._overrides(lookup[1], from_file))
        return [function for function in loaded if function is not None]

    def variable(self, name: str, from_file: str) -> GlobalIR | None:
        """Return the variable of file scope that a name means in a file."""
        lookup = "variable", name, from_file
        self._note(lookup)
        found = self._find(lookup)
        return None if found is None else self._outlines[found[0]].globals[name]

    def record(self, name: str, from_file: str) -> RecordIR | None:
        """Return the struct, union or class that a name means in a file."""
        lookup = "record", name, from_file
        self._note(lookup)
        found = self._find(lookup)
        return None if found is None else self._outlines[found[0]].records[name]

    def is_written(self, name: str, from_file: str) -> bool:
        """Return whether some function may change the variable that a name means in a file."""
        lookup = "written", name, from_file
        self._note(lookup)
        return self._is_written(name, from_file)

    def decoded_members(self, record: str, from_file: str) -> frozenset[str]:
        """Return the members of a record that hold numbers decoded from bytes which no function of
        the program compares with a bound."""
        self._note(("decoded", record, from_file))
        return self._decoded_members(record, from_file)

    def untested_uses(self, function: FunctionIR) -> frozenset[str] | None:
        """Return the keys of what a function uses untested; None when that is not known."""
        outline = self._outlines.get(function.file)
        own = outline.functions.get(function.name) if outline is not None else None
        if own is None or own.span != function.span:
            return None
        return frozenset(key for key, tested in own.habits if not tested)

    def habit(self, key: str, from_file: str) -> tuple[int, int]:
        """Return how often the program tests a result or member before it uses it, and how often
        not; the key is one of `untested_uses`."""
        self._note(("habit", key, from_file))
        return self._habit(key, from_file)

    def summary(self, name: str, from_file: str) -> CallSummary | None:
        """Return the summary of the function that a name means in a file; None when only following
        it tells what it may do, as in C++ and Rust."""
        place = self._find(("function", name, from_file))
        if place is None or self._outlines[place[0]].language != "c":
            return None
        self._note(("reach", name, from_file))
        return self._reach_of(place)

    def comes_back(self, name: str, from_file: str) -> bool:
        """Return whether a way through the function that a name means in a file is known to come
        back, without more than the outlines.
        """
        self._note(("comes back", name, from_file))
        return self._comes_back(name, from_file, _BELOW)

    def ends(self, name: str) -> bool:
        """Return whether a library function of that name does not return."""
        return name in STOPS

    def stops(self, name: str, from_file: str) -> bool:
        """Return whether a function is declared not to return."""
        self._note(("stops", name, from_file))
        return bool(self._stops.get(name))

    def prototype(self, name: str, from_file: str) -> FunctionType | None:
        """Return the type of a function as a file, or one of its headers, declares it.

        What names a function names the texts of its headers, too: this is not noted.
        """
        key = name, from_file
        try:
            return self._declared[key]
        except KeyError:
            found = self._declared[key] = self._prototype(name, from_file)
            return found

    def is_cpp(self, file: str) -> bool:
        """Return whether a file is C++."""
        outline = self._outlines.get(file)
        return outline is not None and outline.language == "cpp"

    def is_taken(self, name: str) -> bool:
        """Return whether the address of a function of that name is taken anywhere."""
        if self._taken is None:
            self._taken = _all_taken(self._outlines.values())
        return name in self._taken

    def place_of(self, name: str, from_file: str) -> tuple[str, str] | None:
        """Path and key of the function that a name means in a file; nothing is loaded."""
        return self._find(("function", name, from_file))

    def answer(self, lookup: Lookup) -> bytes:
        """Return what names the answer to a question."""
        sort, name, from_file = lookup
        if sort == "written":
            return _YES if self._is_written(name, from_file) else _NO
        if sort == "stops":
            return _YES if self._stops.get(name) else _NO
        if sort == "decoded":
            return " ".join(sorted(self._decoded_members(name, from_file))).encode()
        if sort == "habit":
            return b"%d %d" % self._habit(name, from_file)
        if sort == "comes back":
            return _YES if self._comes_back(name, from_file, _BELOW) else _NO
        if sort == "overrides":
            return b"".join(self._digest(place) for place in self._overrides(name, from_file))
        if sort == "overloads":
            return b"".join(self._digest(place) for place in self._overloads(name, from_file))
        if sort == "own":
            outline = self._outlines.get(from_file)
            known = outline is not None and name in outline.functions
            return self._digest((from_file, name)) if known else _NO
        found = self._find(lookup)
        if found is None:
            return _NO
        if sort == "reach":
            return self._digest_of_summary(self._reach_of(found))
        if sort == "function":
            return self._digest(found)
        outline = self._outlines[found[0]]
        return digest_of_values(
            outline.globals[name] if sort == "variable" else outline.records[name]
        )

    def _prototype(self, name: str, from_file: str) -> FunctionType | None:
        asking = self._outlines.get(from_file)
        if asking is None:
            return None
        found = asking.prototypes.get(name)
        for path in asking.closure if found is None else ():
            header = self._outlines.get(path)
            found = header.prototypes.get(name) if header is not None else None
            if found is not None:
                break
        return asking.imported.get(name) if found is None else found

    def _note(self, lookup: Lookup) -> None:
        if self._asked is None or lookup in self._asked:
            return
        answer = self._answers.get(lookup)
        if answer is None:
            if len(self._answers) > _MOST_ANSWERS:  # functions of a file ask much the same
                self._answers.clear()
            answer = self._answers[lookup] = self.answer(lookup)
        self._asked[lookup] = answer

    def _reach_of(self, place: tuple[str, str]) -> CallSummary:
        if len(self._reaches) > _MOST_REACHES:  # worked out again faster than all are held
            self._reaches.clear()
            self._digests.clear()
        return self._summarise(place, DISTANCE)

    def _summarise(self, place: tuple[str, str], distance: int) -> CallSummary:
        key = (*place, distance)
        found = self._reaches.get(key)
        if found is None:
            path = place[0]
            own = self._outlines[path].functions[place[1]]
            inner = [self._find(("function", name, path)) for name in own.calls] if distance else []
            parts = [
                self._summarise(callee, distance - 1) for callee in inner if callee is not None
            ]
            found = self._reaches[key] = CallSummary(
                frozenset(own.calls).union(*(part.calls for part in parts)),
                frozenset(own.acts).union(*(part.acts for part in parts)),
                frozenset(own.reads).union(*(part.reads for part in parts)),
                own.size + sum(part.size for part in parts),
            )
        return found

    def _comes_back(self, name: str, from_file: str, distance: int) -> bool:
        place = self._find(("function", name, from_file))
        short = name.rpartition("::")[2]
        if self._stops.get(short) or self._stops.get(name):
            return False
        if place is None:
            return short not in STOPS
        key = (*place, distance)
        known = self._returning.get(key)
        if known is None:
            path = place[0]
            function = self._outlines[path].functions[place[1]]
            way = None if "::" in function.name else function.way
            known = self._returning[key] = way is not None and (
                not way
                or (
                    distance > 0
                    and all(self._comes_back(callee, path, distance - 1) for callee in way)
                )
            )
        return known

    def _digest_of_summary(self, reach: CallSummary) -> bytes:
        digest = self._digests.get(reach)
        if digest is None:
            digest = self._digests[reach] = digest_of(reach.pack())
        return digest

    def _digest(self, place: tuple[str, str]) -> bytes:
        """Names a function and where its file is: its faults name that file."""
        path, key = place
        return self._outlines[path].functions[key].digest + path.encode()

    def _find(self, lookup: Lookup) -> tuple[str, str] | None:
        try:
            return self._found[lookup]
        except KeyError:
            found = self._found[lookup] = self._resolve(*lookup)
            return found

    def _overloads(self, name: str, from_file: str) -> list[tuple[str, str]]:
        first = self._find(("function", name, from_file))
        places = self._functions.get(name, ())
        found = [(path, key) for path, key, _ in places if first is not None and path == first[0]]
        return found if len(found) > 1 else []

    def _resolve(self, sort: str, name: str, from_file: str) -> tuple[str, str] | None:
        if sort in ("function", "reach"):
            places = self._functions.get(name, [])
            path = self._nearest(from_file, [(path, static) for path, _, static in places])
            keys = [key for file, key, _ in places if file == path]
            return (path, keys[0]) if path and keys else None
        if sort == "record":
            found = [(path, False) for path in self._records.get(name, ())]
            path = self._nearest(from_file, found)
            return (path, name) if path else None
        known = [(path, self._outlines[path].globals[name]) for path in self._globals.get(name, ())]
        defined = [(path, variable.static) for path, variable in known if not variable.extern]
        path = self._nearest(from_file, defined) or self._nearest(
            from_file, [(path, variable.static) for path, variable in known]
        )
        return (path, name) if path else None

    def _nearest(self, from_file: str, found: list[tuple[str, bool]]) -> str:
        """Of the files that have a name (and whether only for themselves) the one that is meant;
        empty when that is not known."""
        paths = dict(found)
        if from_file in paths:
            return from_file
        asking = self._outlines.get(from_file)
        for path in asking.closure if asking is not None and paths else ():
            if path in paths:
                return path
        public = [path for path, static in paths.items() if not static]
        if len(public) < 2:
            return public[0] if public else ""
        folder = posixpath.dirname(from_file).split("/")
        near = {path: _common_folders(folder, path) for path in public}
        best = max(near.values())
        nearest = [path for path, shared in near.items() if shared == best]
        return nearest[0] if len(nearest) == 1 else ""

    def _is_written(self, name: str, from_file: str) -> bool:
        found = self._find(("variable", name, from_file))
        writing = self._written.get(name, set())
        if found is None:
            return True
        if self._outlines[found[0]].globals[name].static:
            return any(path == found[0] or self._includes(path, found[0]) for path in writing)
        return bool(writing)

    def _decoded_members(self, record: str, from_file: str) -> frozenset[str]:
        storing = self._decoded.get(record)
        place = self._find(("record", record, from_file)) if storing else None
        if storing is None or place is None:
            return frozenset()
        outlines = self._outlines
        decoded: set[str] = set()
        bounded: set[str] = set()
        for path in storing:
            if self._find(("record", record, path)) == place:
                decoded.update(members_of(record, outlines[path].decoded))
        for path in self._bounded.get(record, ()):
            if self._find(("record", record, path)) == place:
                bounded.update(members_of(record, outlines[path].bounded))
        return unbounded(outlines[place[0]].records[record], decoded, bounded)

    def _habit(self, key: str, from_file: str) -> tuple[int, int]:
        sort, _, name = key.partition(" ")
        of = "function"
        if sort in ("member", "room", "rooms"):
            of, name = "record", name.partition(" ")[0].rpartition(".")[0]
        place = self._find((of, name, from_file))
        tested = untested = 0
        for path, counts in self._habits.get(key, {}).items():
            if self._find((of, name, path)) == place:
                tested += counts[0]
                untested += counts[1]
        return tested, untested

    def _includes(self, path: str, header: str) -> bool:
        return header in self._outlines[path].closure

    def _overrides(self, method: str, from_file: str) -> list[tuple[str, str]]:
        """Return the definitions of a method, in one file when the classes of that name are
        several."""
        base, _, name = method.rpartition("::")
        found = []
        for record in [base, *sorted(self._below(base))]:
            places = self._methods.get((record, name), [])
            path = self._nearest(from_file, [(path, False) for path, _ in places])
            found += [place for place in places if place[0] == path]
        return found

    def _below(self, base: str) -> set[str]:
        if self._derived is None:
            self._derived = _all_derived(self._outlines.values())
        below: set[str] = set()
        waiting = [base]
        while waiting:
            for record in self._derived.get(waiting.pop(), ()):
                if record not in below:
                    below.add(record)
                    waiting.append(record)
        return below


def _all_taken(outlines: Iterable[Outline]) -> set[str]:
    taken: set[str] = set()
    for outline in outlines:
        for function in outline.functions.values():
            taken.update(function.takes)
        taken |= outline.takes
    return taken


def _all_derived(outlines: Iterable[Outline]) -> dict[str, set[str]]:
    derived: dict[str, set[str]] = {}
    for outline in outlines:
        for name, record in outline.records.items():
            for base in record.bases:
                derived.setdefault(base, set()).add(name)
    return derived


def _method(function: FunctionOutline) -> tuple[str, str]:
    return function.record, function.name.rpartition("::")[2]


def _common_folders(folder: list[str], path: str) -> int:
    """Return the number of folders, from the root on, that a folder and a file have in common."""
    count = 0
    for name, other in zip(folder, posixpath.dirname(path).split("/"), strict=False):
        if name != other:
            break
        count += 1
    return count


def _remove(
    index: dict[_Name, list[_Entry]], name: _Name, is_gone: Callable[[_Entry], bool]
) -> None:
    """Take entries out of what is kept under a name; nothing stays of a name without any."""
    kept = [entry for entry in index[name] if not is_gone(entry)]
    if kept:
        index[name] = kept
    else:
        del index[name]


def _discard(index: dict[str, set[str]], name: str, path: str) -> None:
    """Take a file out of those of a name; nothing stays of a name without any."""
    index[name].discard(path)
    if not index[name]:
        del index[name]
