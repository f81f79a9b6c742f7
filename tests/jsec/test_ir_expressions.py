"""Expressions of the intermediate representation: kept on disk and rewritten without a loss."""

from __future__ import annotations

import marshal

import pytest

from jarvis_ls.jsec.flow.ir.c_types import DOUBLE, INT, ULONG
from jarvis_ls.jsec.flow.ir.decoding import expression_of, instruction_of
from jarvis_ls.jsec.flow.ir.instructions import CallFunction, Eval
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
    SizeOf,
    Step,
    Store,
    StringLiteral,
    Temp,
    Unknown,
)
from jarvis_ls.jsec.flow.ir.operands import bare
from jarvis_ls.jsec.flow.ir.types import pointer_to, record_type

FAR = record_type("node")
"""A type whose size another file knows."""
A, B = Load(Local(1), INT, (3, 4)), Load(Global("n"), INT, (7, 8))
EXPRESSIONS = [
    A,
    B,
    Const(7, INT),
    Const(0.5, DOUBLE),
    StringLiteral(b"a\0b", 1),
    Function("free"),
    Store(Field(A, 8, INT), B, INT, (1, 9)),
    Field(A, ("node", "next", 16), pointer_to(FAR)),
    Index(Decay(Local(2), 40), A, 4, (0, 5)),
    Index(A, B, FAR, (0, 5)),
    Binary("+", A, B, INT, (2, 6)),
    Compare("<", A, B, INT, (2, 6)),
    Not(A),
    Negate(A, INT, (2, 6)),
    Complement(A, INT),
    Cast(A, INT, ULONG, True, (2, 6)),
    Step(Local(1), pointer_to(INT), 4, True, (2, 6)),
    Step(Local(1), pointer_to(FAR), (FAR, -1), False, (2, 6)),
    Temp(3),
    SizeOf(8, Local(1), (2, 6)),
    SizeOf(FAR, None, (2, 6)),
    Unknown(INT),
    PointerDifference(A, B, FAR),
    Null(),
    BitAnd(A, B, (2, 6)),
    Else(A, 1),
]


def kept(e: Expr) -> Expr:
    """Return what comes back of an expression that is written to disk."""
    return expression_of(marshal.loads(marshal.dumps(e.values())))


def test_an_example_of_every_class_is_here() -> None:
    inside = [part for e in EXPRESSIONS for part in (e, *e.operands())]
    assert {type(e) for e in inside} == set(Expr.__subclasses__())


@pytest.mark.parametrize("e", EXPRESSIONS, ids=lambda e: type(e).__name__)
def test_it_comes_back_from_disk(e: Expr) -> None:
    assert kept(e) == e
    assert hash(kept(e)) == hash(e)
    assert kept(e).values() == e.values()


@pytest.mark.parametrize("e", EXPRESSIONS, ids=lambda e: type(e).__name__)
def test_other_operands_take_the_place_of_its_own(e: Expr) -> None:
    assert e.with_operands(e.operands()) == e
    others = [Temp(90 + at) for at in range(len(e.operands()))]
    assert list(e.with_operands(others).operands()) == others


def test_only_equal_expressions_are_equal() -> None:
    for at, e in enumerate(EXPRESSIONS):
        assert [other == e for other in EXPRESSIONS].index(True) == at
    assert Load(Local(1), INT, (3, 4)) == A
    assert Load(Local(1), INT, (3, 5)) != A  # somewhere else
    assert Temp(1) != Local(1)


def test_calls_come_back_with_their_arguments() -> None:
    named = CallFunction(1, "free", (A, B), INT, (0, 9), (INT, INT))
    pointed = CallFunction(2, A, (), INT, (0, 9), ())
    for call in (named, pointed, Eval(A)):
        back = instruction_of(marshal.loads(marshal.dumps(call.values())))
        assert type(back) is type(call)
        assert back.values() == call.values()


def test_conversions_are_looked_through() -> None:
    assert bare(Cast(Decay(Cast(A, INT, ULONG, False, (0, 0)), 4), ULONG, INT, True, (0, 0))) == A
