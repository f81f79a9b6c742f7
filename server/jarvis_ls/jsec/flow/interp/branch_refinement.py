"""Successors of a block, and branch refinement: what a branch says about the values it tested."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final

from jarvis_ls.jsec.flow.checks import arithmetic
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import (
    ANY_NULL,
    AS_REGION,
    COUNT,
    DOWN,
    INIT,
    MAYBE_NULL,
    NOT_NULL,
    NULL,
    OTHER,
    TIGHT,
    ZERO,
    AbstractValue,
    Target,
    chooses_place,
    interval_arithmetic,
    number,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.fault import BRANCH, BRANCH_CASE, FALSE, TRUE
from jarvis_ls.jsec.flow.interp.trace import ONLY
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import UNIT, limits, pointee
from jarvis_ls.jsec.flow.ir.cfg import loop_test
from jarvis_ls.jsec.flow.ir.constant_folding import fold
from jarvis_ls.jsec.flow.ir.instructions import Branch, End, Switch
from jarvis_ls.jsec.flow.ir.nodes import Expr, Number
from jarvis_ls.jsec.flow.ir.types import Float, Integer
from jarvis_ls.jsec.flow.semantics.conversions import nullness
from jarvis_ls.jsec.flow.semantics.expressions import decide, distance, evaluate

_NEGATED: Final = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MIRRORED: Final = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_ORDERED: Final = frozenset({"<", "<=", ">", ">="})
_MAX_CASES: Final = 300
_FAR: Final = 2**31 - 1
_NEAR: Final = 16
"""Rounds that a loop still has to go when it is gone through step by step."""
_ANY: Final = AbstractValue(0, 0)
"""A number that is not known to be reached."""
_DEFAULT: Final = (("low", ""),)
Ways = list[tuple[int, AbstractState]]


def successors(
    engine: Engine, state: AbstractState, end: End
) -> Iterable[tuple[int, AbstractState]]:
    """Return the blocks a state continues at; `state` itself is used up."""
    if isinstance(end, Branch):
        return _branch(engine, state, end)
    if isinstance(end, Switch):
        return _switch(engine, state, end)
    return ()


def quiet(engine: Engine, state: AbstractState, e: Expr) -> AbstractValue:
    """Return the value of an expression whose faults were noted already."""
    engine.silent += 1
    value = evaluate(engine, state, e)
    engine.silent -= 1
    return value


def _branch(engine: Engine, state: AbstractState, end: Branch) -> Ways:
    condition = end.condition
    positive = True
    while isinstance(condition, nodes.Not):
        condition, positive = condition.value, not positive
    if isinstance(condition, nodes.Compare):
        op, left, right = condition.operator, condition.left, condition.right
        a, b = _condition_value(engine, state, left), evaluate(engine, state, right)
    else:
        op, left, right = "!=", condition, nodes.Null()
        a, b = _condition_value(engine, state, left), ZERO
        if a.symbol is not None and a.symbol[0] == "compared":
            op, left, right = a.symbol[1], a.symbol[2], a.symbol[3]
    if op in _ORDERED and (a.symbol is not None or b.symbol is not None):
        loop = _is_loop_test(engine)
        arithmetic.wrapped_bound(engine, state, a, b, loop=loop)
        arithmetic.wrapped_bound(engine, state, b, a, loop=loop)
    found = decide(engine, state, op, a, b)
    if found is None and isinstance(left, nodes.Binary) and left.operator in ("%", "&"):
        _loosen(engine, state, left.left)
    engine.defensive = end.defensive
    moves = a.targets[0][3] if len(a.targets) == 1 else a.flags
    counts = moves & COUNT and b.flags & TIGHT
    ways: Ways = []
    for holds in (True, False):
        if found is not None and found != holds:
            continue
        target = end.yes if holds == positive else end.no
        there = state if found is not None or not holds else state.copy()
        if found is None or isinstance(condition, nodes.BitAnd):
            came_out = TRUE if holds == positive else FALSE
            step = (engine.frame.function.file, end.span, BRANCH, came_out)
            if counts or engine.ends_at(end.no if holds == positive else end.yes):
                there.trail = (there.trail, step, ONLY)  # every state here came this way
            else:
                there.choices += 1
                there.trail = (there.trail, step)
            engine.going = target
            if isinstance(condition, nodes.BitAnd) and holds:
                assume(engine, there, condition.left)
                assume(engine, there, condition.right)
            elif not refine(engine, there, op if holds else _NEGATED[op], left, right, a, b):
                continue
        ways.append((target, there))
    return ways


def _loosen(engine: Engine, state: AbstractState, e: Expr) -> None:
    """Loosen a number of which a part was tested: its values on this way are not known."""
    value = quiet(engine, state, e)
    cell = _cell(engine, state, e)
    if cell is not None and value.flags & TIGHT and value.low != value.high and not value.targets:
        state.put(
            cell[0],
            cell[1],
            AbstractValue(
                value.low,
                value.high,
                value.flags & ~TIGHT,
                value.taint,
                (),
                value.nullness,
                value.init,
                value.symbol,
            ),
        )


def _condition_value(engine: Engine, state: AbstractState, e: Expr) -> AbstractValue:
    """Return the value a condition tests; `while (n--)` may count past zero once it is left."""
    if (
        isinstance(e, nodes.Step)
        and e.postfix
        and isinstance(e.type, Integer)
        and not e.type.signed
    ):
        return quiet(engine, state, e)
    return evaluate(engine, state, e)


def is_near(engine: Engine, state: AbstractState, end: End) -> bool:
    """Return whether a branch compares two known numbers, or places of one region, that are not far
    from each other.
    """
    if not isinstance(end, Branch) or not isinstance(end.condition, nodes.Compare):
        return False
    left, right = end.condition.left, end.condition.right
    if not (_is_plain(left) and _is_plain(right)):
        return False
    b = quiet(engine, state, right)
    if b.low != b.high or b.init or b.flags & OTHER or len(b.targets) > 1:
        return False
    a = quiet(engine, state, left)
    if a.low != a.high or a.init or a.flags & OTHER or len(a.targets) != len(b.targets):
        return False
    if not a.targets:
        return abs(a.low - b.low) <= _NEAR
    (rid, lo, hi, _, _), (there, least, most, _, _) = a.targets[0], b.targets[0]
    exact = rid == there and lo == hi and least == most
    return exact and abs(lo - least) <= _NEAR * _step(engine, left)


def _is_plain(e: Expr) -> bool:
    """Return whether an expression only examines variables and constants."""
    if isinstance(e, nodes.Binary):
        return _is_plain(e.left) and _is_plain(e.right)
    if isinstance(e, nodes.Cast):
        return _is_plain(e.value)
    if isinstance(e, nodes.Index):
        return _is_plain(e.base) and _is_plain(e.index)
    if isinstance(e, nodes.Decay):
        return _is_plain(e.base)
    return isinstance(e, (nodes.Const, nodes.SizeOf, nodes.Local, nodes.Global)) or (
        isinstance(e, nodes.Load) and isinstance(e.address, (nodes.Local, nodes.Global))
    )


def assume(engine: Engine, state: AbstractState, e: Expr) -> bool:
    """Take for granted that an expression is true; False when it cannot be."""
    if isinstance(e, nodes.Compare):
        a, b = quiet(engine, state, e.left), quiet(engine, state, e.right)
        return refine(engine, state, e.operator, e.left, e.right, a, b)
    return refine(engine, state, "!=", e, nodes.Null(), quiet(engine, state, e), ZERO)


def refine(
    engine: Engine,
    state: AbstractState,
    op: str,
    left: Expr,
    right: Expr,
    a: AbstractValue,
    b: AbstractValue,
) -> bool:
    """Narrow what both sides came from; False when the comparison cannot hold."""
    if a.init or b.init:
        return True
    if (a.targets or b.targets) and _refine_handle(engine, state, op, a, b) is False:
        return False
    if (
        a.targets
        or b.targets
        or a.nullness == NULL
        or b.nullness == NULL
        or a.flags & b.flags & OTHER
    ):
        if _is_pointer_test(a, b):
            if b.nullness == NULL and not b.targets:
                return _refine_null(engine, state, op, left, a)
            return a.nullness != NULL or _refine_null(engine, state, _MIRRORED[op], right, b)
        if a.targets or b.targets:
            return _refine_offset(engine, state, op, left, a, b) and (
                _refine_offset(engine, state, _MIRRORED[op], right, b, a)
            )
    if not _refine_number(engine, state, op, left, a, b, right):
        return False
    # what is written out says nothing more: it would not have held for the other side either
    return isinstance(
        right, (nodes.Const, nodes.StringLiteral, nodes.Null, nodes.SizeOf)
    ) or _refine_number(engine, state, _MIRRORED[op], right, b, a, left)


def _is_pointer_test(a: AbstractValue, b: AbstractValue) -> bool:
    if b.nullness == NULL and not b.targets and b.low == 0 == b.high:
        return bool(a.targets) or (a.low == a.high == 0 and bool(a.flags & OTHER))
    return a.nullness == NULL and not a.targets and a.low == 0 == a.high and bool(b.targets)


def _refine_offset(
    engine: Engine,
    state: AbstractState,
    op: str,
    e: Expr,
    value: AbstractValue,
    other: AbstractValue,
) -> bool:
    """Refine a pointer into a region that is compared with another pointer into it."""
    if (
        op == "!="
        or len(value.targets) != 1
        or len(other.targets) != 1
        or ((value.flags | other.flags) & OTHER)
    ):
        return True
    rid, lo, hi, flags, sub = value.targets[0]
    there, least, most = other.targets[0][:3]
    if rid != there or lo == hi:
        return True
    if op == "==":
        if hi < least or lo > most:
            return False
        if least != most:
            return True
        lo = hi = least
        flags |= TIGHT
    else:
        step = _step(engine, e)
        if op in (">", ">="):
            lo = max(lo, least + step if op == ">" else least)
        else:
            hi = min(hi, most - step if op == "<" else most)
        ahead = hi < value.targets[0][2] if not flags & DOWN else lo > value.targets[0][1]
        behind = lo > value.targets[0][1] if not flags & DOWN else hi < value.targets[0][2]
        if flags & COUNT and least == most and lo <= hi and (hi - lo) % step == 0 and ahead:
            flags |= TIGHT  # it moves by elements, and comes to the last of them
        elif flags & COUNT and least == most and lo <= hi and behind and engine.leaves_loop():
            lo = hi = hi if flags & DOWN else lo  # the first beyond
            flags |= TIGHT
    if lo > hi:
        return False
    cell = _cell(engine, state, e) if (lo, hi) != value.targets[0][1:3] else None
    if cell is not None:
        place: Target = (rid, lo, hi, flags, sub)
        state.put(
            cell[0],
            cell[1],
            AbstractValue(
                value.low,
                value.high,
                value.flags,
                value.taint,
                (place,),
                value.nullness,
                0,
                value.symbol,
            ),
        )
    return True


def _step(engine: Engine, e: Expr) -> int:
    """Return at least how many bytes the pointers are apart that an expression gives."""
    size: int = engine.size(pointee(e.type)) if isinstance(e, nodes.Load) else 1
    return size if 0 < size != UNIT else 1


def _refine_handle(
    engine: Engine, state: AbstractState, op: str, a: AbstractValue, b: AbstractValue
) -> bool:
    """Refine a file descriptor that is compared with a number: below zero it was not opened, and
    one of the standard streams stays open.
    """
    handle, value, operator = (a, b, op) if a.targets else (b, a, _MIRRORED[op])
    failed = (operator in ("<", "<=") and value.high <= 0) or (operator == "==" and value.high < 0)
    passed = (operator in (">", ">=") and value.low >= -1) or (operator == "!=" and value.high < 0)
    standard = (operator in ("<", "<=", "==") and value.high <= 2) or (
        operator == "<" and value.high == 3
    )
    for target in handle.targets:
        reg = state.region_states.get(target[0])
        if reg is not None and reg.family == "CreateFile" and operator in ("==", "!="):
            state.region_states[target[0]] = reg.but(nullness=2 if operator == "==" else 0)
        elif reg is not None and reg.family == "open":
            if (failed and reg.nullness == NOT_NULL) or (operator == "==" and value.high < -1):
                return False  # what failed is -1
            null = 2 if failed else 0 if passed else reg.nullness
            state.region_states[target[0]] = reg.but(nullness=null, escaped=reg.escaped or standard)
    return True


def _is_loop_test(engine: Engine) -> bool:
    """Return whether the branch that is followed ends a loop: what is looked for in one is mostly
    found.
    """
    function = engine.frame.function
    return any(loop_test(function, head) == engine.block for head in function.heads)


def _refine_null(
    engine: Engine, state: AbstractState, op: str, e: Expr, value: AbstractValue
) -> bool:
    null = nullness(state, value)
    is_null = op in ("==", "<=")
    if op in ("<", ">="):
        return True
    if is_null and null == NOT_NULL:
        return False
    if not is_null and null == NULL:
        return False
    if (
        is_null
        and null == ANY_NULL
        and engine.frame.caller is not None
        and value.targets
        and all(engine.kind(t[0]) == "object" for t in value.targets)
    ):
        return False  # what a caller from outside gives is its affair, here and further in
    if value.nullness == AS_REGION or null in (MAYBE_NULL,):
        # of several, each is what one of the ways here got: null is null on that way
        for target in value.targets if is_null or len(value.targets) == 1 else ():
            reg = state.region_states.get(target[0])
            if reg is not None and reg.nullness:
                state.region_states[target[0]] = reg.but(nullness=2 if is_null else 0)
    cell = _cell(engine, state, e)
    if cell is not None:
        if is_null:
            new = AbstractValue(
                0,
                0,
                TIGHT,
                None,
                (),
                NULL,
                0,
                (
                    "tested",
                    -1 if engine.defensive else engine.frame.base,
                    state.choices,
                    state.unseen,
                    _is_loop_test(engine),
                ),
            )
        else:
            new = AbstractValue(
                value.low,
                value.high,
                value.flags,
                value.taint,
                value.targets,
                NOT_NULL,
                0,
                value.symbol,
            )
        state.put(cell[0], cell[1], new)
    return True


def _cell(engine: Engine, state: AbstractState, e: Expr) -> tuple[int, Any] | None:
    """Return the cell whose value an expression has, whatever conversion keeps it."""
    if isinstance(e, nodes.Load):
        return engine.cell(state, e)
    while isinstance(e, nodes.Cast):
        e = e.value
    if isinstance(e, nodes.Store) or (isinstance(e, nodes.Step) and not e.postfix):
        e = nodes.Load(e.address, e.type, e.span)
    elif isinstance(e, nodes.Temp):
        return engine.frame.temps + e.number, 0
    return engine.cell(state, e)


def _refine_number(
    engine: Engine,
    state: AbstractState,
    op: str,
    e: Expr,
    value: AbstractValue,
    other: AbstractValue,
    by: Expr,
) -> bool:
    """Narrow a number by one it is compared with, which the expression `by` gives."""
    lo, hi = value.low, value.high
    if op == "!=":  # most often
        if other.low == other.high:
            if lo == other.low:
                lo += 1
            elif hi == other.high:
                hi -= 1
    elif op == "==":
        lo, hi = max(lo, other.low), min(hi, other.high)
    elif op == "<":
        hi = min(hi, other.high - 1 if isinstance(other.high, int) else other.high)
    elif op == "<=":
        hi = min(hi, other.high)
    elif op == ">":
        lo = max(lo, other.low + 1 if isinstance(other.low, int) else other.low)
    else:
        lo = max(lo, other.low)
    if lo > hi:
        return False
    excluded = op == "!=" and other.low == other.high == 0 and lo < 0 < hi
    if lo == value.low and hi == value.high and not excluded:
        if (
            op == "!="
            and lo < other.low == other.high < hi
            and value.symbol is None
            and not value.targets
        ):
            _put_back(
                engine,
                state,
                e,
                value,
                AbstractValue(
                    lo,
                    hi,
                    value.flags,
                    value.taint,
                    (),
                    value.nullness,
                    INIT,
                    ("differs", other.low),
                ),
            )
        elif isinstance(e, nodes.Binary) and op != "!=" and fold(by) is None:
            _narrow_parts(engine, state, e, value, exact=False)
        return True
    if isinstance(e, (nodes.Const, nodes.StringLiteral, nodes.Null, nodes.SizeOf)):
        return True
    is_part = isinstance(e, nodes.Binary)
    counter = not is_part and value.flags & COUNT and other.flags & TIGHT
    if counter and other.low == other.high and engine.leaves_loop():
        # a counter leaves its loop with the first number that ends it
        if op in (">", ">=") and not value.flags & DOWN and lo > value.low:
            hi = lo
        elif op in ("<", "<=") and value.flags & DOWN and hi < value.high:
            lo = hi
    new = _narrow(value, lo, hi, other)
    if lo == hi == 0 and new.symbol is None:
        new.symbol = (
            "tested",
            -1 if engine.defensive else engine.frame.base,
            state.choices,
            state.unseen,
            False,
        )
    if excluded:
        new = AbstractValue(
            lo,
            hi,
            new.flags,
            None if value.taint is None else value.taint,
            (),
            NOT_NULL,
            0,
            ("nonzero", None),
        )
    if isinstance(e, nodes.Binary):
        _narrow_parts(engine, state, e, new, exact=fold(by) is not None)
    else:
        _put_back(engine, state, e, value, new)
    return True


def _narrow_parts(
    engine: Engine, state: AbstractState, e: nodes.Binary, new: AbstractValue, *, exact: bool
) -> None:
    """Narrow the parts of a sum or difference that was narrowed. Unless it was compared with an
    `exact` number, how far each part goes hangs together with other values."""
    if e.operator not in ("+", "-") or not isinstance(e.type, Integer):
        return
    a, b = quiet(engine, state, e.left), quiet(engine, state, e.right)
    ends = interval_arithmetic(e.operator, a, b)
    low, high = limits(e.type)
    if a.targets or b.targets or a.init or b.init or ends is None:
        return
    if not e.type.signed and (ends[0] < low or ends[1] > high):
        return  # it may have wrapped
    if e.operator == "+":
        mine, other = (new.low - b.high, new.high - b.low), (new.low - a.high, new.high - a.low)
    else:
        mine, other = (new.low + b.low, new.high + b.high), (a.low - new.high, a.high - new.low)
    for part, value, fixed, (lo, hi) in ((e.left, a, b, mine), (e.right, b, a, other)):
        lo, hi = max(lo, value.low), min(hi, value.high)
        if lo >= hi or isinstance(
            part, (nodes.Const, nodes.StringLiteral, nodes.Null, nodes.SizeOf)
        ):
            continue
        if exact and (lo != value.low or hi != value.high):
            told = fixed.low == fixed.high and new.flags & TIGHT
            _put_back(engine, state, part, value, _narrow(value, lo, hi, ZERO if told else _ANY))
        elif not exact and value.flags & (TIGHT | COUNT):
            loose = value.flags & ~(TIGHT | COUNT | DOWN)
            _put_back(
                engine,
                state,
                part,
                value,
                AbstractValue(lo, hi, loose, value.taint, (), value.nullness, 0, value.symbol),
            )


def _narrow(value: AbstractValue, lo: Number, hi: Number, other: AbstractValue) -> AbstractValue:
    flags = value.flags & ~TIGHT
    comes = lo > value.low if value.flags & DOWN else hi < value.high
    counts = value.flags & COUNT and other.flags & TIGHT and lo > -_FAR and hi < _FAR
    if (
        lo == hi
        or (counts and (comes or value.flags & TIGHT))
        or (value.flags & TIGHT and lo == value.low and hi == value.high)
    ):
        flags |= TIGHT
    if lo == hi:
        flags &= ~OTHER
    null = NOT_NULL if lo > 0 or hi < 0 else NULL if lo == hi == 0 else ANY_NULL
    taint = value.taint
    if taint is None and comes and value.flags & COUNT and other.taint is not None:
        taint = chooses_place(other)  # it counts up to a number that was chosen from outside
    return AbstractValue(lo, hi, flags, taint, (), null, 0, value.symbol)


def _put_back(
    engine: Engine, state: AbstractState, e: Expr, old: AbstractValue, new: AbstractValue
) -> None:
    """Store a narrowed value where it came from, through conversions, steps and `abs`."""
    while isinstance(e, nodes.Cast):
        lo, hi = limits(e.type)
        inner = quiet(engine, state, e.value)
        if isinstance(e.type, Float) and isinstance(e.source, Integer):
            new = AbstractValue(
                math.ceil(new.low), math.floor(new.high), new.flags, new.taint, (), new.nullness
            )
        if inner.low < lo or inner.high > hi:
            if old.symbol is not None and old.symbol[0] == "negative" and new.high < 2**31:
                _from_lo, from_hi = limits(e.source)
                new = _narrow(inner, max(new.low, 0), min(new.high, from_hi), number(0))
                e = e.value
                continue
            return
        e = e.value
    sym = old.symbol
    if sym is not None and sym[0] == "abs":
        rid, offset = sym[1]
        cells = state.memory.get(rid)
        held = cells.get(offset) if cells is not None else None
        if held is not None and new.high >= 0:
            whole = isinstance(engine.type_at(rid, offset), Integer)
            most = math.floor(new.high) if whole else new.high
            narrowed = _narrow(held, max(held.low, -most), min(held.high, most), number(0))
            if new.low > 0 and held.low >= 0:
                narrowed = _narrow(narrowed, new.low, narrowed.high, number(0))
            elif new.low > 0 and held.high <= 0:
                narrowed = _narrow(narrowed, narrowed.low, -new.low, number(0))
            elif new.low > 0 and narrowed.low < 0 < narrowed.high:
                narrowed = AbstractValue(
                    narrowed.low,
                    narrowed.high,
                    narrowed.flags,
                    narrowed.taint,
                    (),
                    NOT_NULL,
                    0,
                    ("nonzero", None),
                )
            state.put(rid, offset, narrowed)
    if sym is not None and sym[0] == "len":
        _refine_length(state, sym, new)
    if isinstance(e, nodes.Step) and e.postfix:
        cell = _cell(engine, state, nodes.Load(e.address, e.type, e.span))
        if cell is not None:
            delta = distance(engine, e)
            moved = AbstractValue(new.low + delta, new.high + delta, new.flags, new.taint)
            state.put(cell[0], cell[1], moved)
        return
    cell = _cell(engine, state, e)
    if cell is not None:
        state.put(cell[0], cell[1], new)


def _refine_length(state: AbstractState, sym: Any, new: AbstractValue) -> None:
    """Refine a string whose length was tested."""
    _, rid, offset, unit, _ = sym
    reg = state.region_states.get(rid)
    if reg is not None:
        state.region_states[rid] = reg.but(
            min_length=max(reg.min_length, offset + new.low * unit),
            max_length=min(reg.max_length, offset + new.high * unit)
            if new.high < _FAR - 1
            else reg.max_length,
        )


def _switch(engine: Engine, state: AbstractState, end: Switch) -> Ways:
    value = evaluate(engine, state, end.value)
    cases, default = end.cases, end.default
    if value.low == value.high and not value.targets and not value.init:
        for low, high, target in cases:
            if low <= value.low <= high:
                return [(target, state)]
        if all(low <= high for low, high, _ in cases):
            return [(default, state)]
    ways: Ways = []
    for low, high, target in cases[:_MAX_CASES]:
        if low <= high and (high < value.low or low > value.high):
            continue
        there = state.copy()
        if low == high:
            cell = _cell(engine, there, end.value)
            if cell is not None:
                there.put(cell[0], cell[1], number(low))
        there.choices += 1
        taken = (("low", str(low)), ("high", str(high))) if low <= high else ()
        there.trail = (there.trail, (engine.frame.function.file, end.span, BRANCH_CASE, taken))
        ways.append((target, there))
    if cases:
        state.choices += 1
        state.trail = (state.trail, (engine.frame.function.file, end.span, BRANCH_CASE, _DEFAULT))
    ways.append((default, state))
    return ways
