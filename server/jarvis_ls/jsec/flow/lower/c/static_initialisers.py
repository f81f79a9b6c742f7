"""What variables of static storage start with."""

from __future__ import annotations

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.instructions import Clear, Eval, Instruction
from jarvis_ls.jsec.flow.ir.types import Type
from jarvis_ls.jsec.flow.lower.builder import Blocks, Scopes
from jarvis_ls.jsec.flow.lower.c.context import ExpressionBuilder, Outer
from jarvis_ls.jsec.flow.lower.c.expression import Expressions


def initialiser(
    outer: Outer,
    name: str,
    type_: Type,
    value: Node | None,
    around: ExpressionBuilder | None = None,
) -> tuple[Instruction, ...] | None:
    """Return the instructions of the initialiser of a variable of static storage, in the function
    `around` it; None without one."""
    if value is None:
        return None
    blocks = Blocks()
    of = Expressions(outer, blocks, around.scopes.statics() if around is not None else Scopes())
    if around is not None:
        of.statics = around.statics
    of.places.initialise(nodes.Global(name), type_, value)
    done, _ = blocks.finish()
    scopes = of.scopes
    of.let_go()
    if len(done) != 1 or scopes.slots or blocks.temps:
        return ()  # more than stores of constants: nothing is known of it
    return tuple(i for i in done[0][0] if isinstance(i, (Eval, Clear)))
