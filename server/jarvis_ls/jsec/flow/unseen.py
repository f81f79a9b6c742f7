"""Calls of functions that are not seen: what they are given, and what it may be afterwards."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from jarvis_ls.jsec.flow.evaluate import evaluate
from jarvis_ls.jsec.flow.ir import LOAD, MACRO, TEMP, Span, Type
from jarvis_ls.jsec.flow.library import strings
from jarvis_ls.jsec.flow.state import ENDLESS, UNINITIALISED, UNKNOWN_FILL, Reg, State
from jarvis_ls.jsec.flow.types import ANY, CHAR, INT
from jarvis_ls.jsec.flow.values import UNINIT, Val, unknown

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis

_SHOWS: Final = re.compile(
    r"([a-z0-9]+_)?(print|show|dump|display|log|trace|debug|echo)", re.IGNORECASE
)
_KEEPS: Final = re.compile(
    r"add|append|push|set|put|insert|register|init|take|free|new|to(?![a-z])", re.I
)


def ready(
    an: Analysis, st: State, name: str, values: list[Val], types: Any, args: Any, span: Span
) -> Any:
    """Get ready to call what is not seen; gives the types of the arguments with what its
    declaration says of them."""
    declared = an.program.prototype(name, an.frame.function.file)
    if declared is None or declared[2] is None:
        given = must_have
        if name.isupper() or name[:1] == MACRO:
            given = may_be_set
        elif not only_shows(name) and an.program.is_cpp(an.frame.function.file):
            given = _may_take_reference
        given(an, st, values, types, args, span)
        if not only_shows(name):
            return types
        types = only_read(types)
        must_end(an, st, values, types, span)
        return types
    wanted = declared[2]
    referred = [i for i, type_ in enumerate(wanted[: len(values)]) if type_[0] == "&"]
    if referred:
        may_be_set(an, st, [values[i] for i in referred], [types[i] for i in referred],
                   [args[i] for i in referred], span)  # fmt: skip
        for index in referred:
            values[index] = unknown(types[index]) if values[index].ini else values[index]
    must_have(an, st, values, types, args, span)
    const = declared[4] if len(declared) > 4 else ()
    types = tuple(
        ("p", type_[1], "const") if type_[0] == "p" and i < len(const) and const[i] else type_
        for i, type_ in enumerate(types)
    )
    if len(values) == 1:  # no length comes with it
        must_end(an, st, values, types, span)
    return types


def only_shows(name: str) -> bool:
    """Whether a function that nothing declares only looks at what it is given, by its name."""
    return _SHOWS.match(name) is not None and _KEEPS.search(name) is None


def only_read(types: Any) -> Any:
    """The types of arguments, pointers among them marked as read through only."""
    return tuple((*type_, "const") if type_[0] == "p" and len(type_) == 2 else type_
                 for type_ in types)  # fmt: skip


def may_be_set(
    an: Analysis, st: State, values: list[Val], types: Any, args: Any, span: Span
) -> None:
    """What is not seen may be a macro, or take references: its arguments have a value then."""
    for index, value in enumerate(values):
        if value.ini:
            values[index] = unknown(types[index])
            cell = an.cell(st, args[index])
            if cell is not None:
                st.put(cell[0], cell[1], values[index])
        elif types[index][0] == "r" and args[index][0] == LOAD:
            for target in evaluate(an, st, args[index][1]).ptr:
                reg = an.reg(st, target[0])
                if reg.fill == UNINITIALISED:
                    st.regs[target[0]] = reg.but(fill=UNKNOWN_FILL)


def _may_take_reference(
    an: Analysis, st: State, values: list[Val], types: Any, args: Any, span: Span
) -> None:
    """What no declaration is seen of may take a variable by reference, as C++ has it, and give it
    a value."""
    for index, value in enumerate(values):
        cell = an.cell(st, args[index]) if value.ini and args[index][0] == LOAD else None
        if cell is None:
            continue
        if value.ini == UNINIT and types[index][0] not in ("c", "r", "?"):
            place = an.places[cell[0]]
            an.fault(st, "uninitialized", args[index][3], certain=False, doubtful=True,
                     name=place.name if place is not None else "", where=place)  # fmt: skip
        values[index] = unknown(types[index])
        st.put(cell[0], cell[1], values[index])
    must_have(an, st, values, types, args, span)


def must_have(
    an: Analysis, st: State, values: list[Val], types: Any, args: Any, span: Span
) -> None:
    """What is given to code that is not seen has to have a value."""
    for index, value in enumerate(values):
        if value.ini:
            if args[index][0] == LOAD:
                values[index] = evaluate(an, st, args[index])
                continue
            values[index] = unknown(types[index])
            if value.ini == UNINIT and args[index][0] == TEMP:  # a function returned it
                an.fault(st, "uninitialized", span, certain=True)


def must_end(an: Analysis, st: State, values: list[Val], types: Any, span: Span) -> None:
    """Texts that are given to a function which reads them have to end somewhere."""
    for value, type_ in zip(values, types, strict=False):
        if type_[0] == "p" and len(type_) > 2 and type_[1] in (CHAR, INT) and len(value.ptr) == 1:
            reg = st.regs.get(value.ptr[0][0])
            if reg is not None and reg.open:
                strings.read_string(an, st, value, span, "")


def outcome(
    an: Analysis, st: State, temp: int, values: list[Val], types: Any, result: Type
) -> None:
    """A call of something that is not seen: what it is given may have changed."""
    for index, value in enumerate(values):
        handed_over(an, st, value, types[index] if index < len(types) else ANY)
    st.mem[an.frame.temps + temp] = {0: unknown(result)}


def handed_over(an: Analysis, st: State, value: Val, type_: Type) -> None:
    """An argument is out of sight. What a reference to a constant leads to stays as it is; what
    pointers in there lead to does not."""
    const = len(type_) > 2
    if not const or type_[0] != "&":
        forget(an, st, value, const=const and type_[0] == "p")
        return
    for target in value.ptr:
        for cell in list(st.mem.get(target[0], {}).values()):
            if cell.ptr or cell.cells is not None:
                forget(an, st, cell, depth=1)


def forget(an: Analysis, st: State, value: Val, *, const: bool = False, depth: int = 0) -> None:
    """What a pointer leads to is out of sight: anything may be done to it."""
    if value.cells is not None:
        for cell in value.cells.values():
            forget(an, st, cell, const=const, depth=depth + 1)
    for target in value.ptr:
        rid = target[0]
        place = an.places[rid]
        if place is None or place.kind in ("function", "string"):
            continue
        inner = list(st.mem.get(rid, {}).values()) if depth < 3 else []
        if not const:
            an.opened.add(rid)
            reg = an.reg(st, rid)
            if place.type[0] == "c":
                reg = reg.but(lo=0, hi=ENDLESS, flags=0)
            if reg.escaped and reg.fill == UNKNOWN_FILL and not st.mem.get(rid):
                continue
            if not _is_forgotten(reg):
                st.regs[rid] = reg.but(
                    escaped=True,
                    fill=UNKNOWN_FILL,
                    len_lo=0,
                    len_hi=ENDLESS,
                    text=None,
                    open=0,
                    written=0,
                    fixed=False,
                )
            st.mem[rid] = {}
        for cell in inner:
            if cell.ptr:
                forget(an, st, cell, const=const, depth=depth + 1)


def _is_forgotten(reg: Reg) -> bool:
    """Whether nothing is known of what lies in a region."""
    return (
        reg.escaped and reg.fill == UNKNOWN_FILL and reg.len_lo == 0 and reg.len_hi == ENDLESS
        and reg.text is None and not (reg.open or reg.written or reg.fixed)
    )  # fmt: skip
