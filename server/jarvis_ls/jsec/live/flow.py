"""Flow while the user types: what an edit changes is followed again, as far as time allows.

Functions of open documents are taken from there, all others from what the last scan of the
folder kept. Each answer names what it asked the program for; an edit costs the functions it
changed and those that asked for them, in whatever file. What does not fit into the time of one
call waits for the next.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Hashable, Iterable, Set
from typing import TypeVar

from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.flow.interp.lock_order import inversions, is_nested
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.program.file_outline import Outline, digest_of_values
from jarvis_ls.jsec.flow.program.ir_store import Store, StoreFolder
from jarvis_ls.jsec.flow.program.open_file import OpenFile
from jarvis_ls.jsec.flow.program.program import Program
from jarvis_ls.jsec.flow.program.result_cache import Answer, Positions
from jarvis_ls.jsec.flow.program.runner import Analyse, Functions, answer_of

MAX_FILES = 3_000
"""In larger programs only open documents are followed between two scans."""

Root = tuple[str, str]
"""File and key of a function that is examined with all it calls."""

_Name = TypeVar("_Name", bound=Hashable)


class LiveFlow:
    """The program of one workspace folder."""

    def __init__(self, analyse: Analyse) -> None:
        self._analyse = analyse
        self.program = Program((), self._load)
        self._open: dict[str, OpenFile] = {}
        self._kept: Functions | None = None
        self._answers: dict[Root, Answer] = {}
        self._asking: dict[str, set[Root]] = defaultdict(set)
        self._flawed: dict[str, set[Root]] = defaultdict(set)
        self._entered: dict[tuple[str, str], set[Root]] = defaultdict(set)
        self._nested: set[Root] = set()
        """Those in which a lock is taken while another is held."""
        self._waiting: dict[Root, frozenset[str]] = {}
        """Those to be followed, with the files in which something else may be known then."""
        self._failed: set[Root] = set()
        """Those whose analysis raised."""

    def set_program(self, place: StoreFolder, names: dict[str, str]) -> None:
        """Take what a scan of the folder kept at `place` under these names, by path."""
        if len(names) > MAX_FILES:
            return
        self._kept = kept = Functions(Store(place), names)
        outlines = {path: kept.outline(path) for path in names}
        for path in set(self.program.outlines) - set(names) - set(self._open):
            self._leave(path)
        for path, outline in outlines.items():
            if outline is not None and path not in self._open:
                self._place(outline)
        for path in names:
            for key, answer in kept.answers(path).items():
                self._waiting.pop((path, key), None)
                self._take((path, key), answer)
        for root, answer in list(self._answers.items()):
            if not self.program.holds(answer.lookups):
                self._drop(root)

    def knows(self, path: str) -> bool:
        """Return whether a document has been given to `update` since it was opened."""
        return path in self._open

    def update(
        self, unit: Unit, root: Node, context: str, closure: tuple[str, ...], *, sure: bool = True
    ) -> None:
        """Follow an edit of a document; see `OpenFile.update`."""
        opened = self._open.setdefault(unit.source.path, OpenFile())
        self._place(opened.update(unit, root, context, closure, sure=sure))

    def close(self, path: str) -> set[str]:
        """Close a document: its functions are those of the last scan, or none until the next.

        Gives the files in which something else may be known now.
        """
        if self._open.pop(path, None) is None:
            return set()
        outline = self._kept.outline(path) if self._kept is not None else None
        if outline is None:
            return self._leave(path)
        return self._place(outline) | self._recall(path)

    def work(self, seconds: float, first: str) -> set[str]:
        """Follow what waits, for about that long and one function at least: those of the file
        `first`, then those that came to it, then others.

        Gives the files in which something else is known now.
        """
        until = time.monotonic() + seconds
        touched: set[str] = set()
        order = sorted(self._waiting, key=lambda r: (r[0] != first, first not in self._waiting[r]))
        analyse = self._analyse(self.program) if order else None
        for number, root in enumerate(order):
            if analyse is None or (number and time.monotonic() > until):
                break
            touched |= self._waiting.pop(root) | self._files(root)
            self._drop(root, again=False)
            outline = self.program.outlines.get(root[0])
            if outline is not None and root[1] in outline.functions:
                places = Positions(self.program.outlines)
                answer = answer_of(self.program, places, analyse, *root)
                if answer is None:
                    self._failed.add(root)
                else:
                    self._take(root, answer)
                    touched |= self._files(root)
        return touched

    @property
    def waits(self) -> bool:
        """Return whether there is something left to follow."""
        return bool(self._waiting)

    def ready(self, path: str) -> bool:
        """Return whether the functions of a file itself have all been followed."""
        return path in self._open and not any(root[0] == path for root in self._waiting)

    def settled(self, path: str) -> bool:
        """Return whether nothing waits that came to a file before or asked for what is in it."""
        return not any(path in files for files in self._waiting.values())

    def failed(self, path: str) -> list[str]:
        """Return the keys of the functions of a file whose analysis raised, in order."""
        opened = self._open.get(path)
        outline = self.program.outlines.get(path)
        analysed = outline.functions if outline is not None else {}
        found = {root[1] for root in self._failed if root[0] == path and root[1] in analysed}
        return sorted(found.union(opened.failed if opened is not None else ()))

    def large(self, path: str) -> tuple[str, ...]:
        """Return the keys of the functions of a document that are too large to be followed."""
        opened = self._open.get(path)
        return opened.large if opened is not None else ()

    def left_out(self, path: str) -> int:
        """Return how many functions of a document are not followed, because they are too many."""
        opened = self._open.get(path)
        return opened.left_out if opened is not None else 0

    def faults(self, path: str) -> list[Fault]:
        """Return the faults proven in a file, whatever function the analysis started at."""
        places = Positions(self.program.outlines)
        found = (
            places.restore(kept)
            for root in sorted(self._flawed.get(path, ()))
            for kept in self._answers[root].faults
            if kept[1][0] == path
        )
        told = [entry for entry in found if entry is not None]
        nested = (
            places.restore(kept)
            for root in sorted(self._nested)
            for kept in self._answers[root].faults
            if is_nested(kept[0])
        )
        opposite = inversions(acquisition for acquisition in nested if acquisition is not None)
        return told + [fault for fault in opposite if fault.file == path]

    def decided(self, path: str) -> set[str]:
        """Functions of a file that were followed to the end, with what others call them with."""
        outline = self.program.outlines.get(path)
        names = (
            {function.name for function in outline.functions.values()}
            if outline is not None
            else set()
        )
        return {name for name in names if self._is_decided(path, name)}

    def _is_decided(self, path: str, name: str) -> bool:
        sure = False
        if self.program.is_taken(name):
            return False
        for root in self._entered.get((path, name), ()):
            outline = self.program.outlines.get(root[0])
            own = outline.functions.get(root[1]) if outline is not None else None
            if own is None or own.cut or not self._answers[root].complete:
                return False
            sure = sure or own.alone or (root[0], own.name) != (path, name)
        return sure

    def _load(self, path: str, key: str) -> FunctionIR | None:
        opened = self._open.get(path)
        if opened is not None:
            return opened.function(key)
        return self._kept.load(path, key) if self._kept is not None else None

    def _place(self, outline: Outline) -> set[str]:
        """Take the outline of a file, and forget the answers that it makes wrong; return the files
        these were of."""
        path = outline.path
        before = self.program.outlines.get(path)
        self.program.add(outline)
        touched = self._recheck(_differing(before, outline), path)
        for key in outline.functions:
            if (path, key) not in self._answers:
                self._wait((path, key), {path})
        return touched

    def _leave(self, path: str) -> set[str]:
        """Forget a file; return those in which something else may be known now."""
        before = self.program.outlines.get(path)
        self.program.discard(path)
        touched = self._recheck(_differing(before, None), path)
        for key in before.functions if before is not None else ():
            touched |= self._files((path, key))
            self._drop((path, key), again=False)
            self._waiting.pop((path, key), None)
        return touched

    def _recall(self, path: str) -> set[str]:
        """Take what a scan found from the functions of a file on, where that holds; return the
        files in which something else is known now."""
        touched: set[str] = set()
        for key, answer in self._kept.answers(path).items() if self._kept is not None else ():
            root = path, key
            if root in self._waiting and self.program.holds(answer.lookups):
                touched |= self._waiting.pop(root)
                self._take(root, answer)
                touched |= self._files(root)
        return touched

    def _recheck(self, names: Iterable[str], path: str) -> set[str]:
        """Drop the answers that a change of `path` makes wrong, by names that mean something else
        now; return the files they were of."""
        asking = {root for name in names for root in self._asking.get(name, ())}
        touched: set[str] = set()
        for root in sorted(asking):
            if not self.program.holds(self._answers[root].lookups):
                touched |= self._files(root)
                self._drop(root)
                self._wait(root, {path})
        return touched

    def _wait(self, root: Root, files: Set[str]) -> None:
        self._waiting[root] = self._waiting.get(root, frozenset()) | files

    def _take(self, root: Root, answer: Answer) -> None:
        self._drop(root, again=False)
        self._answers[root] = answer
        for name in _names(answer):
            self._asking[name].add(root)
        for place in answer.entered:
            self._entered[place].add(root)
        for kept in answer.faults:
            self._flawed[kept[1][0]].add(root)
            if is_nested(kept[0]):
                self._nested.add(root)

    def _drop(self, root: Root, *, again: bool = True) -> None:
        """Forget an answer; with `again` the function waits to be followed again."""
        if again:
            self._wait(root, self._files(root))
        answer = self._answers.pop(root, None)
        self._failed.discard(root)
        if answer is None:
            return
        for name in _names(answer):
            _discard(self._asking, name, root)
        for place in answer.entered:
            _discard(self._entered, place, root)
        for kept in answer.faults:
            _discard(self._flawed, kept[1][0], root)
        self._nested.discard(root)

    def _files(self, root: Root) -> set[str]:
        answer = self._answers.get(root)
        if answer is None:
            return set()
        files = {path for path, _ in answer.entered} | {root[0]}
        if root in self._nested:  # the other order may be reported anywhere
            files |= {
                kept[1][0]
                for function in self._nested
                for kept in self._answers[function].faults
                if is_nested(kept[0])
            }
        return files


def _discard(index: dict[_Name, set[Root]], name: _Name, root: Root) -> None:
    """Take a function out of what is kept under a name; nothing stays of a name without any."""
    roots = index.get(name)
    if roots is not None:
        roots.discard(root)
        if not roots:
            del index[name]


def _names(answer: Answer) -> set[str]:
    """Return the names an answer looked up, without the classes of methods."""
    return {name.rpartition("::")[2] for _, name, _ in answer.lookups}


def _differing(before: Outline | None, after: Outline | None) -> set[str]:
    """Names that mean something else after a file changed."""
    old, new = _meanings(before), _meanings(after)
    names = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    return names | _habits(before, after) | _habits(after, before)


def _habits(of: Outline | None, other: Outline | None) -> set[str]:
    """Return what the functions of a file test or use untested that are not the same in another
    state of it."""
    if of is None:
        return set()
    same = other.functions if other is not None else {}
    return {
        habit.rpartition("::")[2]
        for key, function in of.functions.items()
        if key not in same or same[key].digest != function.digest
        for habit, _ in function.habits
    }


def _meanings(outline: Outline | None) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = defaultdict(list)
    if outline is None:
        return found
    for key, function in outline.functions.items():
        found[key.rpartition("::")[2]].append(function.digest)
    for values in (outline.globals, outline.records):
        for name, value in values.items():
            found[name.rpartition("::")[2]].append(digest_of_values(value))
    for name in outline.written:
        found[name.rpartition("::")[2]].append(b"written")
    return found
