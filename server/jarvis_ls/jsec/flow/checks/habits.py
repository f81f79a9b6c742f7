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
from jarvis_ls.jsec.flow.ir.untested_uses import DROPPED, INDEX, MEMBER, Use, uses
from jarvis_ls.jsec.flow.library.c_functions import TABLE

_LEAST: Final = {"result": (3, 3), "index": (3, 3), "dropped": (8, 8), "member": (5, 4)}
"""How many tests make a habit, and how many for each use without one."""


def deviations(function: FunctionIR, program: Lookup) -> Iterator[tuple[Use, int, int]]:
    """Yield what a function uses untested that is mostly tested, with the number of tests and of
    other uses in the program."""

    def record(name: str) -> RecordIR | None:
        return program.record(name, function.file)

    for use in uses(function, record):
        sort, _, name = use.key.partition(" ")
        if use.tested or name.rpartition("::")[2] in TABLE:
            continue
        tested, untested = program.habit(use.key, function.file)
        least, share = _LEAST[sort]
        if tested < least or tested < share * untested:
            continue
        if not use.key.startswith(MEMBER) and not _fails(use.key, name, function, program):
            continue
        yield use, tested, untested


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
    return None in constants or 0 in constants


def _constant(value: nodes.Expr) -> int | None:
    """Return a number that is written out, 0 for NULL; None for what is worked out."""
    while value[0] in (nodes.CAST, nodes.DECAY):
        value = value[1]
    if value[0] == nodes.NULL:
        return 0
    if value[0] == nodes.CONST and isinstance(value[1], int):
        return value[1]
    return None
