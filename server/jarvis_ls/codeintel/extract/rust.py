"""Rust: functions and variables, unsafe scopes, SAFETY comments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.code import Function, Variable, ancestors, field, text
from jarvis_ls.codeintel.facts import Declared, Facts
from jarvis_ls.codeintel.parse import Node

DETAIL_QUERY = """
(identifier) @id
(let_declaration) @let
(assignment_expression) @assign
(call_expression) @call
(macro_invocation) @macro
(if_expression) @if
[(while_expression) (loop_expression) (for_expression)] @loop
(match_expression) @match
(unsafe_block) @unsafe
(unary_expression) @unary
(binary_expression) @binary
(index_expression) @index
(field_expression) @member
(type_cast_expression) @cast
(return_expression) @return
(block) @block
(reference_expression) @reference
"""

SAFETY = re.compile(r"(?i)\bsafety\b|安全性|安全[:：]|安全保证|安全说明|不变量")
"""A comment that argues why unsafe code is sound, in English or Chinese."""


def item_facts(node: Node) -> Facts | None:
    """What one top-level item declares to the rest of the file."""
    if node.type in ("function_item", "function_signature_item"):
        name = text(field(node, "name"))
        declared = Declared(name, text(field(node, "return_type")))
        return Facts(functions={name: declared}, defined=frozenset({name}))
    if node.type in ("const_item", "static_item"):
        name = text(field(node, "name"))
        mutable = any(c.type == "mutable_specifier" for c in node.children)
        words = ("mut " if mutable and node.type == "static_item" else "") + text(
            field(node, "type")
        )
        return Facts(
            variables={name: Declared(name, words)},
            macros={name: text(field(node, "value"))} if node.type == "const_item" else {},
        )
    return None


def variables(function: Function) -> Iterator[Variable]:
    """Parameters, then `let` bindings of a plain name, of a Rust function."""
    everywhere = (function.start, function.end)
    parameters = field(function.node, "parameters")
    for node in parameters.named_children if parameters is not None else ():
        pattern = field(node, "pattern")
        if node.type == "parameter" and pattern is not None:
            name = _plain_name(pattern)
            if name is not None:
                declared = Declared(text(name), text(field(node, "type")))
                yield Variable(declared, name, everywhere, None, is_parameter=True)
    for node in function.nodes("let"):
        name = _plain_name(field(node, "pattern"))
        if name is None:
            continue
        block = next((a for a in ancestors(node) if a.type == "block"), None)
        scope = (name.start_byte, block.end_byte if block is not None else function.end)
        declared = Declared(text(name), text(field(node, "type")))
        yield Variable(declared, name, scope, field(node, "value"), is_parameter=False)


def in_unsafe(node: Node) -> bool:
    """Whether `node` lies in an `unsafe` block or an `unsafe fn`."""
    for ancestor in ancestors(node):
        if ancestor.type == "unsafe_block":
            return True
        if ancestor.type == "function_item":
            modifiers = next((c for c in ancestor.children if c.type == "function_modifiers"), None)
            return "unsafe" in text(modifiers)
    return False


def has_safety_comment(node: Node, prefix: tuple[Node, ...] = ()) -> bool:
    """Whether a SAFETY comment stands on or directly above the statement of `node`.

    `prefix` are the comments above the item, for nodes that are items themselves.
    """
    if any(SAFETY.search(text(c)) for c in prefix if "comment" in c.type):
        return True
    statement = node
    for candidate in (node, *ancestors(node)):
        statement = candidate
        parent = candidate.parent
        if parent is None or parent.type in ("block", "declaration_list", "source_file"):
            break
        if candidate.type == "unsafe_block" and _comment_inside(candidate):
            return True
    return _comment_above(statement) or _comment_inside(statement)


def _comment_above(node: Node) -> bool:
    sibling = node.prev_sibling
    row = node.start_point[0]
    for _ in range(16):
        if sibling is None:
            return False
        if "comment" in sibling.type:
            if row - sibling.end_point[0] > 1:
                return False
            if SAFETY.search(text(sibling)):
                return True
        elif sibling.type != "attribute_item":
            return False
        row = sibling.start_point[0]
        sibling = sibling.prev_sibling
    return False


def _comment_inside(node: Node) -> bool:
    block = node if node.type == "block" else next(
        (c for c in node.named_children if c.type == "block"), None
    )  # fmt: skip
    if node.type == "expression_statement" and node.named_child_count:
        return _comment_inside(node.named_children[0])
    if block is None:
        return False
    return any("comment" in c.type and SAFETY.search(text(c)) for c in block.named_children[:2])


def _plain_name(pattern: Node | None) -> Node | None:
    if pattern is None:
        return None
    if pattern.type == "identifier":
        return pattern
    if pattern.type in ("mut_pattern", "ref_pattern", "captured_pattern"):
        return next((c for c in pattern.named_children if c.type == "identifier"), None)
    return None
