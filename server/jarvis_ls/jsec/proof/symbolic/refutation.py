"""Shows that operations at a place cannot go wrong, however the function around it is called, or
however those are called that call it.

This module imports z3: load it only when it is there.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import z3

from jarvis_ls.jsec.proof.symbolic.goal import LONGEST_STRING, MODERATE_STRING, Goal
from jarvis_ls.jsec.proof.symbolic.library import Library
from jarvis_ls.jsec.proof.symbolic.machine import GaveUp, NotShown, Spent
from jarvis_ls.jsec.proof.symbolic.program import Program
from jarvis_ls.jsec.proof.symbolic.roots import levels
from jarvis_ls.jsec.proof.symbolic.syntax import Function, Unsupported

_logger = logging.getLogger(__name__)
_PLAIN = 0.2
"""Share of the time for a first try that does not follow calls which lead nowhere."""
_LEAST = 0.5
"""CPU seconds at least for that."""
_MERGING = 0.8
"""Share of what is left for a second one, which merges paths, if the first did not end."""
_DEPTH = 20_000
_STACK = 256 << 20
"""Bytes of the stack of the thread: expressions and calls are followed by recursion."""
_ONE_AT_A_TIME = threading.Lock()
"""z3's context is one for all threads."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was shown."""

    is_shown: bool
    """Whether no obligation can fail."""
    why: str = ""
    """Why not, for the log."""
    roots: tuple[str, ...] = ()
    """Names of the functions that execution began in."""
    level: int = 0
    """0: any call of the function; 1 and more: its callers, and theirs; -1: `main`."""
    shown: int = 0
    """How many obligations hold."""
    strings: int = 0
    """How long strings were taken to be at most; 0 where that did not matter."""
    entered: frozenset[tuple[str, str]] = frozenset()
    """Files and names of all functions that were executed."""
    by_address: tuple[str, ...] = ()
    """Names of functions that are called by their address."""
    seconds: float = 0.0
    """CPU seconds it took."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a program."""

    program: Program
    goal: Goal
    function: Function
    """The one that the places are in."""
    is_whole: bool
    """Whether the program has all files that can call it."""
    seconds: float
    stopped: Callable[[], bool] = lambda: False
    """Whether the user wants no more."""
    is_slow: bool = False
    """Whether it took too long before: paths are merged at once then."""


def show(question: Question) -> Answer:
    """Return what is shown of the places of a goal."""
    answers: list[Answer] = []

    def work() -> None:
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(max(before, _DEPTH))
        try:
            answer = _show(question)
            answers.append(replace(answer, seconds=time.thread_time()))
        except (
            ArithmeticError,
            AssertionError,
            LookupError,
            RecursionError,
            TypeError,
            ValueError,
            z3.Z3Exception,
        ):
            where = question.goal.places[0]
            _logger.exception("symbolic execution failed at %s:%d; nothing is refuted", *where[:2])
        finally:
            sys.setrecursionlimit(before)

    with _ONE_AT_A_TIME:
        old = threading.stack_size(_STACK)
        thread = threading.Thread(target=work, name="jsec-symbolic")
        thread.start()
        threading.stack_size(old)
        thread.join()
    return answers[0] if answers else Answer(is_shown=False, why="it failed")


def _show(question: Question) -> Answer:
    program, function = question.program, question.function
    goal = question.goal
    spots = [(file, line) for file, line, _ in goal.places] if goal.is_of_ends else []
    around = [found for file, line in spots if (found := program.at(file, line)) is not None]
    also = [(item.file, item.name) for item in around]
    if goal.is_of_ends and not also:
        return Answer(is_shown=False, why="nothing to show")
    program.need(function, goal.steps, is_whole=question.is_whole, also=also)
    passed = [program.at(file, line) for file, line in goal.through]
    if None in passed:
        return Answer(is_shown=False, why="nothing to show")
    through = {(item.file, item.name) for item in passed if item is not None}
    end = time.thread_time() + question.seconds
    why = "nothing to show"
    for level, roots in levels(program, function, is_whole=question.is_whole):
        everywhere = goal.is_of_ends or (level != 0 and goal.is_displaced)
        way = _Way(
            roots,
            level,
            everywhere,
            skips=not everywhere and level >= 0,
            merges=question.is_slow and not goal.is_of_ends,
        )
        ways = [way]
        while ways:
            way = ways.pop(0)
            left = end - time.thread_time()
            share = left * _MERGING if way.merges else max(_LEAST, left * _PLAIN)
            spent: list[Spent] = []
            try:
                _run(question, way, min(left, share if way.skips else left), spent)
            except (GaveUp, Unsupported) as error:
                why = str(error)
                if time.thread_time() >= end or question.stopped():
                    return Answer(is_shown=False, why=why)
                ways = list(way.others(question.goal, error, spent))
                continue
            entered = frozenset(item for part in spent for item in part.entered)
            shown = sum(item.shown for item in spent)
            if shown and through <= entered:
                return Answer(
                    is_shown=True,
                    roots=tuple(root.name for root in roots),
                    level=level,
                    shown=shown,
                    strings=max(item.strings for item in spent),
                    entered=entered,
                    by_address=_by_address(program, entered, function if level == 0 else None),
                )
            why = "nothing to show"
    return Answer(is_shown=False, why=why)


def _by_address(
    program: Program, entered: Iterable[tuple[str, str]], own: Function | None
) -> tuple[str, ...]:
    """Return the names of functions that were come to by calls by address, or may have been; not
    that of `own`, which execution began in."""
    without = {(own.file, own.name)} if own is not None else set()
    return tuple(program.called_by_address(set(entered) - without))


@dataclass(frozen=True, slots=True)
class _Way:
    """How an execution is done."""

    roots: Sequence[Function]
    level: int
    """See `Answer`."""
    everywhere: bool
    """See `Machine`."""
    skips: bool
    """See `Statements.skips_calls`."""
    merges: bool = False
    """See `Statements.merges`."""
    longest: int = LONGEST_STRING
    """How long strings are at most."""

    def others(self, goal: Goal, error: Exception, spent: Sequence[Spent]) -> Iterator[_Way]:
        """Yield what may show more after an execution that ended with an error."""
        if isinstance(error, NotShown) and not error.is_unanswered:
            # Where it is asked whether numbers fit their types, the longest strings are what it is
            # about.
            was_used = any(item.strings for item in spent)
            if self.longest > MODERATE_STRING and was_used and not goal.is_of_numbers:
                yield replace(self, longest=MODERATE_STRING)
        elif not self.merges and not goal.is_of_ends:
            yield replace(self, merges=True)
            return
        if self.skips:
            yield replace(self, skips=False)


def _run(question: Question, way: _Way, seconds: float, spent: list[Spent]) -> None:
    """Execute the functions that a way begins in, and add what each took. Raises `GaveUp` and
    `Unsupported`."""
    end = time.thread_time() + seconds
    for root in way.roots:
        machine = Library(
            question.program,
            question.goal,
            end - time.thread_time(),
            question.stopped,
            whole=way.level < 0,
            roots=way.roots,
        )
        machine.everywhere, machine.skips_calls = way.everywhere, way.skips
        machine.merges = way.merges
        machine.longest = way.longest
        spent.append(machine.spent)
        machine.run(root)
