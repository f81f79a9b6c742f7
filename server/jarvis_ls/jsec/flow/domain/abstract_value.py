"""What is known about a value at a point, and arithmetic on it."""

from __future__ import annotations

import operator
from typing import Any, Final, final

from jarvis_ls.jsec.flow.ir.c_types import limits
from jarvis_ls.jsec.flow.ir.nodes import Number
from jarvis_ls.jsec.flow.ir.types import Type

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

UNALLOCATED: Final = 128
"""Null where a function that was called could not allocate, for no other reason."""

NOT_NULL: Final = 0
MAYBE_NULL: Final = 1
NULL: Final = 2
ANY_NULL: Final = 3
AS_REGION: Final = 4
"""Nullness: no; on some way; yes; nothing known; what its one region says (an allocation)."""
INIT: Final = 0
MAYBE_INIT: Final = 1
UNINIT: Final = 2
"""Whether a value was given: on every way; on some; on none."""

Target = tuple[int, Number, Number, int, "tuple[int, int] | None"]
"""Region, least and greatest offset in bytes, flags of the offset, bounds of the member array."""


@final
class Identity:
    """An object that equals itself alone, whatever it holds."""

    __slots__ = ("held",)

    def __init__(self, held: object) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and other.held is self.held

    def __hash__(self) -> int:
        return id(self.held)


@final
class AbstractValue:
    """An abstract value: a range of numbers, or a set of places. Never changed once made."""

    __slots__ = ("cells", "flags", "high", "init", "low", "nullness", "symbol", "taint", "targets")

    def __init__(
        self,
        low: Number,
        high: Number,
        flags: int = 0,
        taint: Any = None,
        targets: tuple[Target, ...] = (),
        nullness: int = ANY_NULL,
        init: int = INIT,
        symbol: Any = None,
    ) -> None:
        self.low = low
        self.high = high
        self.flags = flags
        self.taint = taint
        """The step at which input from outside came in, or None."""
        self.targets = targets
        self.nullness = nullness
        self.init = init
        self.symbol = symbol
        """What it was worked out from, as `(kind, place)`."""
        self.cells: Any = None
        """Members of a struct that is passed by value, by offset."""

    def key(self) -> tuple[Any, ...]:
        """Return what tells it from others."""
        return (
            self.low,
            self.high,
            self.flags,
            self.taint is None,
            self.targets,
            self.nullness,
            self.init,
        )


def same(a: AbstractValue, b: AbstractValue) -> bool:
    """Return whether two values say the same."""
    return a is b or (
        a.low == b.low
        and a.high == b.high
        and a.targets == b.targets
        and a.nullness == b.nullness
        and a.init == b.init
        and a.flags == b.flags
        and (a.taint is None) == (b.taint is None)
        and a.cells == b.cells
    )


def identical(a: AbstractValue, b: AbstractValue) -> bool:
    """Return whether two values say the same and were worked out from the same."""
    return a is b or (
        a.low == b.low
        and a.high == b.high
        and a.targets == b.targets
        and a.nullness == b.nullness
        and a.init == b.init
        and a.flags == b.flags
        and (a.taint is None) == (b.taint is None)
        and a.symbol == b.symbol
        and a.cells == b.cells
    )


NOTHING: Final = AbstractValue(0, 0, 0, None, (), ANY_NULL, UNINIT)
"""A variable that was not given a value."""
NULL_POINTER: Final = AbstractValue(0, 0, TIGHT, None, (), NULL)
ZERO: Final = AbstractValue(0, 0, TIGHT, None, (), NULL)
ONE: Final = AbstractValue(1, 1, TIGHT, None, (), NOT_NULL)
_UNKNOWN: Final[dict[Type, AbstractValue]] = {}


def unknown(type_: Type) -> AbstractValue:
    """Return a value of a type of which nothing is known."""
    found = _UNKNOWN.get(type_)
    if found is None:
        lo, hi = limits(type_)
        found = _UNKNOWN[type_] = AbstractValue(lo, hi, OTHER)
    return found


def number(value: Number) -> AbstractValue:
    """Return a known number."""
    return AbstractValue(value, value, TIGHT, None, (), NULL if value == 0 else NOT_NULL)


def tainted_number(type_: Type, source: Any) -> AbstractValue:
    """Return any number of a type, chosen from outside."""
    lo, hi = limits(type_)
    return AbstractValue(lo, hi, OTHER, source)


def pointer(
    rid: int, nullness: int = NOT_NULL, sub: tuple[int, int] | None = None
) -> AbstractValue:
    """Return the address of a region."""
    return AbstractValue(0, 0, TIGHT, None, ((rid, 0, 0, TIGHT, sub),), nullness)


def structure(
    cells: dict[Any, AbstractValue], nullness: int = NOT_NULL, low: Number = 0, high: Number = 0
) -> AbstractValue:
    """Return a struct that is passed by value, by its members; what may be a number after all lies
    between two limits."""
    found = AbstractValue(low, high, OTHER, None, (), nullness)
    found.cells = cells
    return found


