"""Which members of instructions and expressions are expressions: what looks for something in a
function goes through these alone, not through its types and places."""

from __future__ import annotations

from typing import Final

from jarvis_ls.jsec.flow import ir
from jarvis_ls.jsec.flow.ir import Expr, Instr

INNER: Final[dict[int, tuple[int, ...]]] = {
    ir.LOAD: (1,), ir.STORE: (1, 2), ir.FIELD: (1,), ir.INDEX: (1, 2), ir.BIN: (2, 3),
    ir.CMP: (2, 3), ir.NOT: (1,), ir.NEG: (1,), ir.COMPL: (1,), ir.CAST: (1,), ir.STEP: (1,),
    ir.SIZEOF: (2,), ir.PTRDIFF: (1, 2), ir.DECAY: (1,), ir.BITAND: (1, 2), ir.CONST: (),
    ir.ELSE: (1,), ir.STR: (), ir.LOCAL: (), ir.GLOBAL: (), ir.FUNC: (), ir.TEMP: (),
    ir.UNKNOWN: (), ir.NULL: (),
}  # fmt: skip
"""Where expressions lie in one of each kind; that of `SIZEOF` may be None."""
GIVES: Final = frozenset({ir.SET, ir.CALL, ir.NEW, ir.METHOD, ir.RCALL})
"""Instructions whose second member is the temporary that they give a value."""


def of_instruction(instr: Instr) -> list[Expr]:
    """The expressions of an instruction."""
    kind = instr[0]
    if kind in (ir.EVAL, ir.CLEAR, ir.DELETE):
        return [instr[1]]
    if kind in (ir.SET, ir.ALLOCA):
        return [instr[2]]
    if kind in (ir.CALL, ir.RCALL):
        return list(instr[3]) if type(instr[2]) is str else [instr[2], *instr[3]]
    if kind == ir.METHOD:
        return [instr[2], *instr[5]]
    return [instr[3]] if kind == ir.NEW and instr[3] is not None else []


def of_end(end: Instr) -> list[Expr]:
    """The expressions of the end of a block."""
    if end[0] in (ir.IF, ir.SWITCH) or (end[0] == ir.RETURN and end[1] is not None):
        return [end[1]]
    return []
