"""Calls and what else is more than the value of an expression."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from jarvis_ls.jsec.flow import ir, reach, rust_calls, unseen
from jarvis_ls.jsec.flow.checks import injection, ownership
from jarvis_ls.jsec.flow.evaluate import converted, evaluate, fetch, load, store
from jarvis_ls.jsec.flow.ir import FunctionIR, Instr, Span, Type
from jarvis_ls.jsec.flow.library import containers, locks, model
from jarvis_ls.jsec.flow.library.tables import PRINTERS, SECRETS, TABLE
from jarvis_ls.jsec.flow.lower_types import UNPLACED
from jarvis_ls.jsec.flow.regions import Frame
from jarvis_ls.jsec.flow.state import (
    UNINITIALISED,
    UNKNOWN_FILL,
    ZEROED,
    Place,
    Reg,
    State,
)  # fmt: skip
from jarvis_ls.jsec.flow.types import ANY, CHAR, INDEXED, INT, PTR
from jarvis_ls.jsec.flow.values import (
    ANY_NULL,
    NOT_NULL,
    NOTHING,
    NULL,
    OTHER,
    TIGHT,
    Val,
    pointer,
    unknown,
)  # fmt: skip
from jarvis_ls.jsec.flow.way import CALLED

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis

_MAX_CANDIDATES: Final = 4
_OVERRIDES: Final = 2
"""Choices that stand for one of several functions a virtual call may reach."""
_RELEASES: Final = re.compile(
    r"free|delete|destroy|release|dispose|close|clear|unref|put|drop|del", re.I
)
"""Names of functions that may be given what was released already, as far as is known."""
_MOST: Final = 32
"""Members of a class that are looked at."""
_DEPTH: Final = 2
"""Members of members that are looked at."""
_ENTRY: Final = 5
"""Instructions that entering a function counts for."""
States = "list[State] | None"


def unknown_parameters(an: Analysis, st: State, frame: Frame) -> None:
    """Parameters of a root: any number, pointers to what is not known."""
    function = frame.function
    for slot in function.params:
        name, type_ = function.slots[slot]
        rid = frame.base + slot
        if type_[0] in ("p", "&"):
            an.object_behind(st, rid, 0, type_)
            if name == "this":
                cells = st.mem[rid]
                old = cells[0]
                st.mem[rid] = {0: Val(0, 0, old.flags, None, old.ptr, NOT_NULL)}
        elif type_[0] in ("r", "c", "a"):
            reg = an.reg(st, rid)
            st.regs[rid] = reg.but(fill=UNKNOWN_FILL)
            st.mem[rid] = {}
        else:
            st.mem[rid] = {0: unknown(type_)}
    if function.name == "main" and len(function.params) >= 2:
        _arguments(an, st, frame)


def _arguments(an: Analysis, st: State, frame: Frame) -> None:
    """`argv` of `main`: strings chosen by whoever starts the program."""
    function = frame.function
    slot = function.params[1]
    source = (function.file, function.name_span, "text:argv")
    place = Place("object", "argv", ("a", ("p", CHAR), -1), 0, UNKNOWN_FILL, (0, 0), "")
    vector = an.region(("argv",), place)
    text = an.region(("argument",), Place("object", "argv", ("a", CHAR, -1), 0, UNKNOWN_FILL,
                                          (0, 0), ""))  # fmt: skip
    st.regs[text] = an.reg(st, text).but(taint=source)
    st.mem[vector] = {None: pointer(text)}
    st.mem[frame.base + slot] = {0: pointer(vector)}


def _call(an: Analysis, st: State, instr: Instr) -> Any:
    _, temp, target, args, result, span, types = instr
    values = [fetch(an, st, arg) for arg in args]
    if isinstance(target, str):
        short = target.rpartition("::")[2]
        function = (
            None if short in an.own
            else an.find_overload(target, an.frame.function.file, an.frame.space, types)
        )  # fmt: skip
        if "::" in target and short not in an.own and (short in TABLE or short in SECRETS):
            short = target  # a namesake of a library function
        if function is not None and short in TABLE and _is_unseen(an, function, short):
            function = None  # for a system without it: this file has it from the system
        if function is None:
            if an.program.stops(short, an.frame.function.file):
                return []
            if short in TABLE:
                unseen.must_have(an, st, values, types, args, span)
            else:
                types = unseen.ready(an, st, short, values, types, args, span)
            handled = model.apply(an, st, short, values, types, result, span, temp, args)
            if handled is not NotImplemented:
                return handled
            if short in SECRETS and SECRETS[short] < len(values):
                injection.secret(an, st, values[SECRETS[short]], short, span)
            gives = _RELEASES.search(short) is not None
            const = [t[0] == "p" and (len(t) > 2 or not gives) for t in types]
            ownership.given(an, st, values, const, span)
            locks.unseen(an, st, short, values, args, span)
            st.unseen += 1
            return unseen.outcome(an, st, temp, values, types, result)
        values, types = _referred(an, st, function, values, types, args)
        if shows(function):
            unseen.must_have(an, st, values, types, args, span)
            unseen.must_end(an, st, values, unseen.only_read(types), span)
        return _entered(an, st, function, values, types, temp, result, span, args)
    where = evaluate(an, st, target)
    return _through_pointer(an, st, where, values, types, temp, result, span, args)


def _referred(
    an: Analysis, st: State, function: FunctionIR, values: list[Val], types: Any, args: Any
) -> tuple[list[Val], Any]:
    """What a function takes by reference, which was not known where it is called, as a place."""
    first = len(function.params) - len(values)
    if first < 0 or first > 1:
        return values, types
    kinds = [function.slots[slot][1] for slot in function.params[first:]]
    for index, type_ in enumerate(kinds):
        if type_[0] != "&" or types[index][0] == "&":
            continue
        if args[index][0] != ir.LOAD:
            if not values[index].ptr:  # of a number an object is made, which is there
                values[index] = Val(0, 0, OTHER, None, (), NOT_NULL)
            continue
        values[index] = evaluate(an, st, args[index][1])
        types = (*types[:index], ("&", types[index]), *types[index + 1 :])
    return values, types


def _is_unseen(an: Analysis, function: FunctionIR, name: str) -> bool:
    """Whether a function of another file is not declared where it is called."""
    file = an.frame.function.file
    return function.file != file and an.program.prototype(name, file) is None


_SHOWN: Final = 14


def shows(function: FunctionIR) -> bool:
    """Whether a function does no more than print what it is given: what is wrong with that is
    the affair of its callers."""
    return function.size <= _SHOWN and bool(function.calls) and function.calls <= PRINTERS


def _through_pointer(
    an: Analysis, st: State, where: Val, values: list[Val], types: Any, temp: int, result: Type,
    span: Span, args: Any,
) -> Any:  # fmt: skip
    targets = [t for t in where.ptr if an.kind(t[0]) == "function"]
    if not targets or len(targets) > _MAX_CANDIDATES or where.flags & OTHER:
        return unseen.outcome(an, st, temp, values, types, result)
    states: list[State] = []
    for target in targets:
        place = an.places[target[0]]
        there = st if len(targets) == 1 else st.copy()
        if place is None:
            continue
        function = an.find_function(place.name, place.file, an.frame.space)
        if function is not None:
            handled = _entered(an, there, function, values, types, temp, result, span, args)
            states.extend([there] if handled is None else handled)
            continue
        handled = model.apply(an, there, place.name, values, types, result, span, temp, args)
        if handled is NotImplemented:
            unseen.outcome(an, there, temp, values, types, result)
            handled = None
        states.extend([there] if handled is None else handled)
    return states


def _entered(
    an: Analysis, st: State, function: FunctionIR, values: list[Val], types: Any, temp: int,
    result: Type, span: Span, args: Any,
) -> Any:  # fmt: skip
    """Run a function in the context of the call, unless that tells nothing new."""
    if not reach.is_passed_by(an, st, function, values, args):
        return enter(an, st, function, values, types, temp, result, span)
    an.passed_by.add((function.file, function.name))
    if not an.returns(function):
        return []
    ownership.given(an, st, values, function.const, span)
    types = tuple(
        (*type_[:2], "const") if const and type_[0] == "p" else type_
        for type_, const in zip(types, (*function.const, *[False] * len(types)), strict=False)
    )
    return unseen.outcome(an, st, temp, values, types, result)


def enter(
    an: Analysis, st: State, function: FunctionIR, values: list[Val], types: Any, temp: int,
    result: Type, span: Span,
) -> Any:  # fmt: skip
    """Run a function in the context of the call."""
    frame = an.frame
    limits = an.limits
    if (
        frame.depth >= limits.depth or function.size > limits.callee
        or sum(one is function for one in an.stack) > 1
        or an.fuel <= 0
    ):  # fmt: skip
        return unseen.outcome(an, st, temp, values, types, result) if an.returns(function) else []
    if function.record and len(values) + 1 == len(function.params):
        values, types = [unknown(PTR), *values], (PTR, *types)  # static, or called by its full name
    inner = an.enter(function, frame, span)
    an.fuel -= _ENTRY
    inner.entered = an.fuel
    _bind(an, st, inner, values, types, span)
    caller = frame.function
    trail = st.trail
    st.trail = (trail, (caller.file, span, CALLED, (("name", function.name),)))
    taken_up = an.takes_up(function)
    before = st.copy() if taken_up else st
    outcomes = an.passed(inner, st) if taken_up else None
    if outcomes is None:
        before.trail = trail
        before.drop(inner.base, inner.end)
        unseen.outcome(an, before, temp, values, types, result)
        return [before] if an.returns(function) else []
    states: list[State] = []
    if outcomes and not an.returns(function):
        return states
    for after, value in outcomes:
        if value is None:
            value = unknown(result)
        after.mem[frame.temps + temp] = {0: value}
        if function.cut:
            _may_be_given(an, after, values)
        states.append(after)
    return states


def _may_be_given(an: Analysis, st: State, values: list[Val]) -> None:
    """Part of a function was not understood: it may have given values to what it was handed."""
    st.unseen += 1
    for target in (t for value in values for t in value.ptr):
        place = an.places[target[0]]
        reg = st.regs.get(target[0]) if place is None else an.reg(st, target[0])
        if reg is not None and reg.fill == UNINITIALISED:
            st.regs[target[0]] = reg.but(fill=UNKNOWN_FILL)
        cells = st.mem.get(target[0])
        if cells and any(cell.ini for cell in cells.values()):
            st.mem[target[0]] = {at: cell for at, cell in cells.items() if not cell.ini}


def _bind(an: Analysis, st: State, inner: Frame, values: list[Val], types: Any, span: Span) -> None:
    function = inner.function
    const = (
        function.const if len(function.const) == len(function.params) else (False, *function.const)
    )
    ownership.given(an, st, values, const, span)
    st.drop(inner.base, inner.end)
    for index, slot in enumerate(function.params):
        type_ = function.slots[slot][1]
        rid = inner.base + slot
        if index >= len(values):
            st.mem[rid] = {0: unknown(type_)}
            continue
        value = values[index]
        if value.ini and index < len(types) and types[index][0] == "?":
            value = unknown(type_)  # a member that nothing declares: an array, perhaps
        if value.cells is not None:
            st.mem[rid] = dict(value.cells)
            st.regs[rid] = an.reg(st, rid).but(fill=UNKNOWN_FILL)
            continue
        if type_[0] == "r":
            st.mem[rid] = {} if type_[1] else {0: value}  # of Rust: not known to have members
            st.regs[rid] = an.reg(st, rid).but(fill=UNKNOWN_FILL)
            continue
        if type_[0] == "c" and len(value.ptr) == 1:
            st.mem[rid] = dict(st.mem.get(value.ptr[0][0], {}))
            st.regs[rid] = an.reg(st, value.ptr[0][0])
            continue
        if type_[0] == "i":
            value = converted(an, st, value, types[index], type_, span, explicit=False)
        st.mem[rid] = {0: value}
    if function.variadic:
        _handed_over(an, st, values[len(function.params) :])


def _handed_over(an: Analysis, st: State, values: list[Val]) -> None:
    """What goes in by `...` is not followed: single values may be set through it."""
    for rid in {target[0] for value in values for target in value.ptr}:
        place = an.places[rid]
        if place is not None and place.kind == "local" and place.type[0] in ("i", "f", "p"):
            st.mem[rid] = {0: unknown(place.type)}
            st.regs[rid] = an.reg(st, rid).but(fill=UNKNOWN_FILL)


def _declare(an: Analysis, st: State, instr: Instr) -> None:
    slot = instr[1]
    rid = an.frame.base + slot
    st.mem.pop(rid, None)
    st.regs.pop(rid, None)
    type_ = an.frame.function.slots[slot][1]
    place = an.places[rid]
    if place is not None and place.span == an.frame.function.name_span:
        place.span = instr[2]
    if type_[0] in ("a", "r"):
        an.reg(st, rid)
        st.mem[rid] = {}
    elif type_[0] == "c":
        st.regs[rid] = an.reg(st, rid).but(fill=UNKNOWN_FILL, len_lo=0, len_hi=0)
        st.mem[rid] = {}


def _clear(an: Analysis, st: State, instr: Instr) -> None:
    where = evaluate(an, st, instr[1])
    if instr[2][0] == "c" and instr[2][1] in INDEXED:
        return
    for target in where.ptr:
        reg = an.reg(st, target[0])
        st.regs[target[0]] = reg.but(fill=ZEROED, len_lo=0, len_hi=0, text=b"", taint=None,
                                    open=0)  # fmt: skip
        st.mem[target[0]] = {}


def _new(an: Analysis, st: State, instr: Instr) -> None:
    _, temp, type_, count, size, span, fails, zeroed = instr
    number = evaluate(an, st, count) if count is not None else None
    value = ownership.allocate(
        an, st, "new[]" if number is not None else "new", span,
        [number] if number is not None else [], size=an.size(type_) or size or 0,
        fails=fails, fill=ZEROED if zeroed else UNINITIALISED, type_=type_,
    )  # fmt: skip
    st.mem[an.frame.temps + temp] = {0: value}


def _delete(an: Analysis, st: State, instr: Instr) -> None:
    _, pointer_expr, many, _, span = instr
    value = evaluate(an, st, pointer_expr)
    ownership.release(an, st, value, "new[]" if many else "new", span)


def _method(an: Analysis, st: State, instr: Instr) -> Any:
    _, temp, base, owner, name, args, result, span, types = instr
    where = evaluate(an, st, base)
    values = [fetch(an, st, arg) for arg in args]
    if owner[:1] == "@":
        st.mem[an.frame.temps + temp] = {
            0: containers.call(an, st, where, owner[1:], name, values, types, result, span)
        }
        return None
    constructor, destructor = name == owner, name[:1] == "~"
    if destructor and where.null:  # of nothing: nothing is done
        if where.null == NULL and not where.ptr:
            return None
        where = Val(where.lo, where.hi, where.flags, where.taint, where.ptr, NOT_NULL, where.ini)
    if constructor and len(where.ptr) == 1:
        rid = where.ptr[0][0]
        if where.ptr[0][1] == 0:
            st.regs[rid] = an.reg(st, rid).but(record=owner)
    functions = _candidates(an, st, where, owner, name, types, virtual=not constructor)
    known = an.program.record(owner, an.frame.function.file) if constructor else None
    unseen_one = known is not None and owner in known.methods and not functions
    if constructor and not unseen_one and (functions or not _is_copy(owner, types)):
        _made_parts(an, st, where, owner)
    if constructor and not functions and _is_copy(owner, types):
        source = load(an, st, values[0], types[0][1], span) if types[0][0] == "&" else values[0]
        store(an, st, where, source, ("r", owner), span)
        return None
    if not functions:
        record = an.program.record(owner, an.frame.function.file)
        if constructor and (record is None or owner in record.methods):
            for target in where.ptr:
                st.regs[target[0]] = an.reg(st, target[0]).but(fill=UNKNOWN_FILL)
        if (constructor and not values) or destructor:
            return None
        if record is None or name not in record.methods:
            unseen.may_be_set(an, st, values, types, args, span)
        locks.method(an, st, where, owner, name, span)
        unseen.forget(an, st, where)
        for index, value in enumerate(values):
            unseen.handed_over(an, st, value, types[index] if index < len(types) else ANY)
        st.mem[an.frame.temps + temp] = {0: unknown(result)}
        return None
    states: list[State] = []
    for function in functions:
        there = st if len(functions) == 1 else st.copy()
        if len(functions) > 1:  # some may never be meant here
            there.choices += _OVERRIDES
        this = [] if function.static and len(function.params) == len(values) else [where]
        given, kinds = _referred(an, there, function, list(values), types, args)
        after = enter(an, there, function, [*this, *given], (ANY,) * len(this) + tuple(kinds),
                      temp, result, span)  # fmt: skip
        states.extend([there] if after is None else after)
    if constructor and len(where.ptr) == 1 and where.ptr[0][1] == 0:
        for one in states:  # it was made as what its base is before
            reg = one.regs.get(where.ptr[0][0])
            if reg is not None and reg.record != owner:
                one.regs[where.ptr[0][0]] = reg.but(record=owner)
    return states


def _made_parts(an: Analysis, st: State, where: Val, owner: str) -> None:
    """Members and bases of an object that is made have constructors of their own, or a value that
    they are declared with: what those give is not known, the other members have no value yet."""
    if len(where.ptr) != 1:
        return
    rid, lo, hi = where.ptr[0][:3]
    reg = an.reg(st, rid)
    if reg.fill != UNINITIALISED or lo != hi or not _makes_itself(an, owner, 0):
        return
    bare: list[int] = []
    _bare_members(an, owner, int(lo), bare, 0)
    st.regs[rid] = reg.but(fill=UNKNOWN_FILL)
    cells = dict(st.mem.get(rid, {}))
    for offset in bare:
        cells.setdefault(offset, NOTHING)
    st.mem[rid] = cells


def _makes_itself(an: Analysis, name: str, depth: int) -> bool:
    """Whether a base or a member of a class gets a value before its constructor runs."""
    record = an.program.record(name, an.frame.function.file)
    if record is None:
        return True
    parts = [*record.bases, *(t[1] for _, t in record.fields.values() if t[0] == "r")]
    return bool(record.given) or any(_has_constructor(an, one, depth + 1) for one in parts[:_MOST])


def _has_constructor(an: Analysis, name: str, depth: int) -> bool:
    record = an.program.record(name, an.frame.function.file)
    if record is None or name in record.methods or depth > _DEPTH:
        return True
    return _makes_itself(an, name, depth)


def _bare_members(an: Analysis, name: str, at: int, found: list[int], depth: int) -> None:
    """Offsets of the members of a class that nothing gives a value by itself."""
    record = an.program.record(name, an.frame.function.file)
    if record is None or depth > _DEPTH:
        return
    made: set[str] = set(record.given)
    for base in record.bases:
        below = an.program.record(base, an.frame.function.file)
        if below is not None and _has_constructor(an, base, depth + 1):
            made.update(below.fields)
    for member, (offset, type_) in islice(record.fields.items(), _MOST):
        if member in made or offset >= UNPLACED:
            continue
        if type_[0] in ("i", "f", "p"):
            found.append(at + offset)
        elif type_[0] == "r" and not _has_constructor(an, type_[1], depth + 1):
            _bare_members(an, type_[1], at + offset, found, depth + 1)


def _is_copy(owner: str, types: Any) -> bool:
    """Whether an object is made from another of its class, by what the compiler provides."""
    return len(types) == 1 and (types[0][1] if types[0][0] == "&" else types[0]) == ("r", owner)


def _candidates(
    an: Analysis, st: State, where: Val, owner: str, name: str, types: Any, *, virtual: bool
) -> list[FunctionIR]:
    """The definitions a method call may reach."""
    frame = an.frame
    file = frame.function.file
    dynamic = ""
    if virtual and len(where.ptr) == 1 and not where.flags & OTHER:
        reg = st.regs.get(where.ptr[0][0])
        dynamic = reg.record if reg is not None else ""
    method = name
    if dynamic and name[:1] == "~":
        method = "~" + dynamic
    for record in dict.fromkeys((dynamic, owner)):
        current: str = record
        for _ in range(8):
            if not current:
                break
            wanted = "~" + current if method[:1] == "~" else method
            found = an.find_overload(f"{current}::{wanted}", file, frame.space, types)
            if found is not None:
                return [found]
            known = an.program.record(current, file)
            current = known.bases[0] if known is not None and known.bases else ""
    if name[:1] == "~" or name == owner or dynamic:
        return []
    found_all = an.program.overrides(owner, name, file) if owner else []
    return found_all if len(found_all) <= _MAX_CANDIDATES else []


def _alloca(an: Analysis, st: State, instr: Instr) -> None:
    _, slot, count, size, span = instr
    number = evaluate(an, st, count)
    rid = an.frame.base + slot
    reg = an.reg(st, rid)
    size = size if type(size) is int else an.size(size)
    if not size:
        return
    ownership.size_checks(an, st, number, size, "array", span)
    lo = max(number.lo, 0) * size
    st.regs[rid] = reg.but(lo=lo, hi=max(number.hi, 0) * size,
                           flags=number.flags & TIGHT)  # fmt: skip


INSTRUCTIONS: Final[dict[int, Callable[[Any, State, Instr], Any]]] = {
    ir.CALL: _call, ir.DECLARE: _declare, ir.CLEAR: _clear, ir.NEW: _new, ir.DELETE: _delete,
    ir.METHOD: _method, ir.ALLOCA: _alloca, ir.RCALL: rust_calls.call,
}  # fmt: skip

__all__ = ["ANY_NULL", "INSTRUCTIONS", "INT", "Reg", "enter", "unknown_parameters"]
