"""Shows that operations at a place cannot go wrong, however the function around it is called, or
however those are called that call it.

This module imports z3: load it only when it is there.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import z3

from jarvis_ls.jsec.proof.symbolic.goal import Goal
from jarvis_ls.jsec.proof.symbolic.library import Library
from jarvis_ls.jsec.proof.symbolic.machine import GaveUp, Spent
from jarvis_ls.jsec.proof.symbolic.program import Program
from jarvis_ls.jsec.proof.symbolic.roots import levels
from jarvis_ls.jsec.proof.symbolic.syntax import Function, Unsupported

_logger = logging.getLogger(__name__)
_SKIPPING = 0.4
"""Share of the time for a first try that does not follow calls which lead nowhere."""
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
    strings: bool = False
    """Whether strings were taken to be shorter than 2 GiB."""
    entered: frozenset[tuple[str, str]] = frozenset()
    """Files and names of all functions that were executed."""
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
    program.need(function, question.goal.steps, is_whole=question.is_whole)
    end = time.thread_time() + question.seconds
    why = "nothing to show"
    for level, roots in levels(program, function, is_whole=question.is_whole):
        everywhere = level != 0 and question.goal.is_displaced
        for skips in (False,) if everywhere or level < 0 else (True, False):
            left = end - time.thread_time()
            until = end - left * (1 - _SKIPPING) if skips else end
            found: list[Spent] = []
            try:
                for root in roots:
                    left = until - time.thread_time()
                    machine = Library(
                        program, question.goal, left, question.stopped, whole=level < 0, roots=roots
                    )
                    machine.everywhere, machine.skips_calls = everywhere, skips
                    machine.run(root)
                    found.append(machine.spent)
            except (GaveUp, Unsupported) as error:
                why = str(error)
                if time.thread_time() >= end or question.stopped():
                    return Answer(is_shown=False, why=why)
                continue
            if shown := sum(spent.shown for spent in found):
                return Answer(
                    is_shown=True,
                    roots=tuple(root.name for root in roots),
                    level=level,
                    shown=shown,
                    strings=any(spent.strings for spent in found),
                    entered=frozenset(item for spent in found for item in spent.entered),
                )
            why = "nothing to show"
    return Answer(is_shown=False, why=why)
