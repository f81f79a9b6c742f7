"""Texts, and tables of them, that nothing changes: `&CStr` in place of pointers.

`static mut NAMES: [*const i8; 2]` of written texts becomes `static NAMES: [&CStr; 2]` where each
use in the crate reads an element, and C does not know the name. Where null is among the texts,
elements are optional.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.program import outermost
from jarvis_ls.jc2r.lift.rust import Say, Source, bare, below, field, first, rewritten
from jarvis_ls.jc2r.lift.variable_uses import attributes_of, function_name, is_in_pattern, uses_of

TEXT = b"&core::ffi::CStr"
_TYPE = re.compile(rb"(\[*)\*(mut|const) i8((?:; ?\w+\])*)\Z")
_NULL = re.compile(rb"core::ptr::null(?:_mut)?\(\)\Z")


@dataclass(frozen=True, slots=True)
class _Table:
    item: Node
    depth: int
    """How many indices lead to a text."""
    mutable: bool
    """Whether its pointers are to what may be changed."""
    optional: bool
    """Whether null is one of them."""


def text_tables(sources: list[Source], excluded: Set[str]) -> dict[int, bytes]:
    """Return new texts by the index of their file; functions whose names are `excluded` stay, with
    what they use."""
    tables = {
        table.item.id: (number, table)
        for number, source in enumerate(sources)
        for item in below(source.root, "static_item")
        if (table := _begin(source, item)) is not None
    }
    uses = uses_of(sources, [(number, table.item) for number, table in tables.values()])
    chosen: dict[int, _Table] = {}
    elements: dict[tuple[int, int], _Table] = {}
    for key, (_, table) in tables.items():
        found = [(number, _element(use, table.depth)) for number, use in uses[key]]
        known = all(
            element is not None
            and _is_read(element)
            and function_name(element) not in ({""} | excluded)
            for _, element in found
        )
        if known:
            chosen[key] = table
            elements |= {(number, node.id): table for number, node in found if node is not None}
    made = {}
    for number, source in enumerate(sources):
        text = _text(source, number, chosen, elements) if chosen else source.data
        if text != source.data:
            made[number] = text
    return made


def _begin(source: Source, item: Node) -> _Table | None:
    kind, value = field(item, "type"), field(item, "value")
    if kind is None or value is None or any(attributes_of(source, item)):
        return None
    match = _TYPE.match(b" ".join(source.text(kind).split()))
    if match is None or source.path.stem == "sys":
        return None
    leaves = list(_leaves(value, len(match[1])))
    texts = [_literal(source, leaf) for leaf in leaves]
    nulls = [_NULL.match(source.text(leaf)) is not None for leaf in leaves]
    if not any(texts) or not all(text or null for text, null in zip(texts, nulls, strict=True)):
        return None
    return _Table(item, len(match[1]), match[2] == b"mut", any(nulls))


def _leaves(value: Node, depth: int) -> list[Node]:
    """Return the parts of an initial value that are no arrays."""
    node = _without_block(value)
    if depth == 0:
        return [node]
    if node.type != "array_expression":
        return []
    parts = [node.named_children[0]] if b";" in _signs(node) else node.named_children
    parts = [part for part in parts if "comment" not in part.type]
    return [leaf for part in parts for leaf in _leaves(part, depth - 1)]


def _signs(node: Node) -> set[bytes]:
    return {child.type.encode() for child in node.children}


def _without_block(value: Node) -> Node:
    """Return what an `unsafe` block around one value has in it."""
    node = bare(value) or value
    if node.type == "unsafe_block":
        block = first(node)
        inner = None if block is None or block.named_child_count != 1 else first(block)
        return node if inner is None else inner
    return node


def _literal(source: Source, leaf: Node) -> bytes:
    """Return the text whose address a value is, with its quotes; empty when it is something
    else."""
    node: Node | None = leaf
    while node is not None and node.type == "type_cast_expression":
        node = bare(field(node, "value"))
    method = None if node is None else field(node, "function")
    text = None if method is None else bare(field(method, "value"))
    name = None if method is None else field(method, "field")
    if text is None or text.type != "string_literal" or name is None:
        return b""
    if source.text(name) != b"as_ptr":
        return b""
    said = source.text(text)
    if said.startswith(b'c"'):
        return said
    inner = said[2:-3] if said.startswith(b'b"') and said.endswith(b'\\0"') else b"\\0"
    return b"" if b"\\0" in inner or b"\\x00" in inner else b'c"' + inner + b'"'


def _element(use: Node, depth: int) -> Node | None:
    """Return the text that a use of a table leads to; None when it is no text."""
    if is_in_pattern(use):
        return None
    node = use
    for _ in range(depth):
        whole = outermost(node)
        around = whole.parent
        if around is None or around.type != "index_expression" or first(around) != whole:
            return None
        if around.named_children[-1].type == "range_expression":
            return None
        node = around
    return node


def _is_read(element: Node) -> bool:
    """Return whether a text is nothing but read at a place."""
    whole = outermost(element)
    around = whole.parent
    if around is None or around.type in ("reference_expression", "index_expression"):
        return False
    if around.type in ("assignment_expression", "compound_assignment_expr"):
        return field(around, "left") != whole
    return True


def _text(
    source: Source,
    number: int,
    chosen: dict[int, _Table],
    elements: dict[tuple[int, int], _Table],
) -> bytes:
    def rule(node: Node, say: Say) -> bytes | None:
        if node.type == "static_item" and node.id in chosen:
            return _declaration(source, chosen[node.id])
        if node.type == "call_expression":
            method = field(node, "function")
            value = None if method is None else bare(field(method, "value"))
            name = None if method is None else field(method, "field")
            table = None if value is None else elements.get((number, value.id))
            if value is not None and table is not None and name is not None:
                if source.text(name) != b"is_null":
                    return None
                return _plain(value, say) + b".is_none()" if table.optional else b"false"
        if node.type == "type_cast_expression":
            value, kind = bare(field(node, "value")), field(node, "type")
            table = None if value is None else elements.get((number, value.id))
            same = kind is not None and source.text(kind) == b"*const i8"
            if value is not None and table is not None and same:
                return _pointer(table, _plain(value, say), constant=True)
        if (table := elements.get((number, node.id))) is not None:
            return _pointer(table, _plain(node, say), constant=not table.mutable)
        return None

    def _plain(node: Node, say: Say) -> bytes:
        parts, at = [], node.start_byte
        for child in node.children:
            parts += [source.data[at : child.start_byte], say(child)]
            at = child.end_byte
        return b"".join([*parts, source.data[at : node.end_byte]])

    root = source.root
    text = rewritten(source.data, root, rule)
    return source.data[: root.start_byte] + text + source.data[root.end_byte :]


def _pointer(table: _Table, place: bytes, *, constant: bool) -> bytes:
    text = place + b".as_ptr()"
    if table.optional:
        text = place + b".map_or(core::ptr::null(), core::ffi::CStr::as_ptr)"
    return text if constant else text + b".cast_mut()"


def _declaration(source: Source, table: _Table) -> bytes:
    kind, value = field(table.item, "type"), field(table.item, "value")
    assert kind is not None and value is not None
    element = b"Option<" + TEXT + b">" if table.optional else TEXT
    shown = source.data[table.item.start_byte : kind.start_byte].replace(b"static mut ", b"static ")
    new_kind = re.sub(rb"\*(?:mut|const) i8", element, source.text(kind))
    leaves = {leaf.id for leaf in _leaves(value, table.depth)}

    def rule(node: Node, _: Say) -> bytes | None:
        if node.id not in leaves:
            return None
        text = _literal(source, node)
        if not table.optional:
            return text
        return b"Some(" + text + b")" if text else b"None"

    return shown + new_kind + b" = " + rewritten(source.data, _without_block(value), rule) + b";"
