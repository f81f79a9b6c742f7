"""What a function returns."""

from __future__ import annotations

from jarvis_ls.jsec.flow.checks.ownership import is_memory
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import (
    INIT,
    NULL,
    TIGHT,
    UNALLOCATED,
    UNINIT,
    AbstractValue,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.region_state import FREED
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.cfg import loops
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.instructions import Eval
from jarvis_ls.jsec.flow.ir.nodes import Expr
from jarvis_ls.jsec.flow.semantics.expressions import evaluate, fetch


def return_value(engine: Engine, state: AbstractState, e: Expr) -> AbstractValue:
    """Return the value of a `return`. That it was never given is for the caller to suffer; but
    where a run starts, a variable which the function gives a value to is to have it on every way.
    """
    value = fetch(engine, state, e)
    frame = engine.frame
    if (
        value.init == UNINIT
        and frame.caller is None
        and isinstance(e, nodes.Load)
        and isinstance(e.address, nodes.Local)
    ):
        slot = e.address.slot
        if slot not in frame.function.params and _gives(frame.function, slot):
            return evaluate(engine, state, e)
    if value.nullness == NULL and not value.targets and not value.flags & UNALLOCATED:
        name = "" if frame.caller is None else _failed_allocation(state, frame.function)
        if name:
            return AbstractValue(
                0, 0, TIGHT | UNALLOCATED, None, (), NULL, INIT, ("unallocated", name)
            )
    return value


def _failed_allocation(state: AbstractState, function: FunctionIR) -> str:
    """Return the name of a function in which an allocation failed; empty where none did, or one of
    its blocks is still there."""
    start, end = function.span
    own = [
        reg
        for reg in state.region_states.values()
        if is_memory(reg.family)
        and reg.site is not None
        and reg.site[0] == function.file
        and start <= reg.site[1][0] < end
    ]
    failed = any(reg.nullness == NULL for reg in own) and all(
        reg.nullness == NULL or reg.status == FREED for reg in own
    )
    return function.name if failed else ""


def _gives(function: FunctionIR, slot: int) -> bool:
    """Return whether some place of a function assigns to a variable: not only adds to it, and not
    in a loop, for that no loop is without a round is mostly known to who wrote it.
    """
    place = nodes.Local(slot)
    around = loops(function)
    return any(
        isinstance(instr, Eval)
        and isinstance(instr.value, nodes.Store)
        and instr.value.address == place
        and not _holds(instr.value.value, place)
        and not any(head <= index <= tail for head, tail in around)
        for index, (instrs, _) in enumerate(function.blocks)
        for instr in instrs
    )


def _holds(e: Expr, part: Expr) -> bool:
    return e == part or any(_holds(operand, part) for operand in e.operands())
