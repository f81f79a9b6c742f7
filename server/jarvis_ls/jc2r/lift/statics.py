"""`static mut` that nothing writes to.

A number, or a table of them, of which that is true, though functions may be lent its address to
read there, becomes a `static`, and a pointer to a text of which only elements are read, the text:
where the variable is private to a file, so that every use of it is seen, and where its address is
never taken. Numbers that are written are atomics (`atomics.py`).
"""

from __future__ import annotations

import re
from collections.abc import Set

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.program import element_of, outermost
from jarvis_ls.jc2r.lift.rust import (
    Say,
    Source,
    bare,
    below,
    field,
    first,
    name_of,
    rewritten,
)

_LETTERS = re.compile(rb"\*(?:const|mut) ([iu]8)\Z")
_PLAIN = re.compile(rb"[iu](?:8|16|32|64|128|size)|f32|f64|bool|usize")
_READING = re.compile(
    rb"wrapping_\w+|rotate_\w+|swap_bytes|count_ones|leading_zeros|trailing_zeros|is_some|is_none"
)


def statics(sources: list[Source]) -> dict[int, bytes]:
    """Return new texts by the index of their file."""
    shared = _without_pointers(sources)
    made = {}
    for number, source in enumerate(sources):
        text = _rewrite(source, shared)
        if text != source.data:
            made[number] = text
    return made


def _rewrite(source: Source, shared: Set[bytes]) -> bytes:
    uses: dict[bytes, list[Node]] = {}
    for node in below(source.root, "identifier"):
        uses.setdefault(source.text(node), []).append(node)
    tables: set[bytes] = set()
    texts: dict[bytes, tuple[bytes, bytes]] = {}
    for item in below(source.root, "static_item"):
        name, kind = name_of(item).encode(), field(item, "type")
        mutable = any(child.type == "mutable_specifier" for child in item.children)
        places = [node for node in uses.get(name, ()) if node.parent != item]
        if kind is None or not mutable or _is_visible(item) or len(places) + 1 != len(uses[name]):
            continue
        if any(_is_declared(node) for node in places):
            continue
        value = field(item, "value")
        letter = _LETTERS.match(source.text(kind))
        if letter is not None and value is not None:
            literal = _literal(source, value)
            if literal and all(_is_element(source, node) for node in places):
                texts[name] = letter[1], literal
        elif _is_only_read(source, kind, places, shared):
            tables.add(name)

    def rule(node: Node, say: Say) -> bytes | None:
        if node.type == "static_item" and name_of(node).encode() in tables:
            word = next(child for child in node.children if child.type == "mutable_specifier")
            text = source.data[node.start_byte : word.start_byte]
            return text + source.data[word.end_byte : node.end_byte].lstrip()
        if node.type == "static_item" and (name := name_of(node).encode()) in texts:
            return b"static " + name + b": &[u8] = " + texts[name][1] + b";"
        if node.type == "type_cast_expression" and (name := _lent_name(source, node)) in tables:
            target = field(node, "type")
            kind = b"" if target is None else b" as " + source.text(target)
            return b"(" + name + b".as_ptr()" + kind + b")"
        if node.type == "unary_expression" and (name := _pointer_name(source, node)) in texts:
            element = _element(source, node)
            index = b"" if element is None else say(element)
            return b"(" + name + b"[" + index + b" as usize] as " + texts[name][0] + b")"
        return None

    return rewritten(source.data, source.root, rule) if tables or texts else source.data


def _literal(source: Source, value: Node) -> bytes:
    """Return the text whose address a value is; empty when it is something else."""
    node: Node | None = value
    if value.type == "unsafe_block":
        block = first(value)
        node = None if block is None or block.named_child_count != 1 else first(block)
    node = bare(node)
    while node is not None and node.type == "type_cast_expression":
        node = bare(field(node, "value"))
    method = None if node is None else field(node, "function")
    text = None if method is None else bare(field(method, "value"))
    if method is None or text is None or text.type != "string_literal":
        return b""
    name = field(method, "field")
    return source.text(text) if name is not None and source.text(name) == b"as_ptr" else b""


def _is_element(source: Source, node: Node) -> bool:
    """Return whether a pointer is as in `*pointer.offset(index as isize)`, which is only read."""
    if element_of(source, node) is None:
        return False
    star = node
    while star.parent is not None and star.type != "unary_expression":
        star = star.parent
    whole = outermost(star)
    around = whole.parent
    return around is not None and not (
        around.type in ("assignment_expression", "compound_assignment_expr")
        and field(around, "left") == whole
    )


def _pointer_name(source: Source, star: Node) -> bytes:
    """Return the name in `*name.offset(index)`; empty when it is nothing like that."""
    call = bare(first(star)) if star.children[0].type == "*" else None
    method = None if call is None else field(call, "function")
    value = None if method is None else bare(field(method, "value"))
    return source.text(value) if value is not None and value.type == "identifier" else b""


def _element(source: Source, star: Node) -> Node | None:
    call = bare(first(star))
    method = None if call is None else field(call, "function")
    name = None if method is None else bare(field(method, "value"))
    return None if name is None else element_of(source, name)


