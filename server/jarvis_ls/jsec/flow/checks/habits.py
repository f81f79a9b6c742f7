"""Uses of a function without the test that the rest of the program makes of the same thing.

What a program nearly always tests may be missing or negative, whatever its functions are called:
that is known of results and members by counting, `Lookup.habit`. (Engler and others called such
facts beliefs.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jarvis_ls.jsec.flow.domain.lookup import Lookup
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR, RecordIR
from jarvis_ls.jsec.flow.ir.instructions import Return
from jarvis_ls.jsec.flow.ir.operands import bare
from jarvis_ls.jsec.flow.ir.rooms import ANY, Rooms, room_key
from jarvis_ls.jsec.flow.ir.types import Integer, Pointer, Record, Type
from jarvis_ls.jsec.flow.ir.untested_uses import DROPPED, INDEX, MEMBER, Use, uses
from jarvis_ls.jsec.flow.library.c_functions import TABLE

_POINTER: Final = 8
"""Bytes of a pointer."""
_LEAST: Final = {"result": (3, 3), "index": (3, 3), "dropped": (8, 8), "member": (5, 4)}
"""How many tests make a habit, and how many for each use without one."""


def deviations(function: FunctionIR, program: Lookup) -> Iterator[tuple[Use, int, int]]:
    """Yield what a function uses untested that is mostly tested, with the number of tests and of
    other uses in the program."""
    untested = program.untested_uses(function)
    if untested is not None and all(
        _counts(key, function, program) is None for key in sorted(untested)
    ):
        return

    def record(name: str) -> RecordIR | None:
        return program.record(name, function.file)

    for use in uses(function, record):
        counts = None if use.tested else _counts(use.key, function, program)
        if counts is None:
            continue
        name = use.key.partition(" ")[2]
        if use.key.startswith(MEMBER) or _fails(use.key, name, function, program):
            yield use, *counts


def _counts(key: str, function: FunctionIR, program: Lookup) -> tuple[int, int] | None:
    """Return how often the program tests what a function uses untested, and how often not; None
    when testing it is no habit."""
    sort, _, name = key.partition(" ")
    if name.rpartition("::")[2] in TABLE or name.startswith("@"):  # known, as containers are
        return None
    tested, untested = program.habit(key, function.file)
    least, share = _LEAST[sort]
    return None if tested < least or tested < share * untested else (tested, untested)


def rooms(function: FunctionIR, kinds: dict[int, tuple[int, str]], program: Lookup) -> Rooms:
    """Return the members that are variables of a function and always allocated by the number in
    another one of the same object, with that number."""
    found: Rooms = {}
    for slot, (base, array) in kinds.items():
        type_ = function.slots[slot][1]
        if not isinstance(type_, Pointer):
            continue
        count, _ = program.habit(ANY + array, function.file)
        record = array.partition(".")[0]
        for other, (of, length) in kinds.items() if count else ():
            if of != base or other == slot or not length.startswith(record + "."):
                continue
            for unit in _units(type_.inner, function, program):
                for more in (0, 1):
                    key = room_key(array, length, more, unit)
                    if program.habit(key, function.file)[0] == count:
                        found[slot] = ((other,), more), unit
    return found


def _units(type_: Type, function: FunctionIR, program: Lookup) -> tuple[object, ...]:
    """Return how the size of an element may be written."""
    if isinstance(type_, Integer):
        return (type_.size,)
    if isinstance(type_, Pointer):
        return (_POINTER,)
    record = program.record(type_.name, function.file) if isinstance(type_, Record) else None
    return (type_,) if record is None else (type_, record.size)


def _fails(key: str, name: str, user: FunctionIR, program: Lookup) -> bool:
    """Return whether a function may tell of a failure by what it returns, as far as that can be
    seen."""
    found = program.function(name, user.file)
    if found is None:
        return not key.startswith((INDEX, DROPPED))
    values = [end.value for _, end in found.blocks if isinstance(end, Return)]
    constants = {_constant(value) for value in values if value is not None}
    if key.startswith(INDEX):
        return any(value is not None and value < 0 for value in constants)
    if key.startswith(DROPPED):
        return len(constants) > 1
    made = any(value is not None and _is_worked_out(value) for value in values)
    return made or 0 in constants


def _is_worked_out(value: nodes.Expr) -> bool:
    """Return whether a pointer comes from a variable or a call: an address is never null."""
    while isinstance(value, (nodes.Cast, nodes.Store)):
        value = value.value
    return isinstance(value, (nodes.Load, nodes.Temp))


def _constant(value: nodes.Expr) -> int | None:
    """Return a number that is written out, 0 for NULL; None for what is worked out."""
    value = bare(value)
    if isinstance(value, nodes.Null):
        return 0
    if isinstance(value, nodes.Const) and isinstance(value.value, int):
        return value.value
    return None