def is_number(source: Any) -> bool:
    """Return whether what came in is a number, and not the characters of a text."""
    label: str = source[2]
    return label.startswith("number")


def is_bytes(source: Any) -> bool:
    """Return whether what came in is a block of bytes: the numbers in it are chosen from outside,
    its single bytes may be characters."""
    label: str = source[2]
    return label.startswith("bytes:")


def is_decoded(source: Any) -> bool:
    """Return whether a number was put together from bytes of which it is not seen that they came
    in: that they did is a guess."""
    label: str = source[2]
    return label.startswith("number?")


def number_of(source: Any) -> Any:
    """Return the source of a number of several bytes that is read out of what came in."""
    if source is None or not is_bytes(source):
        return source
    return (*source[:2], "number:" + source[2].partition(":")[2], *source[3:])


def chooses_place(value: AbstractValue) -> Any:
    """Return the source of a number that decides which element is meant: an input, or a byte of one
    with which nothing was calculated; None for others."""
    source = value.taint
    if source is None or is_number(source):
        return source
    return source if is_bytes(source) and not value.flags & (ARITH | BITS) else None


def is_known(value: AbstractValue) -> bool:
    """Return whether the ends of the range are proven to be reached or chosen from outside."""
    return bool(value.flags & TIGHT) or value.taint is not None


_OF_BOTH: Final = TIGHT | COUNT | BITS | DOWN
_OF_EITHER: Final = OTHER | UNSURE | ARITH


MOST_TARGETS: Final = 6
"""Regions a value is known to lead to: of more, the others are `OTHER`."""


def join(a: AbstractValue, b: AbstractValue) -> AbstractValue:
    """Return the join: what holds on either way."""
    if a is b:
        return a
    if a.init == UNINIT and b.init == UNINIT:
        return a
    if a.init == UNINIT or b.init == UNINIT:
        known = b if a.init == UNINIT else a
        if known.init == MAYBE_INIT and known.flags & UNSURE and known.symbol is None:
            return known
        found = AbstractValue(
            known.low,
            known.high,
            known.flags | UNSURE,
            known.taint,
            known.targets,
            known.nullness,
            MAYBE_INIT,
        )
        found.cells = known.cells
        return found
    flags = (a.flags & b.flags & _OF_BOTH) | ((a.flags | b.flags) & _OF_EITHER)
    if (a.flags | b.flags) & UNALLOCATED and _is_unallocated(a) and _is_unallocated(b):
        flags |= UNALLOCATED
    ptr = a.targets if a.targets == b.targets else join_targets(a.targets, b.targets)
    null = a.nullness if a.nullness == b.nullness else _join_null(a, b)
    if null == MAYBE_NULL and a.nullness != b.nullness and (ptr or flags & OTHER):
        flags |= UNSURE  # which way it is may hang together with other things
    if len(ptr) > MOST_TARGETS:
        ptr, flags = ptr[:MOST_TARGETS], flags | OTHER
    lo = a.low if a.low < b.low else b.low
    hi = a.high if a.high > b.high else b.high
    ini = a.init if a.init > b.init else b.init
    if (  # most often the first has it all
        lo == a.low
        and hi == a.high
        and flags == a.flags
        and null == a.nullness
        and ini == a.init
        and ptr is a.targets
        and (a.taint is not None or b.taint is None)
        and (a.symbol is None or a.symbol == b.symbol)
        and (a.cells is None or a.cells == b.cells)
    ):
        return a
    symbol = a.symbol if a.symbol == b.symbol else None
    found = AbstractValue(lo, hi, flags, a.taint or b.taint, ptr, null, ini, symbol)
    found.cells = a.cells if a.cells == b.cells else None
    return found


def _is_unallocated(value: AbstractValue) -> bool:
    """Return whether nothing but an allocation that failed makes a value null."""
    return bool(value.flags & UNALLOCATED) or value.nullness in (NOT_NULL, AS_REGION)


def dropped(joined: AbstractValue, a: AbstractValue, b: AbstractValue) -> list[int]:
    """Return the regions that two values lead to and their join, which has too many, does not."""
    kept = {target[0] for target in joined.targets}
    return [target[0] for value in (a, b) for target in value.targets if target[0] not in kept]


def _join_null(a: AbstractValue, b: AbstractValue) -> int:
    kinds = {a.nullness, b.nullness}
    if MAYBE_NULL in kinds or NULL in kinds:
        return MAYBE_NULL
    return AS_REGION if kinds == {NOT_NULL, AS_REGION} else ANY_NULL


def join_targets(a: tuple[Target, ...], b: tuple[Target, ...]) -> tuple[Target, ...]:
    """Return the targets of either, each region once, in order of region."""
    found = {t[0]: t for t in a}
    for target in b:
        old = found.get(target[0])
        if old is None:
            found[target[0]] = target
        elif old != target:
            found[target[0]] = (
                target[0],
                min(old[1], target[1]),
                max(old[2], target[2]),
                old[3] & target[3],
                old[4] if old[4] == target[4] else None,
            )
    return tuple(sorted(found.values(), key=operator.itemgetter(0)))


