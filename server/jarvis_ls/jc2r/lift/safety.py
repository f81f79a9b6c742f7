"""`unsafe fn` becomes `fn` where the compiler finds nothing unsafe, and where only some statements
are and no one can hand in a bad pointer, these alone are in `unsafe`, with the reason."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.compiler import Message
from jarvis_ls.jc2r.lift.rust import Source, below, field, first, name_of, variable_of
from jarvis_ls.jc2r.lift.safety_comments import demand, reason

_ZEROED = re.compile(rb"^unsafe \{\s*core::mem::zeroed::<(.+)>\(\)\s*\}$", re.DOTALL)
_SIGNED = re.compile(rb"^unsafe \{\s*core::mem::transmute::<\[u8; \w+\], \[i8; \w+\]>\(", re.DOTALL)
"""Letters of C in an array of their own."""
_WHOLE = frozenset(
    {
        "if_expression",
        "match_expression",
        "block",
        "unsafe_block",
        "loop_expression",
        "while_expression",
        "for_expression",
    }
)


def without_unsafe(source: Source, kept: set[str]) -> bytes:
    """Return the file with every function safe that is handed no raw pointer, but for those
    `kept`.
    """
    parts, at = [], 0
    for function in source.functions:
        modifiers = next((c for c in function.children if c.type == "function_modifiers"), None)
        word = (
            None
            if modifiers is None
            else (next((c for c in modifiers.children if c.type == "unsafe"), None))
        )
        if word is None or name_of(function) in kept or not _is_harmless(function):
            continue
        parts.append(source.data[at : word.start_byte])
        at = word.end_byte + 1
    return b"".join([*parts, source.data[at:]])


def narrow_unsafe(source: Source, messages: Sequence[Message]) -> bytes:
    """Return the file with what the compiler calls unsafe in blocks of its own."""
    wrapped: dict[tuple[int, int], tuple[Node, list[Message]]] = {}
    for message in sorted(messages, key=lambda message: message.start):
        node = source.root.descendant_for_byte_range(message.start, message.end)
        place = _statement(node)
        if place is not None:
            key = (place.start_byte, place.end_byte)
            wrapped.setdefault(key, (place, []))[1].append(message)
    parts, at = [], 0
    for group in _groups([wrapped[key] for key in sorted(wrapped)]):
        begin, end = group[0][0], group[-1][0]
        if begin.start_byte < at:
            continue  # inside of what is in `unsafe` already
        comment = reason(source, [message for _, messages in group for message in messages])
        text = source.data[begin.start_byte : end.end_byte]
        line = _line(begin)
        if line is None or line < at:  # it is where no comment goes before
            parts += [source.data[at : begin.start_byte], b"unsafe { ", comment, text, b" }"]
        else:
            parts += [
                source.data[at:line],
                comment,
                source.data[line : begin.start_byte],
                b"unsafe { ",
                text,
                b" }",
            ]
        at = end.end_byte
    return b"".join([*parts, source.data[at:]])


def explain_unsafe(source: Source) -> bytes:
    """Return the file with a reason above values that the translation itself made in `unsafe`."""
    parts, at = [], 0
    for block in below(source.root, "unsafe_block"):
        zeroed, signed = (form.search(source.text(block)) for form in (_ZEROED, _SIGNED))
        place: Node | None = block
        while place is not None and not _is_in_block(place):
            place = place.parent
        if place is None or place.start_byte < at or _is_explained(place):
            continue
        if zeroed is not None:
            said = b"// SAFETY: all of `" + zeroed[1] + b"` may be zero.\n"
        elif signed is not None:
            said = b"// SAFETY: as many bytes, and each may be an `i8`.\n"
        else:
            continue
        parts += [source.data[at : place.start_byte], said]
        at = place.start_byte
    return b"".join([*parts, source.data[at:]])


def _is_in_block(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "block"


def plain_values(source: Source, kept: dict[str, bytes]) -> bytes:
    """Return the file with the values of its variables and constants out of `unsafe`, but for those
    in
    `kept`, which have the comment there above them."""
    parts, at = [], 0
    for item in source.root.children:
        value = field(item, "value") if item.type in ("static_item", "const_item") else None
        block = None if value is None or value.type != "unsafe_block" else first(value)
        inner = None if block is None or block.named_child_count != 1 else first(block)
        if value is None or inner is None or inner.type.endswith(("statement", "declaration")):
            continue
        if (said := kept.get(name_of(item))) is None:
            parts += [source.data[at : value.start_byte], source.text(inner)]
            at = value.end_byte
        elif not _is_explained(item):
            zeroed = _ZEROED.search(source.text(value))
            zero = b"" if zeroed is None else b"// SAFETY: all of it may be zero.\n"
            parts += [source.data[at : item.start_byte], zero or said]
            at = item.start_byte
    return b"".join([*parts, source.data[at:]])


def without_reason(source: Source, messages: Sequence[Message]) -> dict[str, bytes]:
    """Return the variables and constants whose value the compiler calls unsafe, with the reason."""
    return {
        name_of(item): reason(source, mine)
        for item in source.root.children
        if item.type in ("static_item", "const_item")
        and (
            mine := [
                message
                for message in messages
                if message.path == source.path and item.start_byte <= message.start < item.end_byte
            ]
        )
    }


def demanding(source: Source) -> bytes:
    """Return the file where each function that stays unsafe says what it wants of its callers."""
    parts, at = [], 0
    for function in source.functions:
        modifiers = next((c for c in function.children if c.type == "function_modifiers"), None)
        if modifiers is None or not any(c.type == "unsafe" for c in modifiers.children):
            continue
        place, told = function, False
        while (before := place.prev_sibling) is not None and (
            before.type in ("attribute_item", "line_comment")
        ):
            told = told or b"# Safety" in source.text(before)
            if before.type == "line_comment" and not source.text(before).startswith(b"///"):
                break
            place = before
        if told:
            continue
        head = function
        while (before := head.prev_sibling) is not None and before.type == "attribute_item":
            head = before
        parameters = field(function, "parameters")
        pointers = [
            variable_of(source, parameter).decode()
            for parameter in (() if parameters is None else below(parameters, "parameter"))
            if any(True for _ in below(parameter, "pointer_type"))
        ]
        blank = b"///\n" if place != head else b""
        said = blank + b"/// # Safety\n///\n" + demand([name for name in pointers if name])
        parts += [source.data[at : head.start_byte], said]
        at = head.start_byte
    return b"".join([*parts, source.data[at:]])


def _is_explained(place: Node) -> bool:
    before = place.prev_sibling
    return (
        before is not None
        and before.type == "line_comment"
        and (before.end_point.row >= place.start_point.row - 1)
    )


def _line(begin: Node) -> int | None:
    """Return where the statement begins that a comment on a part of it goes before; None when that
    is another's place, as of an `else if` or of an arm.
    """
    parent = begin.parent
    if begin.type == "expression_statement" or parent is None or parent.type == "block":
        return begin.start_byte
    if parent.type == "let_declaration":
        return parent.start_byte
    above = parent.parent
    if parent.type in ("if_expression", "while_expression", "match_expression") and (
        above is not None and above.type == "expression_statement"
    ):
        return above.start_byte
    return None


def _is_harmless(function: Node) -> bool:
    """Return whether no one can hand it what makes it unsafe."""
    if field(function, "type_parameters") is not None:
        return False  # what it makes of a type is up to who calls it
    parameters = field(function, "parameters")
    return parameters is not None and not any(True for _ in below(parameters, "pointer_type"))


def _groups(found: list[tuple[Node, list[Message]]]) -> list[list[tuple[Node, list[Message]]]]:
    """Statements that follow each other are together."""
    groups: list[list[tuple[Node, list[Message]]]] = []
    for statement in found:
        last = groups[-1][-1][0] if groups else None
        if (
            last is not None
            and last.type == statement[0].type == "expression_statement"
            and (last.next_named_sibling == statement[0])
        ):
            groups[-1].append(statement)
        else:
            groups.append([statement])
    return groups


def _statement(node: Node | None) -> Node | None:
    """Return the smallest part around a place that may be in a block of its own."""
    while node is not None and node.parent is not None:
        parent = node.parent
        if node.type == "expression_statement":
            inner = first(node)
            return node if inner is None or inner.type not in _WHOLE else None
        if parent.type == "let_declaration":
            return node if field(parent, "value") == node else None
        if parent.type in ("if_expression", "while_expression") and (
            field(parent, "condition") == node
        ):
            return node
        if parent.type == "match_expression" and field(parent, "value") == node:
            return node
        if parent.type == "block" and node.type not in _WHOLE:
            return node
        if (
            parent.type == "match_arm"
            and field(parent, "value") == node
            and (node.type not in _WHOLE)
        ):
            return node
        if parent.type == "function_item":
            return None
        node = parent
    return None
