"""Runs the analysis of flow over the functions of one file after the other, and keeps its answers.

Each function is examined with all it calls, by way of `Program`; what was asked there is noted
with the answer, so that the answer is used again for as long as all of that is the same.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.program.file_outline import Outline
from jarvis_ls.jsec.flow.program.ir_store import Store, StoreFolder
from jarvis_ls.jsec.flow.program.program import Program
from jarvis_ls.jsec.flow.program.result_cache import (
    Answer,
    Answers,
    Positions,
    pack_answers,
    unpack_answers,
)

log = logging.getLogger(__name__)

_HELD_INSTRUCTIONS = 25_000
"""Functions are held in memory until they have so many instructions together."""


@dataclass(frozen=True, slots=True)
class Found:
    """What the analysis of one function gave."""

    faults: tuple[Fault, ...]
    """Flaws that come about from it on, in the order of their places."""
    entered: tuple[tuple[str, str], ...]
    """File and name of the functions it went into, itself included."""
    complete: bool
    """Whether it came to its end."""


Root = Callable[[FunctionIR], Found]
"""Analyses what comes about from one function on."""

Analyse = Callable[[Program], Root]
"""An analysis of a program, made for each of its files."""


@dataclass(frozen=True, slots=True)
class Followed:
    """What following the functions of one file gave."""

    path: str
    """The file."""
    faults: tuple[Fault, ...] = ()
    """Flaws, in any file."""
    analysed: int = 0
    """How many functions had to be examined: for the others the answer of before holds."""
    failed: tuple[str, ...] = ()
    """Keys of functions whose analysis raised."""
    left_out: tuple[str, ...] = ()
    """Keys of functions whose analysis took too long, or ended its process."""
    lost: bool = False
    """Whether nothing of its functions is known: they could not be read, or the process ended."""
    decided: frozenset[tuple[str, str]] = frozenset()
    """File and name of functions that were followed to the end with what others call them with,
    or that take nothing: what is not found in them is not there."""
    open: frozenset[tuple[str, str]] = frozenset()
    """Those in which something was not followed to the end."""


class Functions:
    """The functions of a program, read from a store when they are asked for."""

    def __init__(self, store: Store, names: dict[str, str]) -> None:
        """Take the names of the source files in the store, by path."""
        self._store = store
        self._names = names
        self._held: OrderedDict[tuple[str, str], FunctionIR | None] = OrderedDict()
        self._size = 0

    def outline(self, path: str) -> Outline | None:
        """Return the outline of a file; None when it is not kept."""
        name = self._names.get(path)
        return None if name is None else self._store.outline(name)

    def answers(self, path: str) -> Answers:
        """Return what was found from the functions of a file on, as far as it is kept."""
        data = self._store.read(self._store.answers(path))
        return {} if data is None else unpack_answers(data)

    def load(self, path: str, key: str) -> FunctionIR | None:
        """Return a function; None when it is not kept any more."""
        place = path, key
        if place in self._held:
            self._held.move_to_end(place)
            return self._held[place]
        function = self._store.function(self._names[path], key)
        self._held[place] = function
        self._size += 1 if function is None else 1 + function.size
        while self._size > _HELD_INSTRUCTIONS and len(self._held) > 1:
            _, dropped = self._held.popitem(last=False)
            self._size -= 1 if dropped is None else 1 + dropped.size
        return function


class Runner:
    """Follows functions of a program whose files are in a store."""

    def __init__(self, place: StoreFolder, names: dict[str, str], analyse: Analyse) -> None:
        """Take the names of the source files in the store at `place`, by path."""
        self._store = Store(place)
        self._functions = Functions(self._store, names)
        outlines = (self._store.outline(name) for name in names.values())
        self.program = Program(
            (outline for outline in outlines if outline is not None), self._functions.load
        )
        self._places = Positions(self.program.outlines)
        self._analyse = analyse
        self._lasting = self._store.lasting

    def follow(self, path: str, only: Sequence[str] = (), without: Sequence[str] = ()) -> Followed:
        """Follow the functions of a file, or just those with the keys `only`.

        Those of `without` are left out. The answers are kept for a later scan, and those for
        `only` some functions for the next call, which follows the others.
        """
        outline = self.program.outlines.get(path)
        if outline is None:
            log.error("%s: what is kept of its functions cannot be read", path)
            return Followed(path, lost=True)
        before = self._read(path)
        answers = {
            key: answer
            for key, answer in before.items()
            if key in outline.functions and self.program.holds(answer.lookups)
        }
        wanted = list(only) or [key for key in outline.functions if key not in without]
        analysed, failed = self._answer(outline, [k for k in wanted if k not in answers], answers)
        if answers != before and (self._lasting or only):
            self._write(path, answers)
        kept = (fault for key in wanted if key in answers for fault in answers[key].faults)
        faults = tuple(
            restored for fault in kept if (restored := self._places.restore(fault)) is not None
        )
        decided, unsure = self._decide(outline, answers, [*failed, *without])
        return Followed(
            path, faults, analysed, tuple(failed), tuple(without), decided=decided, open=unsure
        )

    def _decide(
        self, outline: Outline, answers: Answers, failed: Sequence[str]
    ) -> tuple[frozenset[tuple[str, str]], frozenset[tuple[str, str]]]:
        decided: set[tuple[str, str]] = set()
        unsure = {(outline.path, outline.functions[key].name) for key in failed}
        for key, answer in answers.items():
            own = outline.functions[key]
            if not answer.complete or own.cut:
                unsure.update(answer.entered)
            elif own.alone:
                decided.update(answer.entered)
            else:
                decided.update(
                    callee for callee in answer.entered if callee != (outline.path, own.name)
                )
        decided = {callee for callee in decided if not self.program.is_taken(callee[1])}
        return frozenset(decided), frozenset(unsure)

    def _answer(
        self, outline: Outline, keys: Sequence[str], answers: Answers
    ) -> tuple[int, list[str]]:
        """Analyse functions; gives how many, and those with which that failed."""
        if not keys:
            return 0, []
        failed = []
        root = self._analyse(self.program)
        for key in keys:
            answer = answer_of(
                self.program, self._places, root, outline.path, key, lasting=self._lasting
            )
            if answer is None:
                failed.append(key)
            else:
                answers[key] = answer
        return len(keys), failed

    def _read(self, path: str) -> Answers:
        data = self._store.read(self._store.answers(path))
        return {} if data is None else unpack_answers(data)

    def _write(self, path: str, answers: Answers) -> None:
        try:
            self._store.write(self._store.answers(path), pack_answers(answers))
        except OSError as error:
            log.warning("the answers for %s are not kept: %s", path, error)


def answer_of(
    program: Program, places: Positions, root: Root, path: str, key: str, *, lasting: bool = True
) -> Answer | None:
    """Analyse one function; None when that failed, with the reason in the log. Of an answer that
    need not be `lasting`, because the program stays as it is, what it asked is not noted."""
    lookups = program.watch() if lasting else {}
    name = program.outlines[path].functions[key].name
    program.note_function(path, key)
    try:
        function = program.load(path, key)
        if function is None:
            log.error("%s: what is kept of %s cannot be read", path, name)
            return None
        found = root(function)
        faults = tuple(places.keep(fault) for fault in found.faults)
        return Answer(faults, lookups, found.entered, found.complete)
    except Exception:  # one function must not hide what is wrong in the others
        log.exception("%s: following %s failed", path, name)
        return None
