"""What a function gives back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jarvis_ls.jsec.flow import ir
from jarvis_ls.jsec.flow.evaluate import evaluate, fetch
from jarvis_ls.jsec.flow.ir import Expr, FunctionIR
from jarvis_ls.jsec.flow.lower_blocks import loops
from jarvis_ls.jsec.flow.state import State
from jarvis_ls.jsec.flow.values import UNINIT, Val

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis


def returned(an: Analysis, st: State, e: Expr) -> Val:
    """What a function returns. That it was never given is for the caller to suffer; but where a
    run starts, a variable which the function gives a value to is to have it on every way."""
    value = fetch(an, st, e)
    frame = an.frame
    if value.ini == UNINIT and frame.caller is None and e[0] == ir.LOAD and e[1][0] == ir.LOCAL:
        slot = e[1][1]
        if slot not in frame.function.params and _gives(frame.function, slot):
            return evaluate(an, st, e)
    return value


def _gives(function: FunctionIR, slot: int) -> bool:
    """Whether some place of a function assigns to a variable: not only adds to it, and not in a
    loop, for that no loop is without a round is mostly known to who wrote it."""
    place = (ir.LOCAL, slot)
    around = loops(function)
    return any(
        instr[0] == ir.EVAL
        and instr[1][0] == ir.STORE
        and instr[1][1] == place
        and not _holds(instr[1][2], place)
        and not any(head <= index <= tail for head, tail in around)
        for index, (instrs, _) in enumerate(function.blocks)
        for instr in instrs
    )


def _holds(e: Expr, part: Expr) -> bool:
    return e == part or any(isinstance(one, tuple) and _holds(one, part) for one in e)
