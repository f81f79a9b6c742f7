"""What a function does to its caller, as the interpreter sees it: what it returns, releases, keeps
and fills. For people; the interpreter itself follows calls instead of trusting a summary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import (
    AS_REGION,
    MAYBE_NULL,
    NOT_NULL,
    NULL,
    AbstractValue,
)
from jarvis_ls.jsec.flow.domain.engine import Outcome
from jarvis_ls.jsec.flow.domain.memory_regions import Frame
from jarvis_ls.jsec.flow.domain.region_state import FREED, LIVE, MAYBE_FREED
from jarvis_ls.jsec.flow.interp.fixpoint import Interpreter
from jarvis_ls.jsec.flow.ir.c_types import limits
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.types import Integer, Pointer

_OWNED: Final = frozenset({"heap", "stream"})
"""Kinds of regions that a caller has to release."""


@dataclass(frozen=True, slots=True)
class FunctionEffects:
    """What a function does, on the ways from its start to a return that were followed.

    Ways that are alike are followed as one, so their numbers say how often something is so among
    those told apart, not how often the program does it.
    """

    complete: bool
    """Whether it was followed to its end, with all it calls."""
    ways: int
    """Ways to a return; 0 when it never returns."""
    pointer: bool = False
    """Whether it returns a pointer."""
    null: int = 0
    """Ways on which it returns a null pointer for certain."""
    not_null: int = 0
    """Ways on which it returns a pointer that is not null for certain."""
    maybe_null: int = 0
    """Ways on which the pointer it returns may be null, as far as is known here."""
    negative: int = 0
    """Ways on which it returns a negative number for certain."""
    low: int | None = None
    high: int | None = None
    """Least and greatest number that it returns, when both are less than its type allows."""
    source: str = ""
    """What brings the value that it returns from outside; empty when nothing does."""
    allocates: int = 0
    """Ways on which it returns what it allocated or opened, which the caller has to release."""
    returned: tuple[str, ...] = ()
    """Parameters that it returns, or a pointer into what they lead to."""
    releases: tuple[tuple[str, int], ...] = ()
    """Parameters whose memory or file it releases, and on how many ways."""
    keeps: tuple[str, ...] = ()
    """Parameters that it stores where they outlive the call."""
    fills: tuple[tuple[str, str], ...] = ()
    """Parameters that lead to what it fills with input, and what brings that."""


def function_effects(analysis: Interpreter, function: FunctionIR) -> FunctionEffects:
    """Return what a function does when it is called with values of which nothing is known."""
    frame, state = analysis.begin(function)
    objects = _objects(frame, state)
    outcomes = analysis.fixpoint(frame, state)
    complete = analysis.fuel > 0 and not analysis.partial
    analysis.stack, analysis.thrown = [], []
    values = [(after, value) for after, value in outcomes if value is not None]
    low, high = _range(function, [value for _, value in values])
    pointer = isinstance(function.result, Pointer)
    nulls = [_nullness(after, value) for after, value in values] if pointer else []
    return FunctionEffects(
        complete=complete,
        ways=len(outcomes),
        pointer=pointer,
        null=nulls.count(NULL),
        not_null=nulls.count(NOT_NULL),
        maybe_null=nulls.count(MAYBE_NULL),
        negative=0 if pointer else sum(value.high < 0 for _, value in values),
        low=low,
        high=high,
        source=next((_label(v.taint) for _, v in values if v.taint is not None), ""),
        allocates=sum(_is_new(analysis, after, value) for after, value in values),
        returned=_named(objects, {t[0] for _, value in values for t in value.targets}),
        releases=_releases(objects, outcomes),
        keeps=_keeps(objects, outcomes, frame),
        fills=_fills(objects, outcomes),
    )


def _objects(frame: Frame, state: AbstractState) -> dict[int, str]:
    """Return the regions that pointers among the parameters lead to, with their names."""
    found: dict[int, str] = {}
    for slot in frame.function.params:
        value = state.memory.get(frame.base + slot, {}).get(0)
        name = frame.function.slots[slot][0]
        if value is not None and name and len(value.targets) == 1:
            found[value.targets[0][0]] = name
    return found


def _nullness(state: AbstractState, value: AbstractValue) -> int:
    """Return whether a returned pointer is null: no, on some way, yes, or nothing known."""
    null = value.nullness
    if null == AS_REGION and len(value.targets) == 1:
        known = state.region_states.get(value.targets[0][0])
        null = MAYBE_NULL if known is None else known.nullness
    return null


def _range(function: FunctionIR, values: list[AbstractValue]) -> tuple[int | None, int | None]:
    """Return the least and greatest number of values; nothing when one may be any of its type."""
    if (
        not values
        or not isinstance(function.result, Integer)
        or any(value.targets for value in values)
    ):
        return None, None
    low, high = min(value.low for value in values), max(value.high for value in values)
    least, most = limits(function.result)
    if low <= least or high >= most or isinstance(low, float) or isinstance(high, float):
        return None, None
    return low, high


def _is_new(analysis: Interpreter, state: AbstractState, value: AbstractValue) -> bool:
    """Return whether a returned pointer leads to what the function allocated."""
    if len(value.targets) != 1 or value.nullness == NULL:
        return False
    rid = value.targets[0][0]
    place, known = analysis.regions[rid], state.region_states.get(rid)
    if place is None or known is None or not known.family or known.nullness == NULL:
        return False
    return place.kind in _OWNED and known.status == LIVE


def _releases(objects: dict[int, str], outcomes: list[Outcome]) -> tuple[tuple[str, int], ...]:
    found = []
    for rid, name in objects.items():
        statuses = [
            known.status
            for after, _ in outcomes
            if (known := after.region_states.get(rid)) is not None
        ]
        count = sum(status in (FREED, MAYBE_FREED) for status in statuses)
        if count:
            found.append((name, count))
    return tuple(found)


def _keeps(objects: dict[int, str], outcomes: list[Outcome], frame: Frame) -> tuple[str, ...]:
    """Return the parameters of which another object or a variable holds a pointer afterwards."""
    kept: set[int] = set()
    for after, _ in outcomes:
        for rid, cells in after.memory.items():
            if frame.base <= rid < frame.end:
                continue
            for value in cells.values():
                kept.update(target[0] for target in value.targets if target[0] != rid)
    return _named(objects, kept)


def _fills(objects: dict[int, str], outcomes: list[Outcome]) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    for after, _ in outcomes:
        for rid, name in objects.items():
            known = after.region_states.get(rid)
            taint = None if known is None else known.taint
            for value in after.memory.get(rid, {}).values():
                taint = value.taint if taint is None else taint
            if taint is not None:
                found.setdefault(name, _label(taint))
    return tuple(sorted(found.items()))


def _named(objects: dict[int, str], regions: set[int]) -> tuple[str, ...]:
    return tuple(name for rid, name in objects.items() if rid in regions)


def _label(source: tuple[object, ...]) -> str:
    """Return what brings a value from outside: `text:argv` is `argv`."""
    return str(source[2]).partition(":")[2]
