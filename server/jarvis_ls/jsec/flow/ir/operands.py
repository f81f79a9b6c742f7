"""Which members of instructions are expressions: what looks for something in a function goes
through these and `Expr.operands`, not through its types and places."""

from __future__ import annotations

from jarvis_ls.jsec.flow.ir.instructions import (
    Alloca,
    Branch,
    CallFunction,
    CallMethod,
    CallRust,
    Clear,
    Delete,
    End,
    Eval,
    Instruction,
    New,
    Return,
    SetTemp,
    Switch,
)
from jarvis_ls.jsec.flow.ir.nodes import Cast, Decay, Expr


def gives(instruction: Instruction) -> int:
    """Return the temporary that an instruction gives a value; -1 for one that gives none."""
    if isinstance(instruction, (SetTemp, CallFunction, New, CallMethod, CallRust)):
        return instruction.temp
    return -1


def of_instruction(instruction: Instruction) -> list[Expr]:
    """Return the expressions of an instruction."""
    if isinstance(instruction, (Eval, SetTemp)):
        return [instruction.value]
    if isinstance(instruction, CallFunction):
        target = instruction.target
        given = list(instruction.arguments)
        return given if isinstance(target, str) else [target, *given]
    if isinstance(instruction, CallRust):
        return list(instruction.arguments)
    if isinstance(instruction, CallMethod):
        return [instruction.object, *instruction.arguments]
    if isinstance(instruction, Clear):
        return [instruction.address]
    if isinstance(instruction, Delete):
        return [instruction.pointer]
    if isinstance(instruction, Alloca):
        return [instruction.count]
    if isinstance(instruction, New) and instruction.count is not None:
        return [instruction.count]
    return []


def of_end(end: End) -> list[Expr]:
    """Return the expressions of the end of a block."""
    if isinstance(end, Branch):
        return [end.condition]
    if isinstance(end, (Switch, Return)) and end.value is not None:
        return [end.value]
    return []


def bare(e: Expr) -> Expr:
    """Return an expression without its conversions."""
    while isinstance(e, (Cast, Decay)):
        e = e.value if isinstance(e, Cast) else e.base
    return e
