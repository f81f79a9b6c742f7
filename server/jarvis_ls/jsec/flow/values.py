"""What is known about a value at a point, and arithmetic on it."""

from __future__ import annotations

import operator
from typing import Any, Final

from jarvis_ls.jsec.flow.ir import Number, Type
from jarvis_ls.jsec.flow.types import limits

TIGHT: Final = 1
"""Both ends of the range are reached by some execution."""
ARITH: Final = 2
"""The result of arithmetic."""
COUNT: Final = 4
"""Counts up or down by one in a loop from a known start."""
OTHER: Final = 8
"""A pointer that may also lead to what is not known."""
UNSURE: Final = 16
"""Joined from ways that may exclude each other: no proof of anything alone."""

BITS: Final = 32
"""The result of operations on bits."""
DOWN: Final = 64
"""With `COUNT`: it counts down."""

NOT_NULL: Final = 0
MAYBE_NULL: Final = 1
NULL: Final = 2
ANY_NULL: Final = 3
AS_REGION: Final = 4
"""Nullness: no; on some way; yes; nothing known; what its one region says (an allocation)."""
INIT: Final = 0
MAYBE_INIT: Final = 1
UNINIT: Final = 2

Target = tuple[int, Number, Number, int, "tuple[int, int] | None"]
"""Region, least and greatest offset in bytes, flags of the offset, bounds of the member array."""


class Same:
    """An object that equals itself alone, whatever it holds."""

    __slots__ = ("held",)

    def __init__(self, held: object) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.held is self.held

    def __hash__(self) -> int:
        return id(self.held)


class Val:
    """An abstract value: a range of numbers, or a set of places. Never changed once made."""

    __slots__ = ("cells", "flags", "hi", "ini", "lo", "null", "ptr", "sym", "taint")

    def __init__(
        self, lo: Number, hi: Number, flags: int = 0, taint: Any = None,
        ptr: tuple[Target, ...] = (), null: int = ANY_NULL, ini: int = 0, sym: Any = None,
        cells: Any = None,
    ) -> None:  # fmt: skip
        self.lo = lo
        self.hi = hi
        self.flags = flags
        self.taint = taint
        """The step at which input from outside came in, or None."""
        self.ptr = ptr
        self.null = null
        self.ini = ini
        self.sym = sym
        """What it was worked out from, as `(kind, place)`."""
        self.cells = cells
        """Members of a struct that is passed by value, by offset."""

    def key(self) -> tuple[Any, ...]:
        """What tells it from others."""
        return (self.lo, self.hi, self.flags, self.taint is None, self.ptr, self.null, self.ini)


def same(a: Val, b: Val) -> bool:
    """Whether two values say the same."""
    return a is b or (
        a.lo == b.lo and a.hi == b.hi and a.ptr == b.ptr and a.null == b.null
        and a.ini == b.ini and a.flags == b.flags and (a.taint is None) == (b.taint is None)
        and a.cells == b.cells
    )  # fmt: skip


def identical(a: Val, b: Val) -> bool:
    """Whether two values say the same and were worked out from the same."""
    return a is b or (
        a.lo == b.lo and a.hi == b.hi and a.ptr == b.ptr and a.null == b.null
        and a.ini == b.ini and a.flags == b.flags and (a.taint is None) == (b.taint is None)
        and a.sym == b.sym and a.cells == b.cells
    )  # fmt: skip


NOTHING: Final = Val(0, 0, 0, None, (), ANY_NULL, UNINIT)
"""A variable that was not given a value."""
NULL_POINTER: Final = Val(0, 0, TIGHT, None, (), NULL)
ZERO: Final = Val(0, 0, TIGHT, None, (), NULL)
ONE: Final = Val(1, 1, TIGHT, None, (), NOT_NULL)
_UNKNOWN: Final[dict[Type, Val]] = {}


def unknown(type_: Type) -> Val:
    """A value of a type of which nothing is known."""
    found = _UNKNOWN.get(type_)
    if found is None:
        lo, hi = limits(type_)
        found = _UNKNOWN[type_] = Val(lo, hi, OTHER)
    return found


def number(value: Number) -> Val:
    """A known number."""
    return Val(value, value, TIGHT, None, (), NULL if value == 0 else NOT_NULL)


def tainted(type_: Type, source: Any) -> Val:
    """Any number of a type, chosen from outside."""
    lo, hi = limits(type_)
    return Val(lo, hi, OTHER, source)


