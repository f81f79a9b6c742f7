"""What variables of static storage start with."""

from __future__ import annotations

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow import ir
from jarvis_ls.jsec.flow.ir import Instr, Type
from jarvis_ls.jsec.flow.lower_blocks import Blocks, Scopes
from jarvis_ls.jsec.flow.lower_expression import Expressions, Outer


def initialiser(
    outer: Outer, name: str, type_: Type, value: Node | None, around: Expressions | None = None
) -> tuple[Instr, ...] | None:
    """The instructions of the initialiser of a variable of static storage, in the function
    `around` it; None without one."""
    if value is None:
        return None
    blocks = Blocks()
    of = Expressions(outer, blocks, around.scopes.statics() if around is not None else Scopes())
    if around is not None:
        of.statics = around.statics
    of.places.initialise((ir.GLOBAL, name), type_, value)
    done, _ = blocks.finish()
    scopes = of.scopes
    of.let_go()
    if len(done) != 1 or scopes.slots or blocks.temps:
        return ()  # more than stores of constants: nothing is known of it
    return tuple(i for i in done[0][0] if i[0] in (ir.EVAL, ir.CLEAR))
