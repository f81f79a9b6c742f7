"""Where a block goes on, and what a branch tells about the values it tested."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from jarvis_ls.jsec.flow import ir
from jarvis_ls.jsec.flow.evaluate import OPS, decided, evaluate, nullness
from jarvis_ls.jsec.flow.ir import Expr, Instr, Number
from jarvis_ls.jsec.flow.numbers import folded
from jarvis_ls.jsec.flow.state import State
from jarvis_ls.jsec.flow.types import UNIT, limits, pointee
from jarvis_ls.jsec.flow.values import (
    ANY_NULL,
    AS_REGION,
    COUNT,
    DOWN,
    MAYBE_NULL,
    NOT_NULL,
    NULL,
    OTHER,
    TIGHT,
    ZERO,
    Target,
    Val,
    corners,
    number,
)  # fmt: skip
from jarvis_ls.jsec.flow.way import BRANCH, ONLY

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis

_NEGATED: Final = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MIRRORED: Final = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_WRITTEN_OUT: Final = frozenset({ir.CONST, ir.STR, ir.NULL, ir.SIZEOF})
_PLAIN: Final = frozenset({ir.CONST, ir.SIZEOF, ir.LOCAL, ir.GLOBAL})
BRANCH_CASE: Final = "This case is taken."
_MAX_CASES: Final = 300
_FAR: Final = 2**31 - 1
_NEAR: Final = 16
"""Rounds that a loop still has to go when it is gone through step by step."""
_ANY: Final = Val(0, 0)
"""A number that is not known to be reached."""
TRUE: Final = (("value", "true"),)
FALSE: Final = (("value", "false"),)
Ways = list[tuple[int, State]]


def successors(an: Analysis, st: State, end: Instr) -> Iterable[tuple[int, State]]:
    """The blocks a state goes on to; `st` itself is used up."""
    kind = end[0]
    if kind == ir.IF:
        return _branch(an, st, end)
    if kind == ir.SWITCH:
        return _switch(an, st, end)
    return ()


def quiet(an: Analysis, st: State, e: Expr) -> Val:
    """The value of an expression whose faults were told already."""
    an.silent += 1
    value = OPS[e[0]](an, st, e)
    an.silent -= 1
    return value


def _branch(an: Analysis, st: State, end: Instr) -> Ways:
    condition = end[1]
    positive = True
    while condition[0] == ir.NOT:
        condition, positive = condition[1], not positive
    if condition[0] == ir.CMP:
        op, left, right = condition[1], condition[2], condition[3]
        a, b = _tested(an, st, left), evaluate(an, st, right)
    else:
        op, left, right = "!=", condition, (ir.NULL,)
        a, b = _tested(an, st, left), ZERO
        if a.sym is not None and a.sym[0] == "compared":
            op, left, right = a.sym[1], a.sym[2], a.sym[3]
    found = decided(an, st, op, a, b)
    if found is None and left[0] == ir.BIN and left[1] in ("%", "&"):
        _loosen(an, st, left[2])
    an.defensive = len(end) > 5
    moves = a.ptr[0][3] if len(a.ptr) == 1 else a.flags
    counts = moves & COUNT and b.flags & TIGHT
    ways: Ways = []
    for holds in (True, False):
        if found is not None and found != holds:
            continue
        target = end[2] if holds == positive else end[3]
        there = st if found is not None or not holds else st.copy()
        if found is None or condition[0] == ir.BITAND:
            came_out = TRUE if holds == positive else FALSE
            step = (an.frame.function.file, end[4], BRANCH, came_out)
            if counts or an.ends_at(end[3] if holds == positive else end[2]):
                there.trail = (there.trail, step, ONLY)  # whoever is here came this way
            else:
                there.choices += 1
                there.trail = (there.trail, step)
            an.going = target
            if condition[0] == ir.BITAND and holds:
                assume(an, there, condition[1])
                assume(an, there, condition[2])
            elif not refine(an, there, op if holds else _NEGATED[op], left, right, a, b):
                continue
        ways.append((target, there))
    return ways


def _loosen(an: Analysis, st: State, e: Expr) -> None:
    """A part of a number was asked for: which of its values come this way is not known."""
    value = quiet(an, st, e)
    cell = _cell(an, st, e)
    if cell is not None and value.flags & TIGHT and value.lo != value.hi and not value.ptr:
        st.put(cell[0], cell[1], Val(value.lo, value.hi, value.flags & ~TIGHT, value.taint, (),
                                     value.null, value.ini, value.sym))  # fmt: skip


def _tested(an: Analysis, st: State, e: Expr) -> Val:
    """The value a condition tests; `while (n--)` may count past zero once it is left."""
    if e[0] == ir.STEP and e[4] and e[2][0] == "i" and not e[2][2]:
        return quiet(an, st, e)
    return evaluate(an, st, e)


def is_near(an: Analysis, st: State, end: Instr) -> bool:
    """Whether a branch compares two known numbers, or places of one region, that are not far from
    each other."""
    if end[0] != ir.IF or end[1][0] != ir.CMP:
        return False
    left, right = end[1][2], end[1][3]
    if not (_is_plain(left) and _is_plain(right)):
        return False
    b = quiet(an, st, right)
    if b.lo != b.hi or b.ini or b.flags & OTHER or len(b.ptr) > 1:
        return False
    a = quiet(an, st, left)
    if a.lo != a.hi or a.ini or a.flags & OTHER or len(a.ptr) != len(b.ptr):
        return False
    if not a.ptr:
        return abs(a.lo - b.lo) <= _NEAR
    (rid, lo, hi, _, _), (there, least, most, _, _) = a.ptr[0], b.ptr[0]
    exact = rid == there and lo == hi and least == most
    return exact and abs(lo - least) <= _NEAR * _step(an, left)


def _is_plain(e: Expr) -> bool:
    """Whether an expression only looks at variables and constants."""
    kind = e[0]
    if kind == ir.BIN:
        return _is_plain(e[2]) and _is_plain(e[3])
    if kind == ir.CAST:
        return _is_plain(e[1])
    if kind == ir.INDEX:
        return _is_plain(e[1]) and _is_plain(e[2])
    if kind == ir.DECAY:
        return _is_plain(e[1])
    return kind in _PLAIN or (kind == ir.LOAD and e[1][0] in (ir.LOCAL, ir.GLOBAL))


def assume(an: Analysis, st: State, e: Expr) -> bool:
    """Take for granted that an expression is true; False when it cannot be."""
    if e[0] == ir.CMP:
        a, b = quiet(an, st, e[2]), quiet(an, st, e[3])
        return refine(an, st, e[1], e[2], e[3], a, b)
    return refine(an, st, "!=", e, (ir.NULL,), quiet(an, st, e), ZERO)


def refine(an: Analysis, st: State, op: str, left: Expr, right: Expr, a: Val, b: Val) -> bool:
    """Narrow what both sides came from; False when the comparison cannot hold."""
    if a.ini or b.ini:
        return True
    if (a.ptr or b.ptr) and _refine_handle(an, st, op, a, b) is False:
        return False
    if a.ptr or b.ptr or a.null == NULL or b.null == NULL or a.flags & b.flags & OTHER:
        if _is_pointer_test(a, b):
            if b.null == NULL and not b.ptr:
                return _refine_null(an, st, op, left, a)
            return a.null != NULL or _refine_null(an, st, _MIRRORED[op], right, b)
        if a.ptr or b.ptr:
            return _refine_offset(an, st, op, left, a, b) and (
                _refine_offset(an, st, _MIRRORED[op], right, b, a)
            )  # fmt: skip
    if not _refine_number(an, st, op, left, a, b, right):
        return False
    # what is written out says nothing more: it would not have held for the other side either
    return right[0] in _WRITTEN_OUT or _refine_number(an, st, _MIRRORED[op], right, b, a, left)


def _is_pointer_test(a: Val, b: Val) -> bool:
    if b.null == NULL and not b.ptr and b.lo == 0 == b.hi:
        return bool(a.ptr) or (a.lo == a.hi == 0 and bool(a.flags & OTHER))
    return a.null == NULL and not a.ptr and a.lo == 0 == a.hi and bool(b.ptr)


def _refine_offset(an: Analysis, st: State, op: str, e: Expr, value: Val, other: Val) -> bool:
    """A pointer that may lead to several places of a region is compared with one into it."""
    if op == "!=" or len(value.ptr) != 1 or len(other.ptr) != 1 or (
        (value.flags | other.flags) & OTHER
    ):  # fmt: skip
        return True
    rid, lo, hi, flags, sub = value.ptr[0]
    there, least, most = other.ptr[0][:3]
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
        step = _step(an, e)
        if op in (">", ">="):
            lo = max(lo, least + step if op == ">" else least)
        else:
            hi = min(hi, most - step if op == "<" else most)
        ahead = hi < value.ptr[0][2] if not flags & DOWN else lo > value.ptr[0][1]
        behind = lo > value.ptr[0][1] if not flags & DOWN else hi < value.ptr[0][2]
        if flags & COUNT and least == most and lo <= hi and (hi - lo) % step == 0 and ahead:
            flags |= TIGHT  # it moves by elements, and comes to the last of them
        elif flags & COUNT and least == most and lo <= hi and behind and an.leaves_loop():
            lo = hi = hi if flags & DOWN else lo  # the first beyond
            flags |= TIGHT
    if lo > hi:
        return False
    cell = _cell(an, st, e) if (lo, hi) != value.ptr[0][1:3] else None
    if cell is not None:
        place: Target = (rid, lo, hi, flags, sub)
        st.put(cell[0], cell[1], Val(value.lo, value.hi, value.flags, value.taint, (place,),
                                     value.null, 0, value.sym))  # fmt: skip
    return True


def _step(an: Analysis, e: Expr) -> int:
    """Bytes that a pointer which an expression gives is apart from the next, at least."""
    size: int = an.size(pointee(e[2])) if e[0] == ir.LOAD else 1
    return size if 0 < size != UNIT else 1


def _refine_handle(an: Analysis, st: State, op: str, a: Val, b: Val) -> bool:
    """A file descriptor is compared with a number: below zero it was not opened, and one of the
    standard streams stays open."""
    handle, value, operator = (a, b, op) if a.ptr else (b, a, _MIRRORED[op])
    failed = (operator in ("<", "<=") and value.hi <= 0) or (operator == "==" and value.hi < 0)
    passed = (operator in (">", ">=") and value.lo >= -1) or (operator == "!=" and value.hi < 0)
    standard = (operator in ("<", "<=", "==") and value.hi <= 2) or (
        operator == "<" and value.hi == 3
    )
    for target in handle.ptr:
        reg = st.regs.get(target[0])
        if reg is not None and reg.family == "CreateFile" and operator in ("==", "!="):
            st.regs[target[0]] = reg.but(null=2 if operator == "==" else 0)
        elif reg is not None and reg.family == "open":
            if failed and reg.null == 0:
                return False
            null = 2 if failed else 0 if passed else reg.null
            st.regs[target[0]] = reg.but(null=null, escaped=reg.escaped or standard)
    return True


def _refine_null(an: Analysis, st: State, op: str, e: Expr, value: Val) -> bool:
    null = nullness(st, value)
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
        and an.frame.caller is not None
        and value.ptr
        and all(an.kind(t[0]) == "object" for t in value.ptr)
    ):
        return False  # what a caller from outside gives is its affair, here and further in
    if value.null == AS_REGION or null in (MAYBE_NULL,):
        for target in value.ptr if len(value.ptr) == 1 else ():
            reg = st.regs.get(target[0])
            if reg is not None and reg.null:
                st.regs[target[0]] = reg.but(null=2 if is_null else 0)
    cell = _cell(an, st, e)
    if cell is not None:
        if is_null:
            new = Val(
                0,
                0,
                TIGHT,
                None,
                (),
                NULL,
                0,
                ("tested", -1 if an.defensive else an.frame.base, st.choices, st.unseen),
            )
        else:
            new = Val(value.lo, value.hi, value.flags, value.taint, value.ptr, NOT_NULL, 0,
                      value.sym)  # fmt: skip
        st.put(cell[0], cell[1], new)
    return True


def _cell(an: Analysis, st: State, e: Expr) -> tuple[int, Any] | None:
    """The cell whose value an expression has, whatever conversion keeps it."""
    if e[0] == ir.LOAD:
        return an.cell(st, e)
    while e[0] == ir.CAST:
        e = e[1]
    if e[0] == ir.STORE:
        e = (ir.LOAD, e[1], e[3], e[4])
    elif e[0] == ir.STEP and not e[4]:
        e = (ir.LOAD, e[1], e[2], e[5])
    elif e[0] == ir.TEMP:
        return an.frame.temps + e[1], 0
    return an.cell(st, e)


def _refine_number(
    an: Analysis, st: State, op: str, e: Expr, value: Val, other: Val, by: Expr
) -> bool:
    """Narrow a number by one it is compared with, which the expression `by` gives."""
    lo, hi = value.lo, value.hi
    if op == "!=":  # most often
        if other.lo == other.hi:
            if lo == other.lo:
                lo += 1
            elif hi == other.hi:
                hi -= 1
    elif op == "==":
        lo, hi = max(lo, other.lo), min(hi, other.hi)
    elif op == "<":
        hi = min(hi, other.hi - 1 if isinstance(other.hi, int) else other.hi)
    elif op == "<=":
        hi = min(hi, other.hi)
    elif op == ">":
        lo = max(lo, other.lo + 1 if isinstance(other.lo, int) else other.lo)
    else:
        lo = max(lo, other.lo)
    if lo > hi:
        return False
    excluded = op == "!=" and other.lo == other.hi == 0 and lo < 0 < hi
    if lo == value.lo and hi == value.hi and not excluded:
        if op == "!=" and lo < other.lo == other.hi < hi and value.sym is None and not value.ptr:
            _put_back(an, st, e, value, Val(lo, hi, value.flags, value.taint, (), value.null, 0,
                                            ("differs", other.lo)))  # fmt: skip
        elif e[0] == ir.BIN and op != "!=" and folded(by) is None:
            _narrow_parts(an, st, e, value, exact=False)
        return True
    if e[0] in _WRITTEN_OUT:
        return True
    is_part = e[0] == ir.BIN
    counter = not is_part and value.flags & COUNT and other.flags & TIGHT
    if counter and other.lo == other.hi and an.leaves_loop():
        # a counter leaves its loop with the first number that ends it
        if op in (">", ">=") and not value.flags & DOWN and lo > value.lo:
            hi = lo
        elif op in ("<", "<=") and value.flags & DOWN and hi < value.hi:
            lo = hi
    new = _narrowed(value, lo, hi, other)
    if lo == hi == 0 and new.sym is None:
        new.sym = ("tested", -1 if an.defensive else an.frame.base, st.choices, st.unseen)
    if excluded:
        new = Val(lo, hi, new.flags, None if value.taint is None else value.taint, (), NOT_NULL,
                  0, ("nonzero", None))  # fmt: skip
    if is_part:
        _narrow_parts(an, st, e, new, exact=folded(by) is not None)
    else:
        _put_back(an, st, e, value, new)
    return True


def _narrow_parts(an: Analysis, st: State, e: Expr, new: Val, *, exact: bool) -> None:
    """What a sum or difference was narrowed to says about what it is made of. Unless it was
    compared with an `exact` number, how far each part goes hangs together with other values."""
    if e[1] not in ("+", "-") or e[4][0] != "i":
        return
    a, b = quiet(an, st, e[2]), quiet(an, st, e[3])
    ends = corners(e[1], a, b)
    low, high = limits(e[4])
    if a.ptr or b.ptr or a.ini or b.ini or ends is None:
        return
    if not e[4][2] and (ends[0] < low or ends[1] > high):
        return  # it may have wrapped
    if e[1] == "+":
        mine, other = (new.lo - b.hi, new.hi - b.lo), (new.lo - a.hi, new.hi - a.lo)
    else:
        mine, other = (new.lo + b.lo, new.hi + b.hi), (a.lo - new.hi, a.hi - new.lo)
    for part, value, fixed, (lo, hi) in ((e[2], a, b, mine), (e[3], b, a, other)):
        lo, hi = max(lo, value.lo), min(hi, value.hi)
        if lo >= hi or part[0] in _WRITTEN_OUT:
            continue
        if exact and (lo != value.lo or hi != value.hi):
            told = fixed.lo == fixed.hi and new.flags & TIGHT
            _put_back(an, st, part, value, _narrowed(value, lo, hi, ZERO if told else _ANY))
        elif not exact and value.flags & (TIGHT | COUNT):
            loose = value.flags & ~(TIGHT | COUNT | DOWN)
            _put_back(an, st, part, value,
                      Val(lo, hi, loose, value.taint, (), value.null, 0, value.sym))  # fmt: skip


def _narrowed(value: Val, lo: Number, hi: Number, other: Val) -> Val:
    flags = value.flags & ~TIGHT
    comes = lo > value.lo if value.flags & DOWN else hi < value.hi
    counts = value.flags & COUNT and other.flags & TIGHT and lo > -_FAR and hi < _FAR
    if (
        lo == hi
        or (counts and (comes or value.flags & TIGHT))
        or (value.flags & TIGHT and lo == value.lo and hi == value.hi)
    ):
        flags |= TIGHT
    if lo == hi:
        flags &= ~OTHER
    null = NOT_NULL if lo > 0 or hi < 0 else NULL if lo == hi == 0 else ANY_NULL
    return Val(lo, hi, flags, value.taint, (), null, 0, value.sym)


def _put_back(an: Analysis, st: State, e: Expr, old: Val, new: Val) -> None:
    """Store a narrowed value where it came from, through conversions, steps and `abs`."""
    while e[0] == ir.CAST:
        lo, hi = limits(e[3])
        inner = quiet(an, st, e[1])
        if e[3][0] == "f" and e[2][0] == "i":
            new = Val(math.ceil(new.lo), math.floor(new.hi), new.flags, new.taint, (), new.null)
        if inner.lo < lo or inner.hi > hi:
            if old.sym is not None and old.sym[0] == "negative" and new.hi < 2**31:
                _from_lo, from_hi = limits(e[2])
                new = _narrowed(inner, max(new.lo, 0), min(new.hi, from_hi), number(0))
                e = e[1]
                continue
            return
        e = e[1]
    sym = old.sym
    if sym is not None and sym[0] == "abs":
        rid, offset = sym[1]
        cells = st.mem.get(rid)
        held = cells.get(offset) if cells is not None else None
        if held is not None and new.hi >= 0:
            whole = an.type_at(rid, offset)[0] == "i"
            most = math.floor(new.hi) if whole else new.hi
            narrowed = _narrowed(held, max(held.lo, -most), min(held.hi, most), number(0))
            if new.lo > 0 and held.lo >= 0:
                narrowed = _narrowed(narrowed, new.lo, narrowed.hi, number(0))
            elif new.lo > 0 and held.hi <= 0:
                narrowed = _narrowed(narrowed, narrowed.lo, -new.lo, number(0))
            elif new.lo > 0 and narrowed.lo < 0 < narrowed.hi:
                narrowed = Val(narrowed.lo, narrowed.hi, narrowed.flags, narrowed.taint, (),
                               NOT_NULL, 0, ("nonzero", None))  # fmt: skip
            st.put(rid, offset, narrowed)
    if sym is not None and sym[0] == "len":
        _refine_length(st, sym, new)
    if e[0] == ir.STEP and e[4]:
        cell = _cell(an, st, (ir.LOAD, e[1], e[2], e[5]))
        if cell is not None:
            moved = Val(new.lo + e[3], new.hi + e[3], new.flags, new.taint)
            st.put(cell[0], cell[1], moved)
        return
    cell = _cell(an, st, e)
    if cell is not None:
        st.put(cell[0], cell[1], new)


def _refine_length(st: State, sym: Any, new: Val) -> None:
    """The length of a string was tested."""
    _, rid, offset, unit, _ = sym
    reg = st.regs.get(rid)
    if reg is not None:
        st.regs[rid] = reg.but(
            len_lo=max(reg.len_lo, offset + new.lo * unit),
            len_hi=min(reg.len_hi, offset + new.hi * unit) if new.hi < _FAR - 1 else reg.len_hi,
        )  # fmt: skip


def _switch(an: Analysis, st: State, end: Instr) -> Ways:
    value = evaluate(an, st, end[1])
    cases, default = end[2], end[3]
    if value.lo == value.hi and not value.ptr and not value.ini:
        for low, high, target in cases:
            if low <= value.lo <= high:
                return [(target, st)]
        if all(low <= high for low, high, _ in cases):
            return [(default, st)]
    ways: Ways = []
    for low, high, target in cases[:_MAX_CASES]:
        if low <= high and (high < value.lo or low > value.hi):
            continue
        there = st.copy()
        if low == high:
            cell = _cell(an, there, end[1])
            if cell is not None:
                there.put(cell[0], cell[1], number(low))
        there.choices += 1
        there.trail = (there.trail, (an.frame.function.file, end[4], BRANCH_CASE, ()))
        ways.append((target, there))
    if cases:
        st.choices += 1
        st.trail = (st.trail, (an.frame.function.file, end[4], BRANCH_CASE, ()))
    ways.append((default, st))
    return ways
