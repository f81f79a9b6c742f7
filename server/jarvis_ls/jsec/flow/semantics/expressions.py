"""Values of expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from jarvis_ls.jsec.flow.checks import access, arithmetic
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState, escape
from jarvis_ls.jsec.flow.domain.abstract_value import (
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
    UNSURE,
    ZERO,
    AbstractValue,
    Target,
    chooses_place,
    compare,
    interval_arithmetic,
    is_bytes,
    is_decoded,
    number,
    number_of,
    unknown,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.byte_order import JOINING, puts_bytes_together
from jarvis_ls.jsec.flow.ir.c_types import LONG, ULONG, UNIT, is_byte, limits
from jarvis_ls.jsec.flow.ir.nodes import Expr, Number, Size
from jarvis_ls.jsec.flow.ir.types import Array, Container, Float, Integer, Pointer, Record, Type
from jarvis_ls.jsec.flow.semantics.conversions import convert, is_written_out, nullness
from jarvis_ls.jsec.flow.semantics.memory import default, load, store, write

_EITHER: Final = AbstractValue(0, 1, 0)
_NIL: Final = (0, 0)
_CARRIED: Final = frozenset({"over", "under", "sizeof", "negative"})


def evaluate(engine: Engine, state: AbstractState, e: Expr) -> AbstractValue:
    """Return the value of an expression; stores in it change the state. What is asked for most
    comes first."""
    if isinstance(e, nodes.Load):
        return _load(engine, state, e)
    if isinstance(e, nodes.Const):
        return _const(engine, e.value)
    if isinstance(e, nodes.Local):
        return engine.frame.pointers[e.slot]
    if isinstance(e, nodes.Field):
        return _field(engine, state, e)
    if isinstance(e, nodes.Store):
        return _store(engine, state, e)
    if isinstance(e, nodes.Binary):
        return _binary(engine, state, e)
    if isinstance(e, nodes.Temp):
        return _temp(engine, state, e)
    if isinstance(e, nodes.Global):
        return _global(engine, state, e)
    if isinstance(e, nodes.Cast):
        return _cast(engine, state, e)
    if isinstance(e, nodes.Index):
        return _index(engine, state, e)
    if isinstance(e, nodes.Step):
        return _step(engine, state, e)
    if isinstance(e, nodes.Decay):
        return evaluate(engine, state, e.base)
    return _OTHERS[type(e)](engine, state, e)


def fetch(engine: Engine, state: AbstractState, e: Expr) -> AbstractValue:
    """Return the value of an expression that is only passed on: that it was never given is not
    told.
    """
    if not isinstance(e, nodes.Load):
        return evaluate(engine, state, e)
    address, type_ = e.address, e.type
    if isinstance(address, nodes.Local) and not isinstance(type_, (Record, Array)):
        rid = engine.frame.base + address.slot
        cells = state.memory.get(rid)
        found = cells.get(0) if cells is not None else None
        return found if found is not None else default(engine, state, rid, 0, type_)
    where = evaluate(engine, state, address)
    if where.targets == () and where.nullness == ANY_NULL and not where.init:
        return unknown(type_)
    found = load(engine, state, where, type_, e.span, address, told=False)
    return _as_record(engine, address, type_, found)


def _const(engine: Engine, value: Number) -> AbstractValue:
    if isinstance(value, float):  # 24.0 is not 24: it divides otherwise
        return number(value)
    found = engine.numbers.get(value)
    if found is None:
        found = engine.numbers[value] = number(value)
    return found


def _string(engine: Engine, state: AbstractState, e: nodes.StringLiteral) -> AbstractValue:
    return engine.literal(e.text, e.unit)


def _global(engine: Engine, state: AbstractState, e: nodes.Global) -> AbstractValue:
    return engine.global_pointer(state, e.name)


def _function(engine: Engine, state: AbstractState, e: nodes.Function) -> AbstractValue:
    return engine.function_pointer(e.name)


def _load(engine: Engine, state: AbstractState, e: nodes.Load) -> AbstractValue:
    address, type_ = e.address, e.type
    if isinstance(address, nodes.Local):
        rid = engine.frame.base + address.slot
        if not isinstance(type_, (Record, Array)):
            cells = state.memory.get(rid)
            found = cells.get(0) if cells is not None else None
            if found is None:
                found = default(engine, state, rid, 0, type_)
            if found.init:
                return access.check_initialised(engine, state, found, rid, e.span, type_)
            return found
    where = evaluate(engine, state, address)
    if where.targets == () and where.nullness == ANY_NULL and not where.init:
        return unknown(type_)
    found = load(engine, state, where, type_, e.span, address)
    return _as_record(engine, address, type_, found)


def _as_record(engine: Engine, address: Expr, type_: Type, found: AbstractValue) -> AbstractValue:
    """Return what is at an address; a member of which nothing is known as a number from outside,
    where bytes are seen as its record."""
    if (
        not isinstance(address, nodes.Field)
        or not isinstance(type_, Integer)
        or found.taint is not None
    ):
        return found
    base = address.base
    if (
        not isinstance(base, nodes.Load)
        or not isinstance(base.type, Pointer)
        or not isinstance(base.type.inner, Record)
    ):
        return found
    low, high = limits(type_)
    if found.symbol is not None or found.low > low or found.high < high or found.init != INIT:
        return found
    name = engine.decoded_by_view(base.type.inner.name, address.offset)
    if not name:
        return found
    function = engine.frame.function
    source = (function.file, function.name_span, f"number?:{name}")
    return AbstractValue(low, high, OTHER, source)


def _store(engine: Engine, state: AbstractState, e: nodes.Store) -> AbstractValue:
    address, type_ = e.address, e.type
    before = engine.storing
    engine.storing = _array_of(engine, state, address)
    engine.filling = isinstance(address, (nodes.Index, nodes.Load, nodes.Step))
    value = fetch(engine, state, e.value)
    engine.storing, engine.filling = before, False
    if isinstance(address, nodes.Local) and not isinstance(type_, (Record, Array, Container)):
        rid = engine.frame.base + address.slot
        state.memory[rid] = {0: value}
        return value
    where = evaluate(engine, state, address)
    if _is_worked_out(e.value):  # a text whose characters are worked out is not what came in
        engine.opened.update(target[0] for target in where.targets)
    store(engine, state, where, value, type_, e.span, address, e.value)
    return value


def _is_worked_out(value: Expr) -> bool:
    while isinstance(value, nodes.Cast):
        value = value.value
    return isinstance(value, nodes.Binary) and not is_written_out(value)


def _array_of(engine: Engine, state: AbstractState, address: Expr) -> int:
    """Region of the local array that an address expression leads into; -1 for other places."""
    while isinstance(address, (nodes.Field, nodes.Index, nodes.Decay)):
        address = address.base
    if isinstance(address, nodes.Temp):  # of `a[i] += n`
        cells = engine.frame.temps + address.number
        held = state.memory.get(cells, {}).get(0)
        return held.targets[0][0] if held is not None and len(held.targets) == 1 else -1
    return engine.frame.base + address.slot if isinstance(address, nodes.Local) else -1


def _field(engine: Engine, state: AbstractState, e: nodes.Field) -> AbstractValue:
    base: AbstractValue = evaluate(engine, state, e.base)
    type_ = e.type
    if not base.targets:
        return base
    offset = e.offset if isinstance(e.offset, int) else engine.offset(*e.offset)
    if not isinstance(type_, Array) and len(base.targets) == 1:  # the usual case
        ((rid, lo, hi, flags, array),) = base.targets
        if base.taint is None:  # else input chose the element: it must be one of the array
            array = None
        moved = ((rid, lo + offset, hi + offset, flags, array),)
        return AbstractValue(0, 0, base.flags, base.taint, moved, base.nullness, base.init)
    length = engine.size(type_) if isinstance(type_, Array) else 0
    targets = []
    for rid, lo, hi, flags, _ in base.targets:
        sub = (int(lo) + offset, int(lo) + offset + length) if length and lo == hi else None
        targets.append((rid, lo + offset, hi + offset, flags, sub))
    return AbstractValue(0, 0, base.flags, base.taint, tuple(targets), base.nullness, base.init)


def _index(engine: Engine, state: AbstractState, e: nodes.Index) -> AbstractValue:
    base = evaluate(engine, state, e.base)
    index = evaluate(engine, state, e.index)
    return add_offset(engine, state, base, index, _bytes(engine, e.size))


def _bytes(engine: Engine, size: Size) -> int:
    """Return how many bytes a size is."""
    return size if isinstance(size, int) else engine.size(size)


def add_offset(
    engine: Engine, state: AbstractState, base: AbstractValue, index: AbstractValue, size: int
) -> AbstractValue:
    """Return a pointer moved by a number of elements."""
    if not base.targets:
        if base.nullness != NULL or base.flags & OTHER or index.low == index.high == 0:
            return base
        return AbstractValue(
            base.low + index.low * size,
            base.high + index.high * size,
            base.flags & index.flags,
            base.taint,
            (),
            NULL,
            base.init,
            base.symbol,
        )
    if size == 0:  # where it leads to is not known any more: who has it may release what is there
        escape(state, base)
        return AbstractValue(0, 0, base.flags | OTHER, None, (), ANY_NULL)
    flags = index.flags & TIGHT
    taint = chooses_place(index) if index.taint is not None else None
    targets = []
    for rid, lo, hi, old, sub in base.targets:
        both = old & flags
        targets.append((rid, lo + index.low * size, hi + index.high * size, both, sub))
    return AbstractValue(
        0,
        0,
        base.flags | (index.flags & UNSURE),
        taint or base.taint,
        tuple(targets),
        base.nullness,
        base.init,
        index.symbol,
    )


_ASSEMBLING: Final = frozenset({"<<", "|", "+", "*"})
_BYTE_WEIGHTS: Final = frozenset({2**8, 2**16, 2**24})


def _is_assembled(op: str, a: AbstractValue, b: AbstractValue) -> bool:
    """Return whether bytes that came in are put together to a number: one is moved to its place, or
    two parts are joined."""
    if op in ("<<", "*"):
        if a.taint is None or b.low != b.high or not (is_bytes(a.taint) and not a.flags & ARITH):
            return False
        return 8 <= b.low <= 56 and b.low % 8 == 0 if op == "<<" else b.low in _BYTE_WEIGHTS
    return _is_part(a) and _is_part(b) and not (is_bytes(a.taint) and is_bytes(b.taint))


def _is_part(value: AbstractValue) -> bool:
    """Return whether a value is a byte as it came in, or was moved or put together from some."""
    if value.taint is None or value.flags & ARITH:
        return False
    return is_bytes(value.taint) != bool(value.flags & BITS)


def _is_decoded_part(value: AbstractValue) -> bool:
    """Return whether a value was decoded from bytes, most likely."""
    return value.taint is not None and is_decoded(value.taint)


def _binary(engine: Engine, state: AbstractState, e: nodes.Binary) -> AbstractValue:
    a = evaluate(engine, state, e.left)
    same = isinstance(e.left, nodes.Load) and e.left == e.right
    b = a if same else evaluate(engine, state, e.right)
    found = binary(engine, state, e.operator, a, b, e.type, e.span, e)
    if e.operator in JOINING and (a.flags | b.flags) & BITS:
        source = found.taint
        if (source is None or is_decoded(source)) and (
            puts_bytes_together(e)
            or (e.operator == "|" and _is_decoded_part(a) and _is_decoded_part(b))
        ):
            source = source or (engine.frame.function.file, e.span, "number?:")
            return AbstractValue(found.low, found.high, (found.flags | OTHER) & ~ARITH, source)
    return found


def binary(
    engine: Engine,
    state: AbstractState,
    op: str,
    a: AbstractValue,
    b: AbstractValue,
    type_: Type,
    span: Any,
    e: nodes.Binary | None,
) -> AbstractValue:
    """Return the result of arithmetic in a type; overflow and division by zero are checked."""
    if a.targets or b.targets:
        escape(state, a)
        escape(state, b)
        return AbstractValue(*limits(type_), OTHER)
    if _is_address(a) or _is_address(b):
        return AbstractValue(*limits(type_), OTHER, a.taint or b.taint)
    if engine.counted and op not in ("*", "+") and _in_records(a) != _in_records(b):
        return unknown(type_)  # by how many bytes is not known
    if op in ("/", "%"):
        arithmetic.division(engine, state, a, b, type_, span)
        if b.low == b.high == 0:
            return unknown(type_)
    elif op in ("<<", ">>") and isinstance(type_, Integer):
        arithmetic.shift(engine, state, b, type_, span)
    lo, hi = limits(type_)
    taint = a.taint or b.taint
    assembled = taint is not None and op in _ASSEMBLING and _is_assembled(op, a, b)
    if assembled:
        taint = number_of(taint if is_bytes(taint) else b.taint or taint)
    ends = interval_arithmetic(op, a, b) if isinstance(type_, (Integer, Float)) else None
    if ends is None:
        return AbstractValue(lo, hi, ARITH | OTHER, taint)
    flags = (a.flags & b.flags & TIGHT) | ((a.flags | b.flags) & UNSURE)
    written = (
        e is not None
        and isinstance(e.left, (nodes.Const, nodes.Binary))
        and isinstance(e.right, (nodes.Const, nodes.Binary))
    )
    if not assembled and (not written or (a.flags | b.flags) & ARITH):
        flags |= ARITH
    if op in "+-" and (a.flags | b.flags) & COUNT and (b.low == b.high or a.low == a.high):
        flags |= COUNT | ((a.flags | b.flags) & DOWN)
        if op == "-" and b.flags & COUNT:
            flags ^= DOWN
    if assembled or op in ("&", "|", "^", "<<", ">>") or (op == "+" and (a.flags | b.flags) & BITS):
        flags |= BITS
    if op in ("&", "|", "^", "%", ">>", "/") and not (a.low == a.high and b.low == b.high):
        flags &= ~TIGHT
    if op in ("|", "^") and not written:  # bits put together: that some are cut off is meant
        flags &= ~TIGHT
    low, high = ends
    if low < lo or high > hi:
        arithmetic.overflow(engine, state, op, a, b, (low, high), type_, span)
        if low == high and isinstance(type_, Integer):
            wrapped = arithmetic.wrap(int(low), type_)
            null = NULL if wrapped == 0 else NOT_NULL
            again = ("over", span) if op in ("*", "+") and span != _NIL else None
            return AbstractValue(wrapped, wrapped, flags, taint, (), null, INIT, again)
        over: Any = None
        if taint is not None and op in ("*", "+", "<<"):
            if not is_decoded(taint) or arithmetic.is_direct(a, b):
                over = ("over", span)
            elif a.symbol is not None and a.symbol[0] == "over":
                over = a.symbol
        if over is None and a.symbol is not None and a.symbol[0] == "negative":
            over = a.symbol
        if op == "-" and low < lo <= high and arithmetic.lacks_lower_bound(a, b, type_):
            over = ("under", span)
        kept = (BITS if assembled else ARITH) | OTHER
        return AbstractValue(lo, hi, kept, taint, (), ANY_NULL, INIT, over)
    null = NOT_NULL if low > 0 or high < 0 else NULL if low == high else ANY_NULL
    sym = (
        a.symbol
        if a.symbol is not None and a.symbol[0] in _CARRIED
        else b.symbol
        if b.symbol is not None and b.symbol[0] in _CARRIED
        else None
    )
    if sym is None and a.symbol is not None and a.symbol[0] == "len" and b.low == b.high:
        if op == "+" and b.low > 0:
            sym = ("longer", *a.symbol[1:])  # than a text: its length and as much more
        elif op == "*" and b.low == 1:
            sym = a.symbol
    return AbstractValue(low, high, flags, taint, (), null, INIT, sym)


def _in_records(value: AbstractValue) -> bool:
    """Return whether a number is that of the bytes of records that nothing defines."""
    return value.low == value.high and value.low >= UNIT and value.low % UNIT == 0


def _compare(engine: Engine, state: AbstractState, e: nodes.Compare) -> AbstractValue:
    a = evaluate(engine, state, e.left)
    b = evaluate(engine, state, e.right)
    found = decide(engine, state, e.operator, a, b)
    return _EITHER if found is None else ONE if found else ZERO


def decide(
    engine: Engine, state: AbstractState, op: str, a: AbstractValue, b: AbstractValue
) -> bool | None:
    """Return whether a comparison holds, or None when it may or may not."""
    if a.init or b.init:
        return None
    if a.targets or b.targets or a.nullness == NULL or b.nullness == NULL:
        return _decided_places(engine, state, op, a, b)
    if _is_address(a) or _is_address(b):
        return None
    if op in ("==", "!=") and NOT_NULL in (a.nullness, b.nullness) and _NIL in (_ends(a), _ends(b)):
        return op == "!="
    found = compare(op, a, b)
    if (
        found is None
        and a.symbol is not None
        and a.symbol[0] == "differs"
        and b.low == b.high == a.symbol[1]
    ):
        return {"==": False, "!=": True}.get(op)
    return found


def _is_address(value: AbstractValue) -> bool:
    """Return whether a value that is known not to lead anywhere is an address, not a number."""
    return bool(value.flags & OTHER) and value.low == 0 == value.high


def _ends(value: AbstractValue) -> tuple[Number, Number]:
    return value.low, value.high


def _is_new(
    engine: Engine, state: AbstractState, value: AbstractValue, other: AbstractValue
) -> bool:
    """Return whether a pointer leads to what was just allocated or opened and nothing else leads
    to yet, so that no pointer of which nothing is known equals it.
    """
    if len(value.targets) != 1 or value.flags & OTHER:
        return False
    rid = value.targets[0][0]
    reg = state.region_states.get(rid)
    return (
        reg is not None
        and bool(reg.family)
        and not reg.escaped
        and reg.touched is None
        and engine.kind(rid) == "heap"
        and all(target[0] != rid for target in other.targets)
    )


def _decided_places(
    engine: Engine, state: AbstractState, op: str, a: AbstractValue, b: AbstractValue
) -> bool | None:
    if not a.targets and not b.targets and not (a.flags | b.flags) & OTHER:
        return compare(op, a, b)
    a_null, b_null = nullness(state, a), nullness(state, b)
    if op in ("==", "!="):
        equal: bool | None = None
        if a_null == NULL and b_null == NULL:
            equal = True
        elif (
            {a_null, b_null} == {NULL, NOT_NULL}
            or (a_null == NOT_NULL and _is_new(engine, state, a, b))
            or (b_null == NOT_NULL and _is_new(engine, state, b, a))
        ):
            equal = False
        elif (
            a.targets
            and b.targets
            and a_null == NOT_NULL == b_null
            and not (a.flags | b.flags) & OTHER
        ):
            if (
                a.targets == b.targets
                and len(a.targets) == 1
                and a.targets[0][1] == a.targets[0][2]
            ):
                equal = True
            elif _are_apart(a.targets, b.targets):
                equal = False
            elif not {t[0] for t in a.targets} & {t[0] for t in b.targets}:
                kinds = {engine.kind(t[0]) for t in (*a.targets, *b.targets)}
                equal = None if "object" in kinds else False
        return equal if op == "==" or equal is None else not equal
    if len(a.targets) == 1 == len(b.targets) and a.targets[0][0] == b.targets[0][0]:
        left = AbstractValue(a.targets[0][1], a.targets[0][2])
        return compare(op, left, AbstractValue(b.targets[0][1], b.targets[0][2]))
    return None


def _are_apart(a: tuple[Target, ...], b: tuple[Target, ...]) -> bool:
    """Return whether two pointers lead to places of one region that are not the same."""
    if len(a) != 1 or len(b) != 1 or a[0][0] != b[0][0]:
        return False
    return a[0][2] < b[0][1] or b[0][2] < a[0][1]


def _not(engine: Engine, state: AbstractState, e: nodes.Not) -> AbstractValue:
    value = evaluate(engine, state, e.value)
    null = nullness(state, value)
    return ONE if null == NULL else ZERO if null == NOT_NULL else _EITHER


def _negate(engine: Engine, state: AbstractState, e: nodes.Negate) -> AbstractValue:
    value = evaluate(engine, state, e.value)
    lo, hi = limits(e.type)
    low, high = -value.high, -value.low
    if low < lo or high > hi:
        return AbstractValue(lo, hi, ARITH | OTHER, value.taint)
    kept = value.flags & (TIGHT | COUNT | UNSURE | DOWN)
    return AbstractValue(low, high, (kept ^ DOWN if kept & COUNT else kept) | ARITH, value.taint)


def _complement(engine: Engine, state: AbstractState, e: nodes.Complement) -> AbstractValue:
    value = evaluate(engine, state, e.value)
    if value.low == value.high and isinstance(value.low, int) and isinstance(e.type, Integer):
        return number(arithmetic.wrap(~value.low, e.type))
    return unknown(e.type)


def _cast(engine: Engine, state: AbstractState, e: nodes.Cast) -> AbstractValue:
    inner = e.value
    byte = (
        isinstance(inner, nodes.Const) and -128 <= inner.value < 0 and is_byte(e.type)
    )  # `'\xfe'`
    if byte or (e.explicit and is_written_out(inner)):
        engine.silent += 1
        value = convert(
            engine, state, evaluate(engine, state, inner), e.source, e.type, e.span, explicit=True
        )
        engine.silent -= 1
        return value
    return convert(
        engine, state, evaluate(engine, state, inner), e.source, e.type, e.span, explicit=e.explicit
    )


def _step(engine: Engine, state: AbstractState, e: nodes.Step) -> AbstractValue:
    address, type_ = e.address, e.type
    old = _load(engine, state, nodes.Load(address, type_, e.span))
    delta = distance(engine, e)
    if old.targets or isinstance(type_, Pointer):
        targets = tuple((t[0], t[1] + delta, t[2] + delta, t[3], t[4]) for t in old.targets)
        new = AbstractValue(0, 0, old.flags, old.taint, targets, old.nullness, old.init)
        if old.init or not delta:
            escape(state, old)
            new = unknown(type_)
    else:
        new = _count_step(engine, state, old, delta, type_, e.span)
    where = evaluate(engine, state, address)
    single = len(where.targets) == 1
    for target in where.targets:
        write(engine, state, target, new, engine.size(type_), strong=single)
    return old if e.postfix else new


def distance(engine: Engine, step: nodes.Step) -> int:
    """Return how many bytes a step moves a pointer, or what it adds to a number."""
    if isinstance(step.delta, int):
        return step.delta
    type_, elements = step.delta
    return elements * engine.size(type_)


def _count_step(
    engine: Engine, state: AbstractState, old: AbstractValue, delta: int, type_: Type, span: Any
) -> AbstractValue:
    lo, hi = limits(type_)
    low, high = old.low + delta, old.high + delta
    flags = old.flags & (TIGHT | COUNT | UNSURE | DOWN)
    if low < lo or high > hi:
        step = number(abs(delta))
        arithmetic.overflow(
            engine, state, "+" if delta > 0 else "-", old, step, (low, high), type_, span
        )
        if old.low == old.high:
            return number(arithmetic.wrap(int(low), type_)) if isinstance(type_, Integer) else old
        if flags & COUNT:  # the loop ends before; what is beyond the type is cut off
            return AbstractValue(max(low, lo), min(high, hi), flags, old.taint)
        return AbstractValue(lo, hi, OTHER, old.taint)
    null = NOT_NULL if low > 0 or high < 0 else ANY_NULL
    return AbstractValue(low, high, flags, old.taint, (), null)


def _temp(engine: Engine, state: AbstractState, e: nodes.Temp) -> AbstractValue:
    cells = state.memory.get(engine.frame.temps + e.number)
    if cells is None:
        return unknown(LONG)
    found: AbstractValue = cells[0]
    return found


def _sizeof(engine: Engine, state: AbstractState, e: nodes.SizeOf) -> AbstractValue:
    if isinstance(e.size, int):
        if e.place is None:
            return _const(engine, e.size)
        operand = ("sizeof", e.span, e.place)
        return AbstractValue(e.size, e.size, TIGHT, None, (), NOT_NULL, INIT, operand)
    size = engine.size(e.size)
    if size:
        return number(size)
    return AbstractValue(1, limits(ULONG)[1], OTHER, None, (), NOT_NULL)


def _unknown(engine: Engine, state: AbstractState, e: nodes.Unknown) -> AbstractValue:
    return unknown(e.type)


def _difference(engine: Engine, state: AbstractState, e: nodes.PointerDifference) -> AbstractValue:
    a = evaluate(engine, state, e.left)
    b = evaluate(engine, state, e.right)
    if len(a.targets) == 1 == len(b.targets) and a.targets[0][0] == b.targets[0][0]:
        left, right = a.targets[0], b.targets[0]
        size = _bytes(engine, e.size)
        if size:
            return AbstractValue(
                (left[1] - right[2]) // size, (left[2] - right[1]) // size, left[3] & right[3]
            )
    if (
        not a.targets
        and not b.targets
        and a.nullness == NULL == b.nullness
        and isinstance(e.size, int)
        and e.size > 0
    ):
        return AbstractValue(
            (a.low - b.high) // e.size, (a.high - b.low) // e.size
        )  # nothing, moved
    return unknown(LONG)


def _null(engine: Engine, state: AbstractState, e: nodes.Null) -> AbstractValue:
    return NULL_POINTER


def _bit_and(engine: Engine, state: AbstractState, e: nodes.BitAnd) -> AbstractValue:
    a = evaluate(engine, state, e.left)
    b = evaluate(engine, state, e.right)
    a_null, b_null = nullness(state, a), nullness(state, b)
    if NULL in (a_null, b_null):
        return ZERO
    return _EITHER


def _else(engine: Engine, state: AbstractState, e: nodes.Else) -> AbstractValue:
    value = evaluate(engine, state, e.value)
    if value.targets or value.init or value.low > 0 or value.high < 0:
        return value
    lo, hi = (1 if value.low == 0 else value.low), (-1 if value.high == 0 else value.high)
    if lo > hi:
        return number(e.fallback)
    return AbstractValue(
        min(lo, e.fallback), max(hi, e.fallback), value.flags, value.taint, (), NOT_NULL, 0
    )


_OTHERS: Final[dict[type[Expr], Callable[[Engine, AbstractState, Any], AbstractValue]]] = {
    nodes.Compare: _compare,
    nodes.Not: _not,
    nodes.Null: _null,
    nodes.SizeOf: _sizeof,
    nodes.Unknown: _unknown,
    nodes.StringLiteral: _string,
    nodes.Function: _function,
    nodes.Negate: _negate,
    nodes.Complement: _complement,
    nodes.PointerDifference: _difference,
    nodes.BitAnd: _bit_and,
    nodes.Else: _else,
}