def pointer(rid: int, null: int = NOT_NULL, sub: tuple[int, int] | None = None) -> Val:
    """The address of a region."""
    return Val(0, 0, TIGHT, None, ((rid, 0, 0, TIGHT, sub),), null)


def is_number(source: Any) -> bool:
    """Whether what came in is a number, and not the characters of a text."""
    label: str = source[2]
    return label.startswith("number")


def is_known(value: Val) -> bool:
    """Whether the ends of the range are proven to be reached or chosen from outside."""
    return bool(value.flags & TIGHT) or value.taint is not None


_OF_BOTH: Final = TIGHT | COUNT | BITS | DOWN
_OF_EITHER: Final = OTHER | UNSURE | ARITH


def join(a: Val, b: Val) -> Val:
    """What holds on either way."""
    if a is b:
        return a
    if a.ini == UNINIT and b.ini == UNINIT:
        return a
    if a.ini == UNINIT or b.ini == UNINIT:
        known = b if a.ini == UNINIT else a
        if known.ini == MAYBE_INIT and known.flags & UNSURE and known.sym is None:
            return known
        return Val(known.lo, known.hi, known.flags | UNSURE, known.taint, known.ptr, known.null,
                   MAYBE_INIT, None, known.cells)  # fmt: skip
    flags = (a.flags & b.flags & _OF_BOTH) | ((a.flags | b.flags) & _OF_EITHER)
    ptr = a.ptr if a.ptr == b.ptr else join_targets(a.ptr, b.ptr)
    null = a.null if a.null == b.null else _join_null(a, b)
    if null == MAYBE_NULL and a.null != b.null and (ptr or flags & OTHER):
        flags |= UNSURE  # which way it is may hang together with other things
    if len(ptr) > 6:
        ptr, flags = ptr[:6], flags | OTHER
    lo = a.lo if a.lo < b.lo else b.lo
    hi = a.hi if a.hi > b.hi else b.hi
    ini = a.ini if a.ini > b.ini else b.ini
    if (  # most often the first has it all
        lo == a.lo and hi == a.hi and flags == a.flags and null == a.null and ini == a.ini
        and ptr is a.ptr and (a.taint is not None or b.taint is None)
        and (a.sym is None or a.sym == b.sym) and (a.cells is None or a.cells == b.cells)
    ):  # fmt: skip
        return a
    cells = a.cells if a.cells == b.cells else None
    return Val(lo, hi, flags, a.taint or b.taint, ptr, null, ini,
               a.sym if a.sym == b.sym else None, cells)  # fmt: skip


def _join_null(a: Val, b: Val) -> int:
    kinds = {a.null, b.null}
    if MAYBE_NULL in kinds or NULL in kinds:
        return MAYBE_NULL
    return AS_REGION if kinds == {NOT_NULL, AS_REGION} else ANY_NULL


def join_targets(a: tuple[Target, ...], b: tuple[Target, ...]) -> tuple[Target, ...]:
    """Places of either, each region once, in order of region."""
    found = {t[0]: t for t in a}
    for target in b:
        old = found.get(target[0])
        if old is None:
            found[target[0]] = target
        elif old != target:
            found[target[0]] = (
                target[0], min(old[1], target[1]), max(old[2], target[2]), old[3] & target[3],
                old[4] if old[4] == target[4] else None,
            )  # fmt: skip
    return tuple(sorted(found.values(), key=operator.itemgetter(0)))


_BIG: Final = float(2**64)


def widen(old: Val, new: Val, type_: Type | None) -> Val:
    """`old` grown to what it may become after any number of rounds that lead to `new`."""
    joined = join(old, new)
    if same(old, joined):
        return old
    low, high = limits(type_) if type_ is not None else (-(2**63), 2**64 - 1)
    lo, hi, flags = joined.lo, joined.hi, joined.flags
    if not joined.ptr:
        up, down = hi > old.hi, lo < old.lo
        step = old.flags & TIGHT and new.flags & TIGHT and up != down and new.hi - old.hi <= 1 \
            and old.lo - new.lo <= 1  # fmt: skip
        way = COUNT | DOWN if down else COUNT
        counting = step or (old.flags & COUNT and not (up and down) and (
            not (up or down) or old.flags & DOWN == way & DOWN))  # fmt: skip
        kept = way if up or down else old.flags & (COUNT | DOWN)
        flags = (flags & ~(TIGHT | COUNT | DOWN)) | (kept if counting else 0)
        lo, hi = (low if down else lo), (high if up else hi)
    ptr = tuple(_widened(t, old.ptr) for t in joined.ptr)
    return Val(lo, hi, flags, joined.taint, ptr, joined.null, joined.ini, None, joined.cells)


