"""Calls: what is called, seen through macros, and what with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jarvis_ls.codeintel.items import Item
from jarvis_ls.codeintel.languages import field_id
from jarvis_ls.codeintel.nodes import field, operator_of, text, use_of
from jarvis_ls.codeintel.parse import Node

if TYPE_CHECKING:
    from jarvis_ls.codeintel.code import Function, Unit


@dataclass(slots=True, eq=False)
class Call:
    """A call of a named function."""

    unit: Unit
    item: Item
    node: Node
    """The call expression."""
    name: str
    """Last part of the name of what is called, seen through macros (`system` for `RUN`); in C++ all
    of it when it is qualified by anything but `std` (`fmt::sprintf`)."""
    written: str
    """The callee as written (`RUN`, `std::mem::transmute`, `value.unwrap`)."""
    is_method: bool = False
    """Called on a value (`value.unwrap()`, `p->close()`)."""
    receiver: Node | None = None
    """The value a method is called on."""
    function: Function | None = None
    """The function around it; None at file scope."""
    order: tuple[int, ...] | None = None
    """Where the macro that is called puts its arguments; None when it keeps their order."""
    _arguments: list[Node] | None = None

    @property
    def arguments(self) -> list[Node]:
        """Argument expressions in the order of the function, comments left out."""
        if self._arguments is None:  # most calls are told by their name alone
            self._arguments = _arguments_of(self.node, self.order)
        return self._arguments

    def arg(self, index: int) -> Node | None:
        """The argument at `index` (negative from the end), or None."""
        try:
            return self.arguments[index]
        except IndexError:
            return None

    @property
    def statement(self) -> Node | None:
        """The expression statement when the result of the call is dropped, else None."""
        parent = self.node.parent
        return parent if parent is not None and parent.type == "expression_statement" else None

    @property
    def target(self) -> Node | None:
        """What the result is stored in: a declared name or the left side of `=`; else None."""
        parent = use_of(self.node)
        if parent is None:
            return None
        if parent.type == "init_declarator":
            node = parent.child_by_field_name("declarator")
            for _ in range(8):
                if node is None or node.type == "identifier":
                    return node
                node = node.child_by_field_name("declarator")
        if parent.type == "assignment_expression" and operator_of(parent) == "=":
            return parent.child_by_field_name("left")
        if parent.type == "let_declaration":
            return parent.child_by_field_name("pattern")
        return None


def call_at(unit: Unit, item: Item, node: Node, function: Function | None = None) -> Call | None:
    """The call a `call_expression` node makes, or None when what is called has no name."""
    callee = node.child_by_field_id(field_id(unit.language, "function"))
    named = None if callee is None else _name_in(callee)
    if callee is None or named is None:
        return None
    name_node, receiver = named
    name = "" if name_node is None else unit.text(name_node)
    order = None
    written = name
    if callee.type == "identifier":
        name, order = unit.facts.alias_of(name)
    else:
        written = text(callee)
        if callee.type == "qualified_identifier" and not _is_of_library(written):
            name = written  # a namesake of a library function
    return Call(unit, item, node, name, written, receiver is not None, receiver, function, order)


def _is_of_library(written: str) -> bool:
    """Whether a qualified name of C++ is of the standard library, or of no namespace."""
    return written.lstrip().startswith(("std::", "::"))


def called_name(node: Node) -> str:
    """The last name of what a `call_expression` calls; empty for anything else, and for what has
    no name."""
    return _last_name(node.child_by_field_name("function"))


def invoked_name(node: Node) -> str:
    """The same for a `macro_invocation` of Rust as well."""
    return called_name(node) or _last_name(node.child_by_field_name("macro"))


def _last_name(callee: Node | None) -> str:
    named = None if callee is None else _name_in(callee)
    return "" if named is None else text(named[0])


def _name_in(callee: Node) -> tuple[Node | None, Node | None] | None:
    """The last name in what is called, and the object whose method it is; None for what has no
    name."""
    receiver = None
    kind = callee.type
    if kind == "identifier":
        name_node: Node | None = callee
    elif kind == "field_expression":
        name_node = callee.child_by_field_name("field")
        receiver = callee.child_by_field_name("argument") or callee.child_by_field_name("value")
    elif kind in ("qualified_identifier", "scoped_identifier"):
        name_node = callee
        while (inner := name_node.child_by_field_name("name")) is not None:
            name_node = inner
    elif kind in ("template_function", "generic_function"):
        name_node = callee.child_by_field_name("name") or callee.child_by_field_name("function")
        if name_node is not None and name_node.type == "field_expression":
            receiver = name_node.child_by_field_name("value")
        while name_node is not None and (
            inner := name_node.child_by_field_name("name") or name_node.child_by_field_name("field")
        ):
            name_node = inner
    else:
        return None
    return name_node, receiver


def _arguments_of(call: Node, order: tuple[int, ...] | None) -> list[Node]:
    arguments = [
        child for child in (field(call, "arguments") or call).named_children
        if child.type not in ("comment", "line_comment", "block_comment")
    ]  # fmt: skip
    if order is None:
        return arguments
    return [arguments[i] for i in order if i < len(arguments)]
