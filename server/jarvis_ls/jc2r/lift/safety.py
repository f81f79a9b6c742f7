"""`unsafe fn` becomes `fn` where the compiler finds nothing unsafe, and where only some statements
are and nobody can hand in a bad pointer, these alone stand in `unsafe`, with the reason."""

from __future__ import annotations

from collections.abc import Sequence

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.compiler import Message
from jarvis_ls.jc2r.lift.rust import Source, below, field, first, name_of

_WHOLE = frozenset({"if_expression", "match_expression", "block", "unsafe_block", "loop_expression",
                    "while_expression", "for_expression"})  # fmt: skip
_REASONS = {
    "dereference of raw pointer": "the pointer is valid here as it is in the C",
    "use of mutable static": "the C shares this variable in the same way, from one thread",
    "call to unsafe function": "it is called with what the C calls it with",
    "access to union field": "the C reads this member of the union",
}


def without_unsafe(one: Source, kept: set[str]) -> bytes:
    """The file with every function safe that is handed no raw pointer, but for those `kept`."""
    parts, at = [], 0
    for function in one.functions:
        modifiers = next((c for c in function.children if c.type == "function_modifiers"), None)
        word = None if modifiers is None else (
            next((c for c in modifiers.children if c.type == "unsafe"), None))  # fmt: skip
        if word is None or name_of(function) in kept or not _is_harmless(function):
            continue
        parts.append(one.data[at : word.start_byte])
        at = word.end_byte + 1
    return b"".join([*parts, one.data[at:]])


def narrowed(one: Source, messages: Sequence[Message]) -> bytes:
    """The file with what the compiler calls unsafe in blocks of its own."""
    wrapped: dict[tuple[int, int], tuple[Node, set[str]]] = {}
    for message in messages:
        node = one.root.descendant_for_byte_range(message.start, message.end)
        place = _statement(node)
        if place is not None:
            reason = next(
                (why for what, why in _REASONS.items() if what in message.text), "as in C"
            )
            key = (place.start_byte, place.end_byte)
            wrapped.setdefault(key, (place, set()))[1].add(reason)
    parts, at = [], 0
    for group in _groups([wrapped[key] for key in sorted(wrapped)]):
        begin, end = group[0][0], group[-1][0]
        if begin.start_byte < at:
            continue  # inside of what stands in `unsafe` already
        reasons = sorted({why for _, whys in group for why in whys})
        comment = f"// SAFETY: {'; '.join(reasons)}.\n".encode()
        text = one.data[begin.start_byte : end.end_byte]
        before = comment if begin.type == "expression_statement" else b""
        parts += [one.data[at : begin.start_byte], before, b"unsafe { ", text, b" }"]
        at = end.end_byte
    return b"".join([*parts, one.data[at:]])


def _is_harmless(function: Node) -> bool:
    """Whether nobody can hand it what makes it unsafe."""
    if field(function, "type_parameters") is not None:
        return False  # what it makes of a type is up to who calls it
    parameters = field(function, "parameters")
    return parameters is not None and not any(True for _ in below(parameters, "pointer_type"))


def _groups(found: list[tuple[Node, set[str]]]) -> list[list[tuple[Node, set[str]]]]:
    """Statements that follow each other stand together."""
    groups: list[list[tuple[Node, set[str]]]] = []
    for one in found:
        last = groups[-1][-1][0] if groups else None
        if last is not None and last.type == one[0].type == "expression_statement" and (
            last.next_named_sibling == one[0]
        ):  # fmt: skip
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _statement(node: Node | None) -> Node | None:
    """The smallest part around a place that may stand in a block of its own."""
    while node is not None and node.parent is not None:
        parent = node.parent
        if node.type == "expression_statement":
            inner = first(node)
            return node if inner is None or inner.type not in _WHOLE else None
        if parent.type == "let_declaration":
            return node if field(parent, "value") == node else None
        if parent.type in ("if_expression", "while_expression") and (
            field(parent, "condition") == node
        ):  # fmt: skip
            return node
        if parent.type == "match_expression" and field(parent, "value") == node:
            return node
        if parent.type == "block" and node.type not in _WHOLE:
            return node
        if parent.type == "match_arm" and field(parent, "value") == node and (
            node.type not in _WHOLE
        ):  # fmt: skip
            return node
        if parent.type == "function_item":
            return None
        node = parent
    return None
