"""The tree as libclang gives it: what a node represents, seen through parentheses."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.translate import generic_selection
from jarvis_ls.jc2r.translate.c_types import is_integer
from jarvis_ls.jc2r.translate.names import Unsupported


class BinaryOperator(IntEnum):
    """Operators of two operands by their `CXBinaryOperatorKind`, those that are asked for."""

    ASSIGN = 22
    COMMA = 33


class UnaryOperator(IntEnum):
    """Operators of one operand by their `CXUnaryOperatorKind`."""

    POST_INC = 1
    POST_DEC = 2
    PRE_INC = 3
    PRE_DEC = 4
    ADDRESS = 5
    THROUGH = 6
    PLUS = 7
    MINUS = 8
    NOT = 9
    LOGICAL_NOT = 10
    REAL = 11
    IMAGINARY = 12
    EXTENSION = 13


PARTS: dict[int, str] = {UnaryOperator.REAL: "re", UnaryOperator.IMAGINARY: "im"}
"""Operators for the parts of a complex number, which Rust has as members."""
_MOVES = (6, 7)
"""`+` and `-` as `CXBinaryOperatorKind` counts, which move pointers."""
STEPS = (
    UnaryOperator.POST_INC,
    UnaryOperator.POST_DEC,
    UnaryOperator.PRE_INC,
    UnaryOperator.PRE_DEC,
)
_COMPUTED = (
    "BINARY_OPERATOR",
    "COMPOUND_ASSIGNMENT_OPERATOR",
    "CONDITIONAL_OPERATOR",
    "CSTYLE_CAST_EXPR",
    "StmtExpr",
)


def only(cursor: Any) -> Any:
    """Return the one child of a node. Raises `Unsupported` when there are others."""
    children = clang.children(cursor)
    if len(children) != 1:
        raise Unsupported(in_words(cursor))
    return children[0]


def bare(cursor: Any) -> Any:
    """Return an expression without the parentheses around it."""
    while cursor.kind.name == "PAREN_EXPR" or (
        cursor.kind.name == "UNARY_OPERATOR"
        and clang.unary_operator(cursor) == UnaryOperator.EXTENSION
    ):
        cursor = only(cursor)
    return cursor


def named_declaration(cursor: Any) -> Any | None:
    """Return the declaration that an expression names, through parentheses and conversions; None
    when it computes.
    """
    while cursor.kind.name in ("PAREN_EXPR", "UNEXPOSED_EXPR"):
        children = clang.children(cursor)
        if len(children) != 1:
            return None
        cursor = children[0]
    return cursor.referenced if cursor.kind.name == "DECL_REF_EXPR" else None


def inside(cursor: Any) -> Any:
    """Return an expression without parentheses and conversions the compiler made."""
    while cursor.kind.name in ("PAREN_EXPR", "UNEXPOSED_EXPR"):
        children = clang.children(cursor)
        if len(children) != 1:
            return cursor
        cursor = children[0]
    return cursor


def converted_from(cursor: Any) -> Any:
    """Return an expression without conversions the compiler made, parentheses kept."""
    while cursor.kind.name == "UNEXPOSED_EXPR":
        children = clang.children(cursor)
        if len(children) != 1:
            return cursor
        cursor = children[0]
    return cursor


def row_of(cursor: Any) -> tuple[Any, int]:
    """Return what an expression is an element of, and how many times: `a` and 2 for `a[i][j]`, for
    `*(a[i] + j)` and for `*(*(a + i) + j)`.
    """
    depth = 0
    while True:
        name = cursor.kind.name
        operands = [child for child in clang.children(cursor) if not is_integer(child.type)]
        which = clang.unary_operator(cursor) if name == "UNARY_OPERATOR" else 0
        if name == "ARRAY_SUBSCRIPT_EXPR" or which == UnaryOperator.THROUGH:
            depth += 1
        elif which == UnaryOperator.ADDRESS:
            depth -= 1
        elif name != "BINARY_OPERATOR" or clang.binary_operator(cursor) not in _MOVES:
            return cursor, depth
        if len(operands) != 1:  # as in the difference of two pointers
            return cursor, depth
        cursor = inside(operands[0])


def is_parameter(cursor: Any) -> bool:
    """Return whether an expression names a parameter."""
    cursor = bare(cursor)
    return bool(cursor.kind.name == "DECL_REF_EXPR" and cursor.referenced.kind.name == "PARM_DECL")


def is_decayed(cursor: Any) -> bool:
    """Return whether an expression that libclang gives the type of an array is a pointer already: a
    parameter written like one, and what is computed from it."""
    cursor = inside(cursor)
    name = cursor.kind.name
    if name == "UNARY_OPERATOR":
        which = clang.unary_operator(cursor)
        return is_decayed(only(cursor)) if which == UnaryOperator.EXTENSION else which in STEPS
    return name in _COMPUTED or is_parameter(cursor)


def string_in(cursor: Any) -> Any | None:
    """Return the string literal an expression is, seen through parentheses and conversions."""
    cursor = inside(cursor)
    if (
        cursor.kind.name == "UNARY_OPERATOR"
        and clang.unary_operator(cursor) == UnaryOperator.EXTENSION
    ):
        return string_in(only(cursor))
    if cursor.kind.name == "GENERIC_SELECTION_EXPR":
        return string_in(chosen_branch(cursor))
    return cursor if cursor.kind.name == "STRING_LITERAL" else None


def chosen_branch(cursor: Any) -> Any:
    """Return the branch of a `_Generic` that is taken, told by its type. Raises `Unsupported` when
    several have it and differ."""
    _, *branches = [child for child in clang.children(cursor) if child.kind.is_expression()]
    wanted = cursor.type.get_canonical()
    found = [branch for branch in branches if branch.type.get_canonical() == wanted]
    first = found[0] if found else None
    if first is None or any(_signature(type_) != _signature(first) for type_ in found):
        same = [n for n, branch in enumerate(branches) if branch.type.get_canonical() == wanted]
        place = generic_selection.taken_branch(cursor, same)
        if place is not None:
            return branches[place]
        raise Unsupported("_Generic with branches of the same type")
    return first


def in_words(cursor: Any) -> str:
    """Return the kind of a node in words."""
    return str(cursor.kind.name.lower().replace("_", " "))


def _signature(cursor: Any) -> tuple[str, str, int | float | None]:
    cursor = inside(cursor)
    return cursor.kind.name, cursor.spelling, clang.constant(cursor)