_BIG: Final = float(2**64)


def widen(old: AbstractValue, new: AbstractValue, type_: Type | None) -> AbstractValue:
    """Return `old` widened to what it may become after any number of rounds that lead to `new`."""
    joined = join(old, new)
    if same(old, joined):
        return old
    low, high = limits(type_) if type_ is not None else (-(2**63), 2**64 - 1)
    lo, hi, flags = joined.low, joined.high, joined.flags
    if not joined.targets:
        up, down = hi > old.high, lo < old.low
        step = (
            old.flags & TIGHT
            and new.flags & TIGHT
            and up != down
            and new.high - old.high <= 1
            and old.low - new.low <= 1
        )
        way = COUNT | DOWN if down else COUNT
        counting = step or (
            old.flags & COUNT
            and not (up and down)
            and (not (up or down) or old.flags & DOWN == way & DOWN)
        )
        kept = way if up or down else old.flags & (COUNT | DOWN)
        flags = (flags & ~(TIGHT | COUNT | DOWN)) | (kept if counting else 0)
        lo, hi = (low if down else lo), (high if up else hi)
    ptr = tuple(_widen_target(t, old.targets) for t in joined.targets)
    found = AbstractValue(lo, hi, flags, joined.taint, ptr, joined.nullness, joined.init)
    found.cells = joined.cells
    return found


def _widen_target(target: Target, old: tuple[Target, ...]) -> Target:
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


def interval_arithmetic(
    op: str, a: AbstractValue, b: AbstractValue
) -> tuple[Number, Number] | None:
    """Least and greatest exact result of an operator; None when the operator tells nothing."""
    if op == "+":
        return a.low + b.low, a.high + b.high
    if op == "-":
        return a.low - b.high, a.high - b.low
    if op == "*":
        products = (a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high)
        if a is b or (a.symbol is not None and a.symbol == b.symbol):
            squares = (a.low * a.low, a.high * a.high)
            return (0 if a.low <= 0 <= a.high else min(squares)), max(squares)
        return min(products), max(products)
    if op == "/":
        return _quotients(a, b)
    if op == "%":
        return _remainders(a, b)
    if op == "&":
        if b.low >= 0 or a.low >= 0:
            if a.low == a.high and b.low == b.high:
                return (int(a.low) & int(b.low),) * 2
            return 0, min(v.high for v in (a, b) if v.low >= 0)
        return None
    if op in ("|", "^"):
        if a.low == a.high and b.low == b.high:
            value = int(a.low) | int(b.low) if op == "|" else int(a.low) ^ int(b.low)
            return value, value
        if a.low >= 0 and b.low >= 0:
            bits = max(int(a.high), int(b.high)).bit_length()
            return 0, (1 << bits) - 1
        return None
    if op == "<<" and b.low >= 0 and b.high < 64:
        low, high = int(b.low), int(b.high)
        ends = (int(a.low) << low, int(a.low) << high, int(a.high) << low, int(a.high) << high)
        return min(ends), max(ends)
    if op == ">>" and b.low >= 0 and b.high < 128:
        shifted = [int(x) >> int(y) for x in (a.low, a.high) for y in (b.low, b.high)]
        return min(shifted), max(shifted)
    return None


def _quotients(a: AbstractValue, b: AbstractValue) -> tuple[Number, Number] | None:
    divisors = [d for d in (b.low, b.high, 1, -1) if d and b.low <= d <= b.high]
    if not divisors:
        return None
    ends = [_truncating_quotient(x, d) for x in (a.low, a.high) for d in divisors]
    if a.low <= 0 <= a.high:
        ends.append(0)
    return min(ends), max(ends)


def _truncating_quotient(x: Number, d: Number) -> Number:
    if isinstance(x, float) or isinstance(d, float):
        return x / d
    quotient = abs(x) // abs(d)
    return quotient if (x < 0) == (d < 0) else -quotient


def _remainders(a: AbstractValue, b: AbstractValue) -> tuple[Number, Number] | None:
    most = max(abs(b.low), abs(b.high)) - 1
    if most < 0:
        return None
    if a.low == a.high and b.low == b.high and b.low:
        value = a.low - b.low * _truncating_quotient(a.low, b.low)
        return value, value
    high = min(most, a.high) if a.high > 0 else 0
    return (max(-most, a.low) if a.low < 0 else 0), high


def compare(op: str, a: AbstractValue, b: AbstractValue) -> bool | None:
    """Return whether a comparison of numbers holds, or None when it may or may not."""
    if op == "<":
        return True if a.high < b.low else False if a.low >= b.high else None
    if op == ">":
        return True if a.low > b.high else False if a.high <= b.low else None
    if op == "<=":
        return True if a.high <= b.low else False if a.low > b.high else None
    if op == ">=":
        return True if a.low >= b.high else False if a.high < b.low else None
    equal = (
        True
        if a.low == a.high == b.low == b.high
        else False
        if a.high < b.low or b.high < a.low
        else None
    )
    return equal if op == "==" or equal is None else not equal
