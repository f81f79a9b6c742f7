"""Values that nothing in a function limits: what an index, a length or a count comes from.

A number is limited where a comparison says that it is not more than something, where its type is
small, or where it is masked. The values it is computed from are asked in its place; a counter that
a loop compares with a count is as large as the count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from jarvis_ls.codeintel.declarations import Declared
from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.local.c.buffer_sizes import resolve_typedefs
from jarvis_ls.jsec.local.c.integers import declared_width, width
from jarvis_ls.jsec.local.c.range_tests import bounds, relations_at
from jarvis_ls.jsec.local.c.reaching_definitions import reaching
from jarvis_ls.jsec.local.constants import constant, declaration

_DEEP = 5
"""Values that are computed from each other which are looked through."""
_BOUNDED = re.compile(r"(?i)min|max|clamp|bound|limit|len$|size|count|alloc|compare|cmp|hash")
"""Names of functions whose results are limited by what they are given, or no numbers of data."""
_ANY = 1 << 63
_BYTE = 8


@dataclass(frozen=True, slots=True)
class Root:
    """A value that nothing limits."""

    node: Node
    """Where it is read: a variable, a member or an element."""
    most: int
    """The largest value of its type."""

    @property
    def name(self) -> str:
        """Return how it is written."""
        return text(self.node)


def unlimited_roots(node: Node | None, function: Function, at: int) -> list[Root]:
    """Return the values that a number comes from and that nothing limits before byte `at`; empty
    where all of them are limited, or where it cannot be told."""
    return list(_roots(node, function, at, _DEEP)) if node is not None else []


def _roots(node: Node, function: Function, at: int, deep: int) -> Iterator[Root]:
    node = bare(node)
    if deep <= 0 or constant(node, function) is not None:
        return
    kind = node.type
    if kind == "identifier":
        yield from _of_variable(node, function, at, deep)
    elif kind in ("field_expression", "subscript_expression", "pointer_expression"):
        if not bounds(function, text(node), at).upper:
            yield from _as_root(node, function)
    elif kind == "binary_expression":
        operator = operator_of(node)
        left, right = field(node, "left"), field(node, "right")
        if operator in ("+", "-", "*", "<<", "|", "/", ">>") and left is not None:
            yield from _roots(left, function, at, deep - 1)
        if operator in ("+", "*", "|") and right is not None:
            yield from _roots(right, function, at, deep - 1)
    elif kind == "cast_expression":
        value, bytes_ = field(node, "value"), width(node, function)
        for root in _roots(value, function, at, deep - 1) if value is not None else ():
            yield Root(root.node, min(root.most, _most(bytes_)))
    elif kind == "assignment_expression" and operator_of(node) == "=":
        right = field(node, "right")
        if right is not None:
            yield from _roots(right, function, at, deep - 1)
    elif kind == "update_expression":
        argument = field(node, "argument")
        if argument is not None:
            yield from _roots(argument, function, at, deep - 1)


def _of_variable(node: Node, function: Function, at: int, deep: int) -> Iterator[Root]:
    """Yield what the value of a variable comes from."""
    name = text(node)
    limit = _limit(name, function, at)
    if limit is not None:
        yield from _roots(limit, function, limit.start_byte, deep - 1)
        return
    if bounds(function, name, at).upper:
        return
    writes = reaching(function, name, at)
    if writes is None:
        return
    values = [write.value for write in writes if write.operator == "="]
    if not writes or any(write.operator == "&" for write in writes):
        yield from _as_root(node, function)
        return
    for value in values:
        if value is None or value.start_byte <= at < value.end_byte:
            continue
        if bare(value).type == "call_expression":
            if not _BOUNDED.search(text(field(bare(value), "function"))):
                yield from _as_root(node, function)
        else:
            bytes_ = width(node, function)
            for root in _roots(value, function, value.start_byte, deep - 1):
                yield Root(root.node, min(root.most, _most(bytes_)))


def _limit(name: str, function: Function, at: int) -> Node | None:
    """Return what a loop around a byte compares its counter with, when that is no constant."""
    for end, relation, side, other in relations_at(function, name, at):
        if relation not in ("<", "<=", "!=") or text(bare(side)) != name:
            continue
        loop = _loops(function).get(end)
        if loop is None or not loop.start_byte <= at < loop.end_byte:
            return None
        other = bare(other)
        known = constant(other, function) is not None
        return other if not known and other.type in ("identifier", "field_expression") else None
    return None


@once_per_function
def _loops(function: Function) -> dict[int, Node]:
    """Return the loops by where a comparison that is their condition ends."""
    found: dict[int, Node] = {}
    for loop in function.nodes("loop"):
        condition = field(loop, "condition")
        if condition is not None:
            found[bare(condition).end_byte] = loop
    return found


def _as_root(node: Node, function: Function) -> Iterator[Root]:
    """Yield a variable, member or element as a value of its type, when that is an integer."""
    if node.type in ("subscript_expression", "pointer_expression"):
        bytes_ = _element_width(declaration(field(node, "argument"), function), function)
    else:
        bytes_ = declared_width(declaration(node, function), function)
    if bytes_ is not None:
        yield Root(node, _most(bytes_))


def _element_width(declared: Variable | Declared | None, function: Function) -> int | None:
    """Return the bytes of an integer that an array or pointer has as its elements."""
    if declared is None:
        return None
    words, pointers, arrays = resolve_typedefs(declared, function.unit)
    if pointers + len(arrays) != 1:
        return None
    return declared_width(Declared("", words), function)


def _most(bytes_: int | None) -> int:
    return _ANY if bytes_ is None else (1 << (_BYTE * bytes_)) - 1
