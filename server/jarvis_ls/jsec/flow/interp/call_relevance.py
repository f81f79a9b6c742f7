"""What a call may do that its caller must know, without following it.

A function is followed by itself, too, with parameters of which nothing is known. A call that
tells it no more finds nothing new in it: such a call is entered only for what the caller gets
from it, a resource, input, a lock, or a release. Most calls of a large program are passed by.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import OTHER, AbstractValue
from jarvis_ls.jsec.flow.domain.call_summary import ALLOCATES, OBSCURE, RELEASES
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.region_state import UNKNOWN_FILL
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import VOID
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.nodes import Expr
from jarvis_ls.jsec.flow.library.c_functions import TABLE

_OBTAINS: Final = frozenset({"alloc", "realloc", "duplicate", "open", "descriptor"})
_GIVES_BACK: Final = frozenset({"free", "realloc"})
_ALWAYS: Final = frozenset(
    {
        "lock",
        "try lock",
        "wait",
        "unlock",
        "mutex",
        "input",
        "bytes",
        "scan",
        "text",
        "number",
        "parse",
    }
)
"""Effects that matter to a caller whatever it gives and takes: locks, and input."""
_SHORT: Final = 12
"""Instructions of a function that is always entered when it calls none: what it returns is known
with little effort."""
_MANY: Final = 60
"""Instructions of a function whose way a number or text that is written out chooses: below that
it is what the function works with."""


def is_passed_by(
    engine: Engine,
    state: AbstractState,
    function: FunctionIR,
    values: list[AbstractValue],
    args: Iterable[Expr],
) -> bool:
    """Return whether a call tells a function nothing and brings its caller nothing."""
    if function.size <= _SHORT and not function.calls:
        return False
    summary = engine.summary(function)
    if summary is None or OBSCURE in summary.acts:
        return False
    aside = function.size > _MANY or summary.is_long
    for value, arg in zip(values, args, strict=False):
        if _tells(engine, state, value, aside and _is_written_out(arg)):
            return False
    effects = _effects(summary.calls)
    if engine.own:
        effects |= {effect[0] for name in summary.calls for effect in engine.own.get(name, ())}
    if not effects.isdisjoint(_ALWAYS):
        return False
    takes = function.result is not VOID
    if takes and (not effects.isdisjoint(_OBTAINS) or ALLOCATES in summary.acts):
        return False
    if not effects.isdisjoint(_GIVES_BACK) or RELEASES in summary.acts:
        for value in values:
            if value.targets:
                return False
    if summary.reads.isdisjoint(engine.met):
        return True
    for name in summary.reads:
        for rid in engine.met.get(name, ()):
            if _is_set(engine, state, rid):
                return False
    return True


def _tells(engine: Engine, state: AbstractState, value: AbstractValue, aside: bool) -> bool:
    """Return whether more is known about an argument than about a parameter of a function that is
    followed by itself. What is written out in the call of a long function says how, not what: it
    is left `aside`."""
    if value.taint is not None or value.init:
        return True
    if value.cells is not None:
        return any(_tells(engine, state, cell, aside) for cell in value.cells.values())
    if not value.targets:
        return not value.flags & OTHER and not aside
    for target in value.targets:  # noqa: SIM110 - a loop is machine code, a generator an object
        if _is_special(engine, state, target[0], aside):
            return True
    return False


def _is_special(engine: Engine, state: AbstractState, rid: int, aside: bool) -> bool:
    """Return whether a region is more than what is behind a pointer from outside."""
    kind = engine.kind(rid)
    if kind != "object":
        return kind not in _NAMED or not aside
    reg = state.region_states.get(rid)
    if reg is not None and (reg.status or reg.family or reg.locked or reg.taint is not None):
        return True
    cells = state.memory.get(rid)
    if cells:
        for cell in cells.values():
            if cell.taint is not None:
                return True
            for inner in cell.targets:
                if engine.kind(inner[0]) in _OWN:
                    return True
    return False


_NAMED: Final = frozenset({"function", "string"})
_OWN: Final = frozenset({"heap", "local", "alloca"})


def _is_written_out(arg: Expr) -> bool:
    while isinstance(arg, (nodes.Cast, nodes.Decay)):
        arg = arg.operands()[0]
    return isinstance(
        arg, (nodes.Const, nodes.Null, nodes.SizeOf, nodes.Function, nodes.StringLiteral)
    )


def _is_set(engine: Engine, state: AbstractState, rid: int) -> bool:
    """Return whether this run gave a variable of file scope a value that is known."""
    place, cells = engine.regions[rid], state.memory.get(rid)
    if not cells or place is None or place.fill != UNKNOWN_FILL:
        return False
    return any(
        cell.taint is not None
        or cell.init
        or (
            not cell.flags & OTHER
            and not (
                cell.targets and all(engine.kind(target[0]) == "object" for target in cell.targets)
            )
        )
        for cell in cells.values()
    )


@lru_cache(4096)
def _effects(calls: frozenset[str]) -> frozenset[str]:
    """Return the effects of library functions of these names."""
    shorts = (name.rpartition("::")[2] for name in calls)
    return frozenset(effect[0] for short in shorts for effect in TABLE.get(short, ()))
