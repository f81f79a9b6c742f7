"""What a function returns."""

from __future__ import annotations

from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import UNINIT, AbstractValue
from jarvis_ls.jsec.flow.domain.engine import Engine
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
    return value


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
