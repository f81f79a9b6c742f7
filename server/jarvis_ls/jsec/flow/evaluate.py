"""Values of expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from jarvis_ls.jsec.flow import ir
from jarvis_ls.jsec.flow.checks import access, arithmetic
from jarvis_ls.jsec.flow.conversions import converted, is_written_out, nullness
from jarvis_ls.jsec.flow.ir import Expr, Number, Type
from jarvis_ls.jsec.flow.memory import default, escape, load, store, write
from jarvis_ls.jsec.flow.state import State
from jarvis_ls.jsec.flow.types import LONG, ULONG, UNIT, limits
from jarvis_ls.jsec.flow.values import (
    ANY_NULL,
    ARITH,
    BITS,
    COUNT,
    DOWN,
    INIT,
    NOT_NULL,
    NULL,
    NULL_POINTER,
    ONE,
    OTHER,
    TIGHT,
    UNINIT,
    UNSURE,
    ZERO,
    Target,
    Val,
    compare,
    corners,
    is_number,
    number,
    unknown,
)  # fmt: skip

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis

_POINTERS: Final = frozenset({"p", "&"})
_ELEMENTS: Final = frozenset({ir.INDEX, ir.LOAD, ir.STEP})
_EITHER: Final = Val(0, 1, 0)
_NIL: Final = (0, 0)
_CARRIED: Final = frozenset({"over", "sizeof", "negative"})


def evaluate(an: Analysis, st: State, e: Expr) -> Val:
    """The value of an expression; stores in it change `st`. (What is called most, in this file and
    in the interpreter, looks into `OPS` itself: a call less for each part of an expression.)"""
    return OPS[e[0]](an, st, e)


def fetch(an: Analysis, st: State, e: Expr) -> Val:
    """The value of an expression that is only handed on: that it was never given is not told."""
    if e[0] != ir.LOAD:
        return evaluate(an, st, e)
    address, type_ = e[1], e[2]
    if address[0] == ir.LOCAL and type_[0] not in ("r", "a"):
        rid = an.frame.base + address[1]
        cells = st.mem.get(rid)
        found = cells.get(0) if cells is not None else None
        return found if found is not None else default(an, st, rid, 0, type_)
    where = OPS[address[0]](an, st, address)
    if where.ptr == () and where.null == ANY_NULL and not where.ini:
        return unknown(type_)
    return load(an, st, where, type_, e[3], address, told=False)


def _const(an: Analysis, st: State, e: Expr) -> Val:
    value = e[1]
    if isinstance(value, float):  # 24.0 is not 24: it divides otherwise
        return number(value)
    found = an.numbers.get(value)
    if found is None:
        found = an.numbers[value] = number(value)
    return found


def _str(an: Analysis, st: State, e: Expr) -> Val:
    return an.literal(e[1], e[2])


def _local(an: Analysis, st: State, e: Expr) -> Val:
    return an.frame.pointers[e[1]]


def _global(an: Analysis, st: State, e: Expr) -> Val:
    return an.global_pointer(st, e[1])


def _func(an: Analysis, st: State, e: Expr) -> Val:
    return an.function_pointer(e[1])


def _load(an: Analysis, st: State, e: Expr) -> Val:
    address, type_ = e[1], e[2]
    if address[0] == ir.LOCAL:
        rid = an.frame.base + address[1]
        if type_[0] not in ("r", "a"):
            cells = st.mem.get(rid)
            found = cells.get(0) if cells is not None else None
            if found is None:
                found = default(an, st, rid, 0, type_)
            if found.ini:
                return access.uninitialised(an, st, found, rid, e[3], type_)
            return found
    where = OPS[address[0]](an, st, address)
    if where.ptr == () and where.null == ANY_NULL and not where.ini:
        return unknown(type_)
    return load(an, st, where, type_, e[3], address)


def _store(an: Analysis, st: State, e: Expr) -> Val:
    address, type_ = e[1], e[3]
    before = an.storing
    an.storing = _array_of(an, st, address)
    an.filling = address[0] in _ELEMENTS
    value = fetch(an, st, e[2])
    an.storing, an.filling = before, False
    if address[0] == ir.LOCAL and type_[0] not in ("r", "a", "c"):
        rid = an.frame.base + address[1]
        st.mem[rid] = {0: value}
        return value
    where = OPS[address[0]](an, st, address)
    if _is_worked_out(e[2]):  # a text whose characters are worked out is not what came in
        an.opened.update(target[0] for target in where.ptr)
    store(an, st, where, value, type_, e[4], address, e[2])
    return value


def _is_worked_out(value: Expr) -> bool:
    while value[0] == ir.CAST:
        value = value[1]
    return value[0] == ir.BIN and not is_written_out(value)


def _array_of(an: Analysis, st: State, address: Expr) -> int:
    """Region of the local array that an address expression leads into; -1 for other places."""
    while address[0] in (ir.FIELD, ir.INDEX, ir.DECAY):
        address = address[1]
    if address[0] == ir.TEMP:  # of `a[i] += n`
        cells = an.frame.temps + address[1]
        held = st.mem.get(cells, {}).get(0)
        return held.ptr[0][0] if held is not None and len(held.ptr) == 1 else -1
    return an.frame.base + address[1] if address[0] == ir.LOCAL else -1


def _field(an: Analysis, st: State, e: Expr) -> Val:
    base: Val = OPS[e[1][0]](an, st, e[1])
    offset, type_ = e[2], e[3]
    if not base.ptr:
        return base
    if type(offset) is tuple:
        offset = an.offset(*offset)
    if type_[0] != "a" and len(base.ptr) == 1:  # the usual case
        ((rid, lo, hi, flags, _),) = base.ptr
        moved = ((rid, lo + offset, hi + offset, flags, None),)
        return Val(0, 0, base.flags, base.taint, moved, base.null, base.ini)
    length = an.size(type_) if type_[0] == "a" else 0
    targets = []
    for rid, lo, hi, flags, _ in base.ptr:
        sub = (int(lo) + offset, int(lo) + offset + length) if length and lo == hi else None
        targets.append((rid, lo + offset, hi + offset, flags, sub))
    return Val(0, 0, base.flags, base.taint, tuple(targets), base.null, base.ini)


def _index(an: Analysis, st: State, e: Expr) -> Val:
    base = OPS[e[1][0]](an, st, e[1])
    index = OPS[e[2][0]](an, st, e[2])
    size = e[3]
    return shifted(an, st, base, index, size if type(size) is int else an.size(size))


def shifted(an: Analysis, st: State, base: Val, index: Val, size: int) -> Val:
    """A pointer moved by a number of elements."""
    if not base.ptr:
        if base.null != NULL or base.flags & OTHER or index.lo == index.hi == 0:
            return base
        return Val(base.lo + index.lo * size, base.hi + index.hi * size, base.flags & index.flags,
                   base.taint, (), NULL, base.ini, base.sym)  # fmt: skip
    if size == 0:  # where it leads to is not known any more: who has it may release what is there
        escape(st, base)
        return Val(0, 0, base.flags | OTHER, None, (), ANY_NULL)
    flags = index.flags & TIGHT
    taint = index.taint if index.taint is not None and is_number(index.taint) else None
    targets = []
    for rid, lo, hi, old, sub in base.ptr:
        both = old & flags
        targets.append((rid, lo + index.lo * size, hi + index.hi * size, both, sub))
    return Val(0, 0, base.flags | (index.flags & UNSURE), taint or base.taint, tuple(targets),
               base.null, base.ini, index.sym)  # fmt: skip


_WRITTEN: Final = frozenset({ir.CONST, ir.BIN})
"""What a constant expression is made of: `CHAR_MAX + 1` is a number, not arithmetic."""


def _bin(an: Analysis, st: State, e: Expr) -> Val:
    a = OPS[e[2][0]](an, st, e[2])
    b = a if e[2] == e[3] and e[2][0] == ir.LOAD else OPS[e[3][0]](an, st, e[3])
    return binary(an, st, e[1], a, b, e[4], e[5], e)


def binary(
    an: Analysis, st: State, op: str, a: Val, b: Val, type_: Type, span: Any, e: Expr | None
) -> Val:
    """Arithmetic in a type; overflow and division by zero are checked."""
    if a.ptr or b.ptr:
        escape(st, a)
        escape(st, b)
        return Val(*limits(type_), OTHER)
    if _is_address(a) or _is_address(b):
        return Val(*limits(type_), OTHER, a.taint or b.taint)
    if an.counted and op not in ("*", "+") and _in_records(a) != _in_records(b):
        return unknown(type_)  # by how many bytes is not known
    if op in ("/", "%"):
        arithmetic.division(an, st, a, b, type_, span)
        if b.lo == b.hi == 0:
            return unknown(type_)
    elif op in ("<<", ">>") and type_[0] == "i":
        arithmetic.shift(an, st, b, type_, span)
    lo, hi = limits(type_)
    taint = a.taint or b.taint
    ends = corners(op, a, b) if type_[0] in ("i", "f") else None
    if ends is None:
        return Val(lo, hi, ARITH | OTHER, taint)
    flags = (a.flags & b.flags & TIGHT) | ((a.flags | b.flags) & UNSURE)
    written = e is not None and e[2][0] in _WRITTEN and e[3][0] in _WRITTEN
    if not written or (a.flags | b.flags) & ARITH:
        flags |= ARITH
    if op in "+-" and (a.flags | b.flags) & COUNT and (b.lo == b.hi or a.lo == a.hi):
        flags |= COUNT | ((a.flags | b.flags) & DOWN)
        if op == "-" and b.flags & COUNT:
            flags ^= DOWN
    if op in ("&", "|", "^", "<<", ">>") or (op == "+" and (a.flags | b.flags) & BITS):
        flags |= BITS
    if op in ("&", "|", "^", "%", ">>", "/") and not (a.lo == a.hi and b.lo == b.hi):
        flags &= ~TIGHT
    if op in ("|", "^") and not written:  # bits put together: that some are cut off is meant
        flags &= ~TIGHT
    low, high = ends
    if low < lo or high > hi:
        arithmetic.overflow(an, st, op, a, b, low, high, type_, span)
        if low == high and type_[0] == "i":
            wrapped = arithmetic.wrapped(int(low), type_)
            null = NULL if wrapped == 0 else NOT_NULL
            again = ("over", span) if op in ("*", "+") and span != _NIL else None
            return Val(wrapped, wrapped, flags, taint, (), null, INIT, again)
        over: Any = ("over", span) if taint is not None and op in ("*", "+", "<<") else None
        if over is None and a.sym is not None and a.sym[0] == "negative":
            over = a.sym
        return Val(lo, hi, ARITH | OTHER, taint, (), ANY_NULL, INIT, over)
    null = NOT_NULL if low > 0 or high < 0 else NULL if low == high else ANY_NULL
    sym = a.sym if a.sym is not None and a.sym[0] in _CARRIED else \
        b.sym if b.sym is not None and b.sym[0] in _CARRIED else None  # fmt: skip
    if sym is None and a.sym is not None and a.sym[0] == "len" and b.lo == b.hi:
        if op == "+" and b.lo > 0:
            sym = ("longer", *a.sym[1:])  # than a text: its length and as much more
        elif op == "*" and b.lo == 1:
            sym = a.sym
    return Val(low, high, flags, taint, (), null, INIT, sym)


def _in_records(value: Val) -> bool:
    """Whether a number is that of the bytes of records that nothing defines."""
    return value.lo == value.hi and value.lo >= UNIT and value.lo % UNIT == 0


def _cmp(an: Analysis, st: State, e: Expr) -> Val:
    a = OPS[e[2][0]](an, st, e[2])
    b = OPS[e[3][0]](an, st, e[3])
    found = decided(an, st, e[1], a, b)
    return _EITHER if found is None else ONE if found else ZERO


def decided(an: Analysis, st: State, op: str, a: Val, b: Val) -> bool | None:
    """Whether a comparison holds, or None when it may or may not."""
    if a.ini or b.ini:
        return None
    if a.ptr or b.ptr or a.null == NULL or b.null == NULL:
        return _decided_places(an, st, op, a, b)
    if _is_address(a) or _is_address(b):
        return None
    if op in ("==", "!=") and NOT_NULL in (a.null, b.null) and _NIL in (_ends(a), _ends(b)):
        return op == "!="
    found = compare(op, a, b)
    if found is None and a.sym is not None and a.sym[0] == "differs" and b.lo == b.hi == a.sym[1]:
        return {"==": False, "!=": True}.get(op)
    return found


def _is_address(value: Val) -> bool:
    """Whether a value that is known not to lead anywhere is an address, not a number."""
    return bool(value.flags & OTHER) and value.lo == 0 == value.hi


def _ends(value: Val) -> tuple[Number, Number]:
    return value.lo, value.hi


def _decided_places(an: Analysis, st: State, op: str, a: Val, b: Val) -> bool | None:
    if not a.ptr and not b.ptr and not (a.flags | b.flags) & OTHER:
        return compare(op, a, b)
    one, two = nullness(st, a), nullness(st, b)
    if op in ("==", "!="):
        equal: bool | None = None
        if one == NULL and two == NULL:
            equal = True
        elif {one, two} == {NULL, NOT_NULL}:
            equal = False
        elif a.ptr and b.ptr and one == NOT_NULL == two and not (a.flags | b.flags) & OTHER:
            if a.ptr == b.ptr and len(a.ptr) == 1 and a.ptr[0][1] == a.ptr[0][2]:
                equal = True
            elif _are_apart(a.ptr, b.ptr):
                equal = False
            elif not {t[0] for t in a.ptr} & {t[0] for t in b.ptr}:
                kinds = {an.kind(t[0]) for t in (*a.ptr, *b.ptr)}
                equal = None if "object" in kinds else False
        return equal if op == "==" or equal is None else not equal
    if len(a.ptr) == 1 == len(b.ptr) and a.ptr[0][0] == b.ptr[0][0]:
        left = Val(a.ptr[0][1], a.ptr[0][2])
        return compare(op, left, Val(b.ptr[0][1], b.ptr[0][2]))
    return None


def _are_apart(one: tuple[Target, ...], two: tuple[Target, ...]) -> bool:
    """Whether two pointers lead to places of one region that are not the same."""
    if len(one) != 1 or len(two) != 1 or one[0][0] != two[0][0]:
        return False
    return one[0][2] < two[0][1] or two[0][2] < one[0][1]


def _not(an: Analysis, st: State, e: Expr) -> Val:
    value = OPS[e[1][0]](an, st, e[1])
    null = nullness(st, value)
    return ONE if null == NULL else ZERO if null == NOT_NULL else _EITHER


def _neg(an: Analysis, st: State, e: Expr) -> Val:
    value = OPS[e[1][0]](an, st, e[1])
    lo, hi = limits(e[2])
    low, high = -value.hi, -value.lo
    if low < lo or high > hi:
        return Val(lo, hi, ARITH | OTHER, value.taint)
    kept = value.flags & (TIGHT | COUNT | UNSURE | DOWN)
    return Val(low, high, (kept ^ DOWN if kept & COUNT else kept) | ARITH, value.taint)


def _compl(an: Analysis, st: State, e: Expr) -> Val:
    value = OPS[e[1][0]](an, st, e[1])
    if value.lo == value.hi and isinstance(value.lo, int) and e[2][0] == "i":
        return number(arithmetic.wrapped(~value.lo, e[2]))
    return unknown(e[2])


def _cast(an: Analysis, st: State, e: Expr) -> Val:
    inner = e[1]
    byte = inner[0] == ir.CONST and -128 <= inner[1] < 0 and e[3][:2] == ("i", 1)  # `'\xfe'`
    if byte or (e[4] and is_written_out(inner)):
        an.silent += 1
        value = converted(an, st, OPS[inner[0]](an, st, inner), e[2], e[3], e[5], explicit=True)
        an.silent -= 1
        return value
    return converted(an, st, OPS[inner[0]](an, st, inner), e[2], e[3], e[5], explicit=e[4])


def _step(an: Analysis, st: State, e: Expr) -> Val:
    address, type_, delta, postfix, span = e[1], e[2], e[3], e[4], e[5]
    old = _load(an, st, (ir.LOAD, address, type_, span))
    if old.ptr or type_[0] == "p":
        if type(delta) is tuple:
            delta = delta[1] * an.size(delta[0])
        targets = tuple((t[0], t[1] + delta, t[2] + delta, t[3], t[4]) for t in old.ptr)
        new = Val(0, 0, old.flags, old.taint, targets, old.null, old.ini)
        if old.ini or not delta:
            escape(st, old)
            new = unknown(type_)
    else:
        new = _counted(an, st, old, delta, type_, span)
    where = OPS[address[0]](an, st, address)
    single = len(where.ptr) == 1
    for target in where.ptr:
        write(an, st, target, new, an.size(type_), strong=single)
    return old if postfix else new


def _counted(an: Analysis, st: State, old: Val, delta: int, type_: Type, span: Any) -> Val:
    lo, hi = limits(type_)
    low, high = old.lo + delta, old.hi + delta
    flags = old.flags & (TIGHT | COUNT | UNSURE | DOWN)
    if low < lo or high > hi:
        step = number(abs(delta))
        arithmetic.overflow(an, st, "+" if delta > 0 else "-", old, step, low, high, type_, span)
        if old.lo == old.hi:
            return number(arithmetic.wrapped(int(low), type_)) if type_[0] == "i" else old
        if flags & COUNT:  # the loop ends before; what is beyond the type is cut off
            return Val(max(low, lo), min(high, hi), flags, old.taint)
        return Val(lo, hi, OTHER, old.taint)
    null = NOT_NULL if low > 0 or high < 0 else ANY_NULL
    return Val(low, high, flags, old.taint, (), null)


def _temp(an: Analysis, st: State, e: Expr) -> Val:
    cells = st.mem.get(an.frame.temps + e[1])
    if cells is None:
        return unknown(LONG)
    found: Val = cells[0]
    return found


def _sizeof(an: Analysis, st: State, e: Expr) -> Val:
    if e[2] is not None:
        return Val(e[1], e[1], TIGHT, None, (), NOT_NULL, INIT, ("sizeof", e[3], e[2]))
    if type(e[1]) is int:
        return _const(an, st, e)
    size = an.size(e[1])
    return number(size) if size else unknown(ULONG)


def _unknown(an: Analysis, st: State, e: Expr) -> Val:
    return unknown(e[1])


def _ptrdiff(an: Analysis, st: State, e: Expr) -> Val:
    a = OPS[e[1][0]](an, st, e[1])
    b = OPS[e[2][0]](an, st, e[2])
    if len(a.ptr) == 1 == len(b.ptr) and a.ptr[0][0] == b.ptr[0][0]:
        one, two = a.ptr[0], b.ptr[0]
        size = e[3] if type(e[3]) is int else an.size(e[3])
        if size:
            return Val((one[1] - two[2]) // size, (one[2] - two[1]) // size, one[3] & two[3])
    if not a.ptr and not b.ptr and a.null == NULL == b.null and type(e[3]) is int and e[3] > 0:
        return Val((a.lo - b.hi) // e[3], (a.hi - b.lo) // e[3])  # nothing, moved
    return unknown(LONG)


def _null(an: Analysis, st: State, e: Expr) -> Val:
    return NULL_POINTER


def _decay(an: Analysis, st: State, e: Expr) -> Val:
    return evaluate(an, st, e[1])


def _bitand(an: Analysis, st: State, e: Expr) -> Val:
    a = OPS[e[1][0]](an, st, e[1])
    b = OPS[e[2][0]](an, st, e[2])
    one, two = nullness(st, a), nullness(st, b)
    if NULL in (one, two):
        return ZERO
    return _EITHER


def _else(an: Analysis, st: State, e: Expr) -> Val:
    value = evaluate(an, st, e[1])
    if value.ptr or value.ini or value.lo > 0 or value.hi < 0:
        return value
    lo, hi = (1 if value.lo == 0 else value.lo), (-1 if value.hi == 0 else value.hi)
    if lo > hi:
        return number(e[2])
    return Val(min(lo, e[2]), max(hi, e[2]), value.flags, value.taint, (), NOT_NULL, 0)


OPS: Final[list[Callable[[Any, State, Expr], Val]]] = [
    _const, _str, _local, _global, _func, _load, _store, _field, _index, _bin, _cmp, _not, _neg,
    _compl, _cast, _step, _temp, _sizeof, _unknown, _ptrdiff, _null, _decay, _bitand,
    _else,
]  # fmt: skip

__all__ = ["OPS", "UNINIT", "converted", "decided", "default", "evaluate", "load", "nullness",
           "store", "write"]  # fmt: skip