def _is_only_read(source: Source, kind: Node, places: list[Node], shared: Set[bytes]) -> bool:
    """Return whether a number or a table is only read, at all places that name it."""
    if _PLAIN.fullmatch(source.text(kind)):
        return all(_is_read(source, node) for node in places)
    return _is_table(source, kind, shared) and all(
        _only_reads(source, node) or _is_lent(source, node) for node in places
    )


def _is_visible(item: Node) -> bool:
    """Return whether other files, or C, may name it."""
    before = item.prev_sibling
    return (
        any(child.type == "visibility_modifier" for child in item.children)
        or (before is not None and before.type == "attribute_item")
        or (item.parent is not None and item.parent.type == "declaration_list")
    )


def _is_declared(node: Node) -> bool:
    """Return whether a name is that of another variable, or is where no expression is."""
    parent = node.parent
    if parent is None or parent.type in ("token_tree", "scoped_identifier", "closure_parameters"):
        return True
    return parent.type in (
        "let_declaration",
        "parameter",
        "for_expression",
        "mut_pattern",
    ) and (field(parent, "pattern") == node or parent.type == "mut_pattern")


def _is_plain_use(source: Source, node: Node) -> bool:
    """Return whether a number is read, or given a value by a statement of its own."""
    parent = node.parent
    if parent is None or parent.type == "reference_expression":
        return False
    if parent.type == "compound_assignment_expr":
        return field(parent, "left") != node
    if parent.type == "assignment_expression" and field(parent, "left") == node:
        return parent.parent is not None and parent.parent.type == "expression_statement"
    if parent.type == "field_expression":
        return _is_read_by_method(source, parent)
    if parent.type == "parenthesized_expression":
        return _is_plain_use(source, parent)
    return True


def _is_read(source: Source, node: Node) -> bool:
    """Return whether a number is read at a place."""
    around = node.parent
    while around is not None and around.type == "parenthesized_expression":
        node, around = around, around.parent
    changed = around is not None and around.type in (
        "assignment_expression",
        "compound_assignment_expr",
    )
    return _is_plain_use(source, node) and not (
        changed and around is not None and field(around, "left") == node
    )


def _only_reads(source: Source, node: Node) -> bool:
    """Return whether nothing is written to a table, and no address of it taken, at a place."""
    element = False
    while (parent := node.parent) is not None:
        if parent.type == "index_expression" and first(parent) == node:
            node, element = parent, True
        elif parent.type == "parenthesized_expression" or (
            parent.type == "field_expression" and not _is_method(parent)
        ):
            node = parent
        else:
            break
    if parent is None or parent.type == "reference_expression":
        return False
    if parent.type in ("assignment_expression", "compound_assignment_expr"):
        return field(parent, "left") != node
    if parent.type == "field_expression":
        return element and _is_read_by_method(source, parent)
    return element


def _is_lent(source: Source, node: Node) -> bool:
    """Return whether the address of a table is handed to a function that only reads there."""
    at: Node | None = node
    while at is not None and at.type != "arguments":
        if at.type == "type_cast_expression" and _lent_name(source, at) == source.text(node):
            whole = outermost(at).parent
            return whole is not None and whole.type == "arguments"
        at = at.parent
    return False


def _lent_name(source: Source, cast: Node) -> bytes:
    """Return the variable of `&raw mut name as *mut T as *const T`; empty when it is nothing like
    that."""
    kind, inner = field(cast, "type"), bare(field(cast, "value"))
    if kind is None or not source.text(kind).startswith(b"*const "):
        return b""
    while inner is not None and inner.type == "type_cast_expression":
        inner = bare(field(inner, "value"))
    place = None
    if inner is not None and inner.type == "reference_expression":
        place = bare(field(inner, "value"))
    return b"" if place is None or place.type != "identifier" else source.text(place)


def _is_method(node: Node) -> bool:
    call = node.parent
    return call is not None and call.type == "call_expression" and field(call, "function") == node


def _is_read_by_method(source: Source, node: Node) -> bool:
    name = field(node, "field")
    return _is_method(node) and name is not None and bool(_READING.fullmatch(source.text(name)))


def _is_table(source: Source, kind: Node, shared: Set[bytes]) -> bool:
    """Return whether a type is an array of numbers, or of structures of these."""
    if kind.type != "array_type":
        return False
    if any(True for _ in below(kind, "pointer_type", "reference_type", "generic_type")):
        return False
    words = [source.text(node) for node in below(kind, "primitive_type")]
    named = [source.text(node) for node in below(kind, "type_identifier")]
    return all(_PLAIN.fullmatch(word) for word in words) and all(name in shared for name in named)


def _without_pointers(sources: list[Source]) -> set[bytes]:
    """Return the structures that are made of numbers only."""
    items = [
        (source, item)
        for source in sources
        for item in below(source.root, "struct_item", "type_item", "union_item")
    ]
    found = {name_of(item).encode() for _, item in items if item.type == "struct_item"}
    shrunk = True
    while shrunk:
        shrunk = False
        for source, item in items:
            name = name_of(item).encode()
            own = field(item, "name")
            parts = [node for node in below(item, "type_identifier") if node != own]
            if name in found and (
                any(True for _ in below(item, "pointer_type", "generic_type", "function_type"))
                or any(source.text(part) not in found for part in parts)
            ):
                found.discard(name)
                shrunk = True
    return found
