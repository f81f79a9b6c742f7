"""What makes a flaw certain or doubtful.

A check says what the values at a place make of it. What the way to the place adds is here: `TRUST`
has a row for each kind of flaw, and the functions below read it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import is_decoded
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.fault import CALLED, FALSE, TRUE
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.instructions import Branch
from jarvis_ls.jsec.flow.ir.nodes import Span

ANY: Final = 1 << 30
"""More choices than there are on any way."""
CERTAIN: Final = 4
"""Choices on the way to a flaw that is certain, at most: after more it may happen."""
_HARMLESS: Final = frozenset({"argv", "rand()", "random()"})
"""Sources that only who runs the program chooses."""


@dataclass(frozen=True, slots=True)
class Trust:
    """How far flaws of a kind are believed. Choices are branches on the way that could have gone
    either way."""

    believed: int = ANY
    """Choices after which it is believed, at most."""
    believed_without_input: int = ANY
    """The same for one in which nothing from outside takes part; only where a check asks."""
    reported: int = ANY
    """Choices after which it is reported at all, at most."""
    callers_know: bool = False
    """Whether it is doubted when, without input, the way rests on conditions of callers, or of
    functions that are left."""
    reported_where_cut: bool = True
    """Whether it is reported in functions of which a part was not understood."""
    doubted_past_loops: bool = False
    """Whether it is doubted when the way leaves a loop as soon as it gets there."""


_PLAIN: Final = Trust()
_RELEASE: Final = Trust(believed=4)
_LOSS: Final = Trust(believed=6, reported_where_cut=False)
_ARITHMETIC: Final = Trust(believed_without_input=1)
_BEFORE: Final = Trust(believed_without_input=1)
_BEYOND: Final = Trust(believed_without_input=1)

TRUST: Final[dict[str, Trust]] = {
    # A value that is missing comes about by branches that often hang together in unseen ways.
    "null-dereference": Trust(believed=1, reported=6, callers_know=True, reported_where_cut=False),
    "uninitialized": Trust(
        believed=1, reported=6, callers_know=True, reported_where_cut=False, doubted_past_loops=True
    ),
    "divide-by-zero": Trust(believed_without_input=1, callers_know=True),
    "use-after-free": _RELEASE,
    "double-free": _RELEASE,
    "free-non-heap": _RELEASE,
    # One of so many choices on the way is likely to go with the release.
    "leak": _LOSS,
    "resource-leak": _LOSS,
    # After two choices, which may exclude each other, the numbers may not meet.
    "integer-overflow": _ARITHMETIC,
    "integer-underflow": _ARITHMETIC,
    "negative-to-huge": _ARITHMETIC,
    "sign-change": _ARITHMETIC,
    "buffer-underwrite": _BEFORE,
    "buffer-read-under": _BEFORE,
    "buffer-write-stack": _BEYOND,
    "buffer-write-heap": _BEYOND,
    "buffer-read-over": _BEYOND,
    # What is cut off is meant to be, mostly.
    "truncation": Trust(believed_without_input=0),
}
"""By kind; of others all are believed."""


def trust(kind: str) -> Trust:
    """Return how far flaws of a kind are believed."""
    return TRUST.get(kind, _PLAIN)


def is_silent(state: AbstractState, kind: str, function: FunctionIR) -> bool:
    """Return whether a flaw in a function is not reported after this way."""
    row = trust(kind)
    return state.choices > row.reported or (function.cut and not row.reported_where_cut)


def is_certain(state: AbstractState) -> bool:
    """Return whether a way has so few choices that what is wrong at its end is certain."""
    return state.choices <= CERTAIN


def doubted_without_input(state: AbstractState, kind: str, *sources: Any) -> bool:
    """Return whether choices on the way make a flaw doubtful in which none of the `sources` is an
    input."""
    if any(source is not None for source in sources):
        return False
    return state.choices > trust(kind).believed_without_input


def is_doubtful(engine: Engine, state: AbstractState, kind: str, source: Any) -> bool:
    """Return whether the way to a flaw rests on what callers, or code that is not seen, may rule
    out."""
    row = trust(kind)
    return (
        (source is not None and (source[2].partition(":")[2] in _HARMLESS or is_decoded(source)))
        or any(function.cut for function in engine.stack)
        or state.choices > row.believed
        or (row.callers_know and source is None and _is_decided_elsewhere(engine, state))
        or (row.doubted_past_loops and _passes_loops_by(engine, state))
    )


def _is_decided_elsewhere(engine: Engine, state: AbstractState) -> bool:
    """Return whether the way here rests on how conditions came out before a function was called, or
    in one that is left: who calls it mostly knows what the analysis does not."""
    called = False
    link = state.trail
    while link is not None:
        if link[1] is None:  # ways met here: the first represents them
            link = link[0]
            continue
        file, span, message, _ = link[1]
        if message == CALLED:
            called = True
        elif len(link) > 2:
            pass  # no choice: otherwise the program had ended
        elif called or not any(
            function.file == file and function.span[0] <= span[0] < function.span[1]
            for function in engine.stack
        ):
            return True
        link = link[0]
    return False


def _passes_loops_by(engine: Engine, state: AbstractState) -> bool:
    """Return whether the way of a state leaves a loop of the current function as soon as it gets
    there, where that could go either way: who wrote the loop knows of a first round."""
    function = engine.frame.function
    exits = {
        (end.span, came_out)
        for _, end in function.blocks
        if isinstance(end, Branch)
        for target, came_out in ((end.yes, TRUE), (end.no, FALSE))
        if engine.leaves_loop(target)
    }
    left: set[Span] = set()
    entered: set[Span] = set()
    link = state.trail
    while link is not None:
        step = link[1]
        if step is not None and len(link) == 2 and step[0] == function.file:
            (left if (step[1], step[3]) in exits else entered).add(step[1])
        link = link[0]
    return not left <= entered
