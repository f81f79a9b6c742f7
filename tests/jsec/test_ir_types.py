"""Types of the IR: one object for each, which comes back from disk and from another process."""

from __future__ import annotations

import copy
import marshal
import pickle

import pytest

from jarvis_ls.jsec.flow.ir import c_types, rust_types, types
from jarvis_ls.jsec.flow.ir.c_types import (
    ANY,
    BOOL,
    CHAR,
    DOUBLE,
    INT,
    LONG,
    UCHAR,
    UINT,
    ULONG,
    VOID,
    align_of,
    common,
    is_byte,
    limits,
    pointee,
    promote,
    size_of,
)
from jarvis_ls.jsec.flow.ir.decoding import instruction_of
from jarvis_ls.jsec.flow.ir.instructions import CallRust
from jarvis_ls.jsec.flow.ir.rust_types import LITERAL, RECORD, STR, UNIT, shape, width
from jarvis_ls.jsec.flow.ir.types import (
    Array,
    Box,
    Derived,
    Integer,
    Option,
    Pointer,
    Slice,
    Type,
    Vector,
    adt,
    array_of,
    container_of,
    float_of,
    function_of,
    function_type,
    integer,
    opaque,
    placeholder,
    pointer_to,
    record_type,
    reference_to,
    tuple_of,
    type_of,
    wrapped,
)

NODE = record_type("node")
TYPES: list[Type] = [
    ANY,
    INT,
    BOOL,
    LITERAL,
    DOUBLE,
    NODE,
    pointer_to(NODE),
    pointer_to(CHAR, const=True),
    reference_to(INT),
    reference_to(INT, const=True),
    array_of(array_of(INT, 4), -1),
    function_type(VOID, (pointer_to(CHAR), INT), variadic=True, const=(True, False)),
    function_type(INT, None, variadic=False),
    function_type(INT, (), variadic=False),
    container_of("vector", pointer_to(NODE)),
    *(wrapped(kind, UCHAR) for kind in types._WORDS),
    tuple_of((INT, wrapped(Option, NODE))),
    adt("Reader"),
    placeholder("0*"),
]


def classes(kind: type[Type]) -> set[type[Type]]:
    """Return the classes of types that have no other one below."""
    below = kind.__subclasses__()
    return {one for each in below for one in classes(each)} if below else {kind}


def test_an_example_of_every_class_is_here() -> None:
    assert {type(each) for each in TYPES} == classes(Type)


def test_only_one_type_is_the_same() -> None:
    assert len({each.plain for each in TYPES}) == len(TYPES)
    assert len(set(TYPES)) == len(TYPES)


@pytest.mark.parametrize("each", TYPES, ids=repr)
def test_it_comes_back_as_the_same_object(each: Type) -> None:
    assert type_of(marshal.loads(marshal.dumps(each.plain))) is each
    assert pickle.loads(pickle.dumps(each)) is each
    assert copy.deepcopy(each) is each
    assert repr(each) == repr(each.plain)


def test_what_was_never_seen_comes_back_whole() -> None:
    plain = (
        "fn",
        ("p", ("r", "fresh"), "const"),
        (("a", ("&", ("adt", "New")), 3),),
        True,
        (False,),
    )
    made = function_of(plain)
    assert made.plain == plain
    assert made.result is pointer_to(record_type("fresh"), const=True)
    assert made.parameters == (array_of(reference_to(adt("New")), 3),)
    assert made.variadic and made.const == (False,)
    nested = type_of(("tup", (("opt", ("vec", ("c", "list", ("f", 4)))), ("newname",))))
    assert nested is tuple_of(
        (wrapped(Option, wrapped(Vector, container_of("list", float_of(4)))), opaque("newname"))
    )


def test_fields_are_what_was_given() -> None:
    pointer, array = pointer_to(INT, const=True), array_of(pointer_to(NODE), 7)
    assert (pointer.inner, pointer.const) == (INT, True)
    assert isinstance(array, Array) and isinstance(array.inner, Pointer)
    assert (array.count, array.inner.inner) == (7, NODE)
    assert (BOOL.size, BOOL.signed, BOOL.mark) == (1, False, "truth")
    assert integer(1, False) is UCHAR is not BOOL
    box = wrapped(Box, NODE)
    assert isinstance(box, Derived) and isinstance(box, Box) and box.inner is NODE


def test_what_an_effect_of_rust_is_told_comes_back() -> None:
    more = ("Vec", (INT, pointer_to(NODE)), (), (0, 8), True, ULONG, 4)
    call = CallRust(1, "@take", (), UNIT, (0, 1), more)
    back = instruction_of(marshal.loads(marshal.dumps(call.values())))
    assert isinstance(back, CallRust) and back.more == more
    assert back.more[5] is ULONG


def test_sizes_and_limits() -> None:
    records = {"node": (24, 8)}
    assert size_of(array_of(NODE, 3), records) == 72
    assert size_of(array_of(NODE, -1), records) == 0
    assert [size_of(each) for each in (INT, DOUBLE, pointer_to(NODE), VOID, NODE)] == [
        4,
        8,
        8,
        1,
        0,
    ]
    assert align_of(array_of(NODE, 3), records) == 8
    assert limits(CHAR) == (-128, 127)
    assert limits(NODE) == c_types.WIDEST
    assert is_byte(BOOL) and is_byte(CHAR) and not is_byte(INT) and not is_byte(float_of(1))


def test_operands_meet_in_one_type() -> None:
    assert promote(CHAR) is INT and promote(ULONG) is ULONG
    assert common(CHAR, BOOL) is INT
    assert common(INT, UINT) is UINT is common(UINT, INT)
    assert common(LONG, UINT) is LONG
    assert common(INT, DOUBLE) is DOUBLE is common(DOUBLE, float_of(4))
    assert common(NODE, ANY) is ANY and common(NODE, INT) is LONG
    assert pointee(array_of(CHAR, 4)) is CHAR and pointee(NODE) is ANY


def test_what_of_rust_is_interpreted() -> None:
    assert shape(LITERAL) is LONG
    assert shape(reference_to(wrapped(Slice, INT))) is RECORD
    assert shape(wrapped(Box, array_of(LITERAL, 2))) is pointer_to(array_of(LONG, 2))
    assert shape(reference_to(STR)) is ANY
    assert width(reference_to(STR)) == 0 and width(pointer_to(STR)) == 8
    assert width(array_of(UCHAR, 9)) == 9
    assert rust_types.inner_of(wrapped(Option, NODE)) is NODE and rust_types.inner_of(INT) is ANY
    assert isinstance(LITERAL, Integer)