def _widened(target: Target, old: tuple[Target, ...]) -> Target:
    for before in old:
        if before[0] == target[0]:
            lo = target[1] if target[1] >= before[1] else -_BIG
            hi = target[2] if target[2] <= before[2] else _BIG
            if lo == before[1] and hi == before[2]:
                return target
            steps = before[3] & target[3] & (TIGHT | COUNT)
            up = COUNT if steps and lo == before[1] and not before[3] & DOWN else 0
            down = COUNT | DOWN if steps and hi == before[2] else 0
            return (target[0], lo, hi, up or down, target[4])
    return target


def corners(op: str, a: Val, b: Val) -> tuple[Number, Number] | None:
    """Least and greatest exact result of an operator; None when the operator tells nothing."""
    if op == "+":
        return a.lo + b.lo, a.hi + b.hi
    if op == "-":
        return a.lo - b.hi, a.hi - b.lo
    if op == "*":
        products = (a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi)
        if a is b or (a.sym is not None and a.sym == b.sym):
            squares = (a.lo * a.lo, a.hi * a.hi)
            return (0 if a.lo <= 0 <= a.hi else min(squares)), max(squares)
        return min(products), max(products)
    if op == "/":
        return _quotients(a, b)
    if op == "%":
        return _remainders(a, b)
    if op == "&":
        if b.lo >= 0 or a.lo >= 0:
            if a.lo == a.hi and b.lo == b.hi:
                return (int(a.lo) & int(b.lo),) * 2
            return 0, min(v.hi for v in (a, b) if v.lo >= 0)
        return None
    if op in ("|", "^"):
        if a.lo == a.hi and b.lo == b.hi:
            value = int(a.lo) | int(b.lo) if op == "|" else int(a.lo) ^ int(b.lo)
            return value, value
        if a.lo >= 0 and b.lo >= 0:
            bits = max(int(a.hi), int(b.hi)).bit_length()
            return 0, (1 << bits) - 1
        return None
    if op == "<<" and b.lo >= 0 and b.hi < 64:
        low, high = int(b.lo), int(b.hi)
        ends = (int(a.lo) << low, int(a.lo) << high, int(a.hi) << low, int(a.hi) << high)
        return min(ends), max(ends)
    if op == ">>" and b.lo >= 0 and b.hi < 128:
        shifted = [int(x) >> int(y) for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
        return min(shifted), max(shifted)
    return None


def _quotients(a: Val, b: Val) -> tuple[Number, Number] | None:
    divisors = [d for d in (b.lo, b.hi, 1, -1) if d and b.lo <= d <= b.hi]
    if not divisors:
        return None
    ends = [_divided(x, d) for x in (a.lo, a.hi) for d in divisors]
    if a.lo <= 0 <= a.hi:
        ends.append(0)
    return min(ends), max(ends)


def _divided(x: Number, d: Number) -> Number:
    if isinstance(x, float) or isinstance(d, float):
        return x / d
    quotient = abs(x) // abs(d)
    return quotient if (x < 0) == (d < 0) else -quotient


def _remainders(a: Val, b: Val) -> tuple[Number, Number] | None:
    most = max(abs(b.lo), abs(b.hi)) - 1
    if most < 0:
        return None
    if a.lo == a.hi and b.lo == b.hi and b.lo:
        value = a.lo - b.lo * _divided(a.lo, b.lo)
        return value, value
    high = min(most, a.hi) if a.hi > 0 else 0
    return (max(-most, a.lo) if a.lo < 0 else 0), high


def compare(op: str, a: Val, b: Val) -> bool | None:
    """Whether a comparison of numbers holds, or None when it may or may not."""
    if op == "<":
        return True if a.hi < b.lo else False if a.lo >= b.hi else None
    if op == ">":
        return True if a.lo > b.hi else False if a.hi <= b.lo else None
    if op == "<=":
        return True if a.hi <= b.lo else False if a.lo > b.hi else None
    if op == ">=":
        return True if a.lo >= b.hi else False if a.hi < b.lo else None
    equal = True if a.lo == a.hi == b.lo == b.hi else \
        False if a.hi < b.lo or b.hi < a.lo else None  # fmt: skip
    return equal if op == "==" or equal is None else not equal
