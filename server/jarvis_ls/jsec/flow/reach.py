"""What a call may do that its caller must know, told without following it.

A function is followed by itself, too, with parameters of which nothing is known. A call that
tells it no more finds nothing new in it: such a call is entered only for what the caller gets
from it, a resource, input, a lock, or a release. Most calls of a large program are passed by.
"""

from __future__ import annotations

import marshal
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from jarvis_ls.jsec.flow import ir
from jarvis_ls.jsec.flow.ir import Expr, FunctionIR
from jarvis_ls.jsec.flow.library.tables import TABLE
from jarvis_ls.jsec.flow.state import UNKNOWN_FILL, State
from jarvis_ls.jsec.flow.values import OTHER, Val

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis

DISTANCE: Final = 2
"""Calls inside of a call that are looked at."""
ALLOCATES: Final = "+"
RELEASES: Final = "-"
OBSCURE: Final = "?"
"""Acts of a function besides its calls: `new`, `delete`, and what only following it can tell
(methods, exceptions, Rust)."""

_OBTAINS: Final = frozenset({"alloc", "realloc", "duplicate", "open", "descriptor"})
_GIVES_BACK: Final = frozenset({"free", "realloc"})
_ALWAYS: Final = frozenset({
    "lock", "try lock", "wait", "unlock", "mutex",
    "input", "bytes", "scan", "text", "number", "parse",
})  # fmt: skip
"""Effects that matter to a caller whatever it gives and takes: locks, and input."""
_SHORT: Final = 12
"""Instructions of a function that is always entered when it calls none: what it returns is told
with little effort."""
_MANY: Final = 60
"""Instructions of a function whose way a number or text that is written out chooses: below that
it is what the function works with."""
_MANY_BELOW: Final = 150
"""The same with the functions that it calls."""
_WRITTEN_OUT: Final = frozenset({ir.CONST, ir.NULL, ir.SIZEOF, ir.FUNC, ir.STR})


@dataclass(frozen=True, slots=True)
class Reach:
    """What a function and those it calls name."""

    calls: frozenset[str]
    """Functions."""
    acts: frozenset[str]
    """See `ALLOCATES`."""
    reads: frozenset[str]
    """Variables of file scope."""
    size: int
    """Instructions, those of what it calls with each call."""

    @property
    def is_long(self) -> bool:
        """Whether following it takes long."""
        return self.size > _MANY_BELOW

    def packed(self) -> bytes:
        """What matters to callers in bytes, alike in every process."""
        named = (sorted(self.calls), sorted(self.acts), sorted(self.reads), self.is_long)
        return marshal.dumps(named, 2)


def acts_of(function: FunctionIR) -> tuple[str, ...]:
    """The acts of a function, in order."""
    kinds = {instr[0] for instrs, _ in function.blocks for instr in instrs}
    found = set()
    if ir.NEW in kinds:
        found.add(ALLOCATES)
    if ir.DELETE in kinds:
        found.add(RELEASES)
    if kinds & {ir.METHOD, ir.RCALL} or any(end[0] == ir.THROW for _, end in function.blocks):
        found.add(OBSCURE)
    return tuple(sorted(found))


def is_passed_by(
    an: Analysis, st: State, function: FunctionIR, values: list[Val], args: Iterable[Expr]
) -> bool:
    """Whether a call tells a function nothing and brings its caller nothing."""
    if function.size <= _SHORT and not function.calls:
        return False
    reach = an.reach(function)
    if reach is None or OBSCURE in reach.acts:
        return False
    aside = function.size > _MANY or reach.is_long
    for value, arg in zip(values, args, strict=False):
        if _tells(an, st, value, aside and _is_written_out(arg)):
            return False
    effects = _effects(reach.calls)
    if an.own:
        effects |= {effect[0] for name in reach.calls for effect in an.own.get(name, ())}
    if effects & _ALWAYS:
        return False
    takes = function.result[0] != "v"
    if takes and (effects & _OBTAINS or ALLOCATES in reach.acts):
        return False
    if (effects & _GIVES_BACK or RELEASES in reach.acts) and any(value.ptr for value in values):
        return False
    return reach.reads.isdisjoint(an.met) or not any(
        _is_set(an, st, rid) for name in reach.reads for rid in an.met.get(name, ())
    )


def _tells(an: Analysis, st: State, value: Val, aside: bool) -> bool:
    """Whether more is known about an argument than about a parameter of a function that is
    followed by itself. What is written out in the call of a long function says how, not what: it
    is left `aside`."""
    if value.taint is not None or value.ini:
        return True
    if value.cells is not None:
        return any(_tells(an, st, cell, aside) for cell in value.cells.values())
    if not value.ptr:
        return not value.flags & OTHER and not aside
    return any(_is_special(an, st, target[0], aside) for target in value.ptr)


def _is_special(an: Analysis, st: State, rid: int, aside: bool) -> bool:
    """Whether a region is more than what lies behind a pointer from outside."""
    kind = an.kind(rid)
    if kind != "object":
        return kind not in _NAMED or not aside
    reg = st.regs.get(rid)
    if reg is not None and (reg.status or reg.family or reg.locked or reg.taint is not None):
        return True
    return any(
        cell.taint is not None or any(an.kind(inner[0]) in _OWN for inner in cell.ptr)
        for cell in st.mem.get(rid, {}).values()
    )


_NAMED: Final = frozenset({"function", "string"})
_OWN: Final = frozenset({"heap", "local", "alloca"})


def _is_written_out(arg: Expr) -> bool:
    while arg[0] in (ir.CAST, ir.DECAY):
        arg = arg[1]
    return arg[0] in _WRITTEN_OUT


def _is_set(an: Analysis, st: State, rid: int) -> bool:
    """Whether this run gave a variable of file scope a value that is known."""
    place, cells = an.places[rid], st.mem.get(rid)
    if not cells or place is None or place.fill != UNKNOWN_FILL:
        return False
    return any(
        cell.taint is not None
        or cell.ini
        or (
            not cell.flags & OTHER
            and not (cell.ptr and all(an.kind(target[0]) == "object" for target in cell.ptr))
        )
        for cell in cells.values()
    )


@lru_cache(4096)
def _effects(calls: frozenset[str]) -> frozenset[str]:
    """What library functions of these names do."""
    shorts = (name.rpartition("::")[2] for name in calls)
    return frozenset(effect[0] for short in shorts for effect in TABLE.get(short, ()))
