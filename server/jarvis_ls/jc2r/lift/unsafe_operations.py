"""Operations that Rust allows in `unsafe` only, one record for each message of the compiler."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.compiler import Message
from jarvis_ls.jc2r.lift.program import arguments_of
from jarvis_ls.jc2r.lift.rust import Source, bare, below, field, first, variable_of

MOVING = frozenset({"add", "sub", "offset", "offset_from"})
_PATH = re.compile(r"<.*>::|::<.*>")
_SCOPES = ("for_expression", "closure_expression", "match_arm")


class Kind(Enum):
    """What is done."""

    DEREFERENCE = "dereference"
    """Access through a raw pointer."""
    OFFSET = "offset"
    """A raw pointer moved within what it points into."""
    STATIC = "static"
    """Access to a `static mut`, or to a variable of C."""
    UNION = "union"
    """A member of a union read."""
    CALL = "call"
    """Call of an unsafe function."""
    OTHER = "other"
    """Assembly, and what is rarer still."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One place."""

    kind: Kind
    node: Node
    """The pointer that is dereferenced or moved, the call, the variable, or the member."""
    name: str = ""
    """The function that is called, without its path."""


def operation_of(source: Source, message: Message) -> Operation:
    """Return the operation that the compiler calls unsafe in a message."""
    text = message.text
    node = source.root.descendant_for_byte_range(message.start, message.end) or source.root
    if text.startswith("dereference of raw pointer"):
        return Operation(Kind.DEREFERENCE, _pointer_of(node))
    if text.startswith(("use of mutable static", "use of extern static")):
        return Operation(Kind.STATIC, node)
    if text.startswith("access to union field"):
        return Operation(Kind.UNION, bare(node) or node)
    if text.startswith("call to unsafe function"):
        named = re.search(r"`([^`]*)`", text)
        name = "" if named is None else _PATH.sub("", named[1]).rsplit("::", 1)[-1]
        call = _call_of(node)
        if name in MOVING and (moved := _receiver(call)) is not None:
            return Operation(Kind.OFFSET, moved, name)
        return Operation(Kind.CALL, call, name)
    return Operation(Kind.OTHER, node)


def base_of(source: Source, pointer: Node) -> tuple[Node, list[str]]:
    """Return the pointer that another is computed from, and by how much it is moved: of
    `(p as *mut u8).offset(i)` the `p` and `i`."""
    moved: list[str] = []
    node = bare(pointer) or pointer
    while True:
        inner: Node | None = None
        if node.type == "type_cast_expression":
            inner = bare(field(node, "value"))
        elif node.type == "call_expression" and (value := _receiver(node)) is not None:
            method = field(node, "function")
            name = None if method is None else field(method, "field")
            if name is not None and source.text(name).decode() in MOVING | {"wrapping_offset"}:
                moved += [flat(source.text(by)) for by in arguments_of(node)]
                inner = bare(value)
        elif node.type == "block" and node.named_children:  # `{ let old = p; p = …; old }`
            begun = node.named_children[0]
            inner = bare(field(begun, "value")) if begun.type == "let_declaration" else None
        if inner is None:
            return node, moved
        node = inner


def root_of(node: Node) -> Node:
    """Return the variable that a place is part of: of `(*s.a[3]).b` it is `s`."""
    while True:
        inner: Node | None = None
        if node.type in ("field_expression", "reference_expression", "type_cast_expression"):
            inner = field(node, "value")
        elif node.type in ("index_expression", "unary_expression", "parenthesized_expression"):
            inner = first(node)
        elif node.type == "call_expression":
            inner = _receiver(node)
        if inner is None:
            return node
        node = inner


def declaration_of(source: Source, name: Node) -> Node | None:
    """Return the `let`, parameter, loop or closure that declares a local variable where it is
    named; None when no such thing does, as for a `static`."""
    text = source.text(name)
    node = name
    while (parent := node.parent) is not None:
        if parent.type == "block":
            before = node.prev_named_sibling
            while before is not None:
                if before.type == "let_declaration" and variable_of(source, before) == text:
                    return before
                before = before.prev_named_sibling
        elif parent.type == "function_item":
            parameters = field(parent, "parameters")
            found = () if parameters is None else below(parameters, "parameter")
            return next((p for p in found if variable_of(source, p) == text), None)
        elif parent.type in _SCOPES:
            patterns = [field(parent, "pattern"), field(parent, "parameters")]
            if any(
                source.text(inner) == text
                for pattern in patterns
                if pattern is not None and pattern != node
                for inner in below(pattern, "identifier")
            ):
                return parent
        node = parent
    return None


def flat(text: bytes) -> str:
    """Return code on one line."""
    return " ".join(text.decode("utf-8", "replace").split())


def _pointer_of(node: Node) -> Node:
    """Return the pointer in what may be `*p`, `(*p).a`, or only a part of it."""
    at: Node | None = node
    if node.type in ("assignment_expression", "compound_assignment_expr"):
        at = node = field(node, "left") or node
    while at is not None and at.type in (
        "parenthesized_expression",
        "field_expression",
        "index_expression",
    ):
        at = field(at, "value") if at.type == "field_expression" else first(at)
    star = at if at is not None else node
    if star.type == "unary_expression" and star.children[0].type == "*":
        return bare(first(star)) or star
    return star


def _call_of(node: Node) -> Node:
    """Return the call that a place of the compiler means."""
    inner = bare(node) or node
    if inner.type == "expression_statement":
        inner = bare(first(inner)) or inner
    while (
        inner.type != "call_expression"
        and inner.parent is not None
        and (inner.parent.start_byte <= inner.start_byte or inner.parent.type == "call_expression")
        and inner.parent.type != "block"
    ):
        inner = inner.parent
    return inner


def _receiver(call: Node) -> Node | None:
    """Return the value whose method is called."""
    method = field(call, "function") if call.type == "call_expression" else None
    return None if method is None or method.type != "field_expression" else field(method, "value")
