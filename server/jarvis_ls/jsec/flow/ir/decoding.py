"""Instructions and expressions of the plain values as which a function is kept on disk."""

from __future__ import annotations

from typing import Any

from jarvis_ls.jsec.flow.ir.instructions import (
    Alloca,
    Block,
    Branch,
    CallFunction,
    CallMethod,
    CallRust,
    Clear,
    Declare,
    Delete,
    End,
    Eval,
    Instruction,
    Jump,
    New,
    Return,
    SetTemp,
    Stop,
    Switch,
    Throw,
)
from jarvis_ls.jsec.flow.ir.nodes import (
    Binary,
    BitAnd,
    Cast,
    Compare,
    Complement,
    Const,
    Decay,
    Else,
    Expr,
    Field,
    Function,
    Global,
    Index,
    Load,
    Local,
    Negate,
    Not,
    Null,
    PointerDifference,
    Size,
    SizeOf,
    Step,
    Store,
    StringLiteral,
    Temp,
    Unknown,
)
from jarvis_ls.jsec.flow.ir.types import Plain, type_of, types_of

Values = tuple[Any, ...]
"""A number that names a class, and the members of one of it."""


def block_of(values: tuple[tuple[Values, ...], Values]) -> Block:
    """Return the block of these instructions and this end."""
    instrs, end = values
    return tuple([instruction_of(each) for each in instrs]), _end(end)


def instruction_of(values: Values) -> Instruction:
    """Return the instruction that gave these values."""
    kind: int = values[0]
    if kind == 0:
        return Eval(expression_of(values[1]))
    if kind == 1:
        return SetTemp(values[1], expression_of(values[2]))
    if kind == 2:
        _, temp, target, arguments, result, span, types = values
        called = target if isinstance(target, str) else expression_of(target)
        given = _expressions(arguments)
        return CallFunction(temp, called, given, type_of(result), span, types_of(types))
    if kind == 3:
        return Declare(values[1], values[2])
    if kind == 4:
        return Clear(expression_of(values[1]), type_of(values[2]))
    if kind == 5:
        _, temp, type_, count, size, span, may_fail, zeroed = values
        number = None if count is None else expression_of(count)
        return New(temp, type_of(type_), number, size, span, may_fail, zeroed)
    if kind == 6:
        return Delete(expression_of(values[1]), values[2], type_of(values[3]), values[4])
    if kind == 7:
        _, temp, place, owner, name, arguments, result, span, types = values
        given = _expressions(arguments)
        object_, kinds = expression_of(place), types_of(types)
        return CallMethod(temp, object_, owner, name, given, type_of(result), span, kinds)
    if kind == 8:
        return Alloca(values[1], expression_of(values[2]), _size(values[3]), values[4])
    _, temp, name, arguments, result, span, more = values
    return CallRust(temp, name, _expressions(arguments), type_of(result), span, _members(more))


def _end(values: Values) -> End:
    kind: int = values[0]
    if kind == 10:
        return Jump(values[1])
    if kind == 11:
        return Branch(expression_of(values[1]), values[2], values[3], values[4], values[5])
    if kind == 12:
        return Switch(expression_of(values[1]), values[2], values[3], values[4])
    if kind == 13:
        return Return(None if values[1] is None else expression_of(values[1]), values[2])
    return Stop() if kind == 14 else Throw(values[1])


def _size(values: int | Plain) -> Size:
    return type_of(values) if isinstance(values, tuple) else values


def _members(members: tuple[object, ...]) -> tuple[object, ...]:
    """Return what `plain_members` made of what an effect is told."""
    return tuple([_member(each) if isinstance(each, tuple) else each for each in members])


def _member(values: tuple[object, ...]) -> object:
    return type_of(values) if values and isinstance(values[0], str) else _members(values)


def _expressions(values: tuple[Values, ...]) -> tuple[Expr, ...]:
    return tuple([expression_of(each) for each in values])


def expression_of(v: Values) -> Expr:
    """Return the expression that gave these values. What there is most of comes first."""
    kind: int = v[0]
    if kind == 5:
        return Load(expression_of(v[1]), type_of(v[2]), v[3])
    if kind == 2:
        return Local(v[1])
    if kind == 0:
        return Const(v[1], type_of(v[2]))
    if kind == 7:
        return Field(expression_of(v[1]), v[2], type_of(v[3]))
    if kind == 14:
        return Cast(expression_of(v[1]), type_of(v[2]), type_of(v[3]), v[4], v[5])
    if kind == 16:
        return Temp(v[1])
    if kind == 9:
        return Binary(v[1], expression_of(v[2]), expression_of(v[3]), type_of(v[4]), v[5])
    if kind == 8:
        return Index(expression_of(v[1]), expression_of(v[2]), _size(v[3]), v[4])
    if kind == 6:
        return Store(expression_of(v[1]), expression_of(v[2]), type_of(v[3]), v[4])
    if kind == 21:
        return Decay(expression_of(v[1]), v[2])
    if kind == 3:
        return Global(v[1])
    if kind == 10:
        return Compare(v[1], expression_of(v[2]), expression_of(v[3]), type_of(v[4]), v[5])
    if kind == 11:
        return Not(expression_of(v[1]))
    return _rare_expression(kind, v)


def _rare_expression(kind: int, v: Values) -> Expr:
    if kind == 1:
        return StringLiteral(v[1], v[2])
    if kind == 4:
        return Function(v[1])
    if kind == 12:
        return Negate(expression_of(v[1]), type_of(v[2]), v[3])
    if kind == 13:
        return Complement(expression_of(v[1]), type_of(v[2]))
    if kind == 15:
        delta = (type_of(v[3][0]), v[3][1]) if isinstance(v[3], tuple) else v[3]
        return Step(expression_of(v[1]), type_of(v[2]), delta, v[4], v[5])
    if kind == 17:
        return SizeOf(_size(v[1]), None if v[2] is None else expression_of(v[2]), v[3])
    if kind == 18:
        return Unknown(type_of(v[1]))
    if kind == 19:
        return PointerDifference(expression_of(v[1]), expression_of(v[2]), _size(v[3]))
    if kind == 20:
        return Null()
    if kind == 22:
        return BitAnd(expression_of(v[1]), expression_of(v[2]), v[3])
    return Else(expression_of(v[1]), v[2])
