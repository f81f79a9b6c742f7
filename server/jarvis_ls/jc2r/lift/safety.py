"""`unsafe` in the text of files: taken from functions, put around single statements, explained."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.compiler import Message
from jarvis_ls.jc2r.lift.rust import Source, below, field, first, name_of
from jarvis_ls.jc2r.lift.safety_comments import demand, reason
from jarvis_ls.jc2r.lift.soundness import Types, proof_of_block
from jarvis_ls.jc2r.lift.unsafe_operations import Operation, operation_of

_EVALUATED = b"// SAFETY: the compiler evaluates this, and accepts nothing undefined in it.\n"
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


def without_unsafe(source: Source, kept: Set[str]) -> bytes:
    """Return the file with every function safe but those `kept`, by name."""
    parts, at = [], 0
    for function in source.functions:
        word = unsafe_word(function)
        if word is None or name_of(function) in kept:
            continue
        parts.append(source.data[at : word.start_byte])
        at = word.end_byte + 1
    return b"".join([*parts, source.data[at:]])


def with_unsafe(source: Source, names: Set[str]) -> bytes:
    """Return the file with the functions of these names unsafe."""
    parts, at = [], 0
    for function in source.functions:
        if unsafe_word(function) is not None or name_of(function) not in names:
            continue
        word = next(c for c in function.children if c.type in ("function_modifiers", "fn"))
        parts += [source.data[at : word.start_byte], b"unsafe "]
        at = word.start_byte
    return b"".join([*parts, source.data[at:]])


def unsafe_word(function: Node) -> Node | None:
    """Return the word `unsafe` of a function; None when it is safe."""
    modifiers = next((c for c in function.children if c.type == "function_modifiers"), None)
    found = () if modifiers is None else modifiers.children
    return next((child for child in found if child.type == "unsafe"), None)


def narrow_unsafe(
    source: Source, messages: Sequence[Message], explain: Callable[[list[Operation]], bytes]
) -> bytes:
    """Return the file with what the compiler calls unsafe in blocks of its own, each with the
    comment that `explain` makes of its operations."""
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
        comment = explain(
            [operation_of(source, message) for _, messages in group for message in messages]
        )
        text, close = source.data[begin.start_byte : end.end_byte], b" }"
        if len(group) == 1 and _may_be_value(begin):
            text, close = text.removesuffix(b";"), b" };"  # rustfmt leaves that on one line
        line = _line(begin)
        if line is None or line < at:  # it is where no comment goes before
            parts += [source.data[at : begin.start_byte], b"unsafe { ", comment, text, close]
        else:
            parts += [
                source.data[at:line],
                comment,
                source.data[line : begin.start_byte],
                b"unsafe { ",
                text,
                close,
            ]
        at = end.end_byte
    return b"".join([*parts, source.data[at:]])


def _may_be_value(statement: Node) -> bool:
    """Return whether a statement is an expression with `;` behind it that goes on."""
    inner = first(statement) if statement.type == "expression_statement" else None
    return (
        inner is not None
        and statement.children[-1].type == ";"
        and inner.type in ("call_expression", "assignment_expression", "compound_assignment_expr")
    )


def explain_unsafe(source: Source, types: Types) -> bytes:
    """Return the file with a reason above values that the translation itself made in `unsafe`."""
    parts, at = [], 0
    for block in below(source.root, "unsafe_block"):
        place: Node | None = block
        while place is not None and not _is_in_block(place):
            place = place.parent
        if place is None or place.start_byte < at or _is_explained(place):
            continue
        if proof := proof_of_block(source, block, types):
            parts += [source.data[at : place.start_byte], reason([proof])]
            at = place.start_byte
    return b"".join([*parts, source.data[at:]])


def _is_in_block(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "block"


def plain_values(source: Source, kept: Set[str]) -> bytes:
    """Return the file with the values of its variables and constants out of `unsafe`, but for those
    in `kept`, by name, which have a comment above them."""
    parts, at = [], 0
    for item in below(source.root, "static_item", "const_item"):
        value = field(item, "value")
        block = None if value is None or value.type != "unsafe_block" else first(value)
        inner = None if block is None or block.named_child_count != 1 else first(block)
        if value is None or inner is None or inner.type.endswith(("statement", "declaration")):
            continue
        if name_of(item) not in kept:
            parts += [source.data[at : value.start_byte], source.text(inner)]
            at = value.end_byte
        elif not _is_explained(item):
            parts += [source.data[at : item.start_byte], _EVALUATED]
            at = item.start_byte
    return b"".join([*parts, source.data[at:]])


def unsafe_values(source: Source, messages: Sequence[Message]) -> set[str]:
    """Return the variables and constants whose value the compiler calls unsafe."""
    return {
        name_of(item)
        for item in below(source.root, "static_item", "const_item")
        if any(
            message.path == source.path and item.start_byte <= message.start < item.end_byte
            for message in messages
        )
    }


def demanding(source: Source, operations: Mapping[str, list[Operation]]) -> bytes:
    """Return the file where each function that stays unsafe says what its callers have to keep, by
    the operations in it."""
    parts, at = [], 0
    for function in source.functions:
        if unsafe_word(function) is None:
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
        blank = b"///\n" if place != head else b""
        said = blank + demand(source, function, operations.get(name_of(function), []))
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
