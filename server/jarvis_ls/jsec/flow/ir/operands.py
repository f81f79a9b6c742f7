"""Which members of instructions and expressions are expressions: what looks for something in a
function goes through these alone, not through its types and places."""

from __future__ import annotations

from typing import Final

from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.nodes import Expr, Instr

INNER: Final[dict[int, tuple[int, ...]]] = {
    nodes.LOAD: (1,),
    nodes.STORE: (1, 2),
    nodes.FIELD: (1,),
    nodes.INDEX: (1, 2),
    nodes.BIN: (2, 3),
    nodes.CMP: (2, 3),
    nodes.NOT: (1,),
    nodes.NEG: (1,),
    nodes.COMPL: (1,),
    nodes.CAST: (1,),
    nodes.STEP: (1,),
    nodes.SIZEOF: (2,),
    nodes.PTRDIFF: (1, 2),
    nodes.DECAY: (1,),
    nodes.BITAND: (1, 2),
    nodes.CONST: (),
    nodes.ELSE: (1,),
    nodes.STR: (),
    nodes.LOCAL: (),
    nodes.GLOBAL: (),
    nodes.FUNC: (),
    nodes.TEMP: (),
    nodes.UNKNOWN: (),
    nodes.NULL: (),
}
"""Where expressions are in one of each kind; that of `SIZEOF` may be None."""
GIVES: Final = frozenset({nodes.SET, nodes.CALL, nodes.NEW, nodes.METHOD, nodes.RCALL})
"""Instructions whose second member is the temporary that they give a value."""


def of_instruction(instr: Instr) -> list[Expr]:
    """Return the expressions of an instruction."""
    kind = instr[0]
    if kind in (nodes.EVAL, nodes.CLEAR, nodes.DELETE):
        return [instr[1]]
    if kind in (nodes.SET, nodes.ALLOCA):
        return [instr[2]]
    if kind in (nodes.CALL, nodes.RCALL):
        return list(instr[3]) if type(instr[2]) is str else [instr[2], *instr[3]]
    if kind == nodes.METHOD:
        return [instr[2], *instr[5]]
    return [instr[3]] if kind == nodes.NEW and instr[3] is not None else []


def of_end(end: Instr) -> list[Expr]:
    """Return the expressions of the end of a block."""
    if end[0] in (nodes.IF, nodes.SWITCH) or (end[0] == nodes.RETURN and end[1] is not None):
        return [end[1]]
    return []
