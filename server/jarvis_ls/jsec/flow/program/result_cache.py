"""What was found from each function on, kept for as long as nothing it came from changes.

Kept places count from the start of the function they are in, so that they stay right while text
above it changes.
"""

from __future__ import annotations

import marshal
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jarvis_ls.jsec.flow.domain.fault import Fault, Step
from jarvis_ls.jsec.flow.ir.nodes import Span
from jarvis_ls.jsec.flow.program.file_outline import Outline
from jarvis_ls.jsec.flow.program.program import Lookups

Kept = tuple[Any, ...]
"""A fault whose places count from their functions."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the analysis of one function, with all it calls, gave."""

    faults: tuple[Kept, ...]
    """Flaws, wherever they are."""
    lookups: Lookups
    """What it asked the program for, and what names the answers."""
    entered: tuple[tuple[str, str], ...] = ()
    """File and name of the functions it went into."""
    complete: bool = True
    """Whether it came to its end; otherwise there was too much to follow."""


Answers = dict[str, Answer]
"""Of the functions of one file, by key."""


def pack_answers(answers: Mapping[str, Answer]) -> bytes:
    """Answers as bytes."""
    values = [
        (key, answer.faults, tuple(answer.lookups.items()), answer.entered, answer.complete)
        for key, answer in answers.items()
    ]
    return marshal.dumps(values, 4)  # with references: names and paths repeat


def unpack_answers(data: bytes) -> Answers:
    """Return the answers that `pack_answers` made bytes of."""
    return {
        key: Answer(faults, dict(lookups), entered, complete)
        for key, faults, lookups, entered, complete in marshal.loads(data)
    }


class Positions:
    """Places in the files of a program, from the start of the file and of their function."""

    def __init__(self, outlines: Mapping[str, Outline]) -> None:
        self._outlines = outlines
        self._files: dict[str, _Spans] = {}

    def keep(self, fault: Fault) -> Kept:
        """Return a fault with places that count from their functions."""
        steps = tuple(
            (self._inner(step.file, step.span), step.message, step.args) for step in fault.steps
        )
        return (
            fault.kind,
            self._inner(fault.file, fault.span),
            fault.function,
            fault.certain,
            fault.args,
            steps,
            fault.tainted,
            fault.doubtful,
        )

    def restore(self, kept: Kept) -> Fault | None:
        """Return the fault as its functions are now; None when one of them is gone."""
        kind, place, function, certain, args, kept_steps, tainted, doubtful = kept
        span = self._outer(place)
        steps = [(at[0], self._outer(at), message, values) for at, message, values in kept_steps]
        if span is None or any(at is None for _, at, _, _ in steps):
            return None
        placed = tuple(Step(file, at, message, values) for file, at, message, values in steps if at)
        return Fault(kind, place[0], function, span, certain, args, placed, tainted, doubtful)

    def _inner(self, file: str, span: Span) -> tuple[str, str, int, int]:
        key, base = self._of(file).around(span[0])
        return file, key, span[0] - base, span[1] - base

    def _outer(self, place: tuple[str, str, int, int]) -> Span | None:
        file, key, start, end = place
        base = self._of(file).starts.get(key) if key else 0
        return None if base is None else (base + start, base + end)

    def _of(self, file: str) -> _Spans:
        if file not in self._files:
            self._files[file] = _Spans(self._outlines.get(file))
        return self._files[file]


class _Spans:
    def __init__(self, outline: Outline | None) -> None:
        functions = outline.functions if outline is not None else {}
        self.starts = {key: function.span[0] for key, function in functions.items()}
        self._sorted = sorted((*function.span, key) for key, function in functions.items())

    @cached_property
    def _first(self) -> list[int]:
        return [start for start, _, _ in self._sorted]

    def around(self, offset: int) -> tuple[str, int]:
        """Key and start of the function around a byte; an empty key and 0 when there is none."""
        index = bisect_right(self._first, offset) - 1
        if index >= 0:
            start, end, key = self._sorted[index]
            if offset < end:
                return key, start
        return "", 0


def in_order(faults: Iterable[Fault]) -> list[Fault]:
    """Each flaw once, in an order that does not depend on that of files or runs.

    Of several ways to one place the certain one is kept, then the one with the fewest steps.
    """
    best: dict[tuple[str, tuple[int, int], str], Fault] = {}
    for fault in faults:
        key = fault.file, fault.span, fault.kind
        known = best.get(key)
        if known is None or _rank(fault) < _rank(known):
            best[key] = fault
    return [best[key] for key in sorted(best)]


def _rank(fault: Fault) -> tuple[bool, bool, int, str]:
    return fault.doubtful, not fault.certain, len(fault.steps), repr(fault)
