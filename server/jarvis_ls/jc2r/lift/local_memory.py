"""Memory of one function that raw pointers lead to without need: arrays and structures that begin
uninitialized begin with zeros, bytes that are only seen as the numbers of a union are these, and a
place that is named to be changed is lent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.rust import Say, Source, bare, below, field, first, rewritten, variable_of
from jarvis_ls.jc2r.lift.unsafe_operations import declaration_of

MOST = 65_536
"""Bytes of an array that are set to zero at every call."""
_UNINIT = re.compile(rb"core::mem::MaybeUninit<(.+)>\Z", re.DOTALL)
_BEGUN = b"core::mem::MaybeUninit::uninit()"
_NUMBER = re.compile(rb"[iuf](8|16|32|64|128|size)\Z")
_ARRAY = re.compile(rb"\[(.+); (\d+)\]\Z", re.DOTALL)
_PLACE = b"__at"
"""The translator's name for a place that is read and written."""


def beginnings(source: Source, function: Node) -> bytes:
    """`MaybeUninit<[T; n]>` that is only looked through is a `[T; n]` of zeros."""
    chosen = {
        name: kind
        for declared in below(function, "let_declaration")
        if (name := variable_of(source, declared)) and (kind := _begun_type(source, declared))
    }
    chosen = {name: kind for name, kind in chosen.items() if _is_only_seen(source, function, name)}
    if not chosen:
        return source.text(function)

    def rule(node: Node, _: Say) -> bytes | None:
        if node.type == "let_declaration":
            name = variable_of(source, node)
            if name in chosen and _begun_type(source, node):
                return b"let mut %b: %b = %b;" % (name, chosen[name], _zero(chosen[name]))
            return None
        star = bare(node) if node.type == "parenthesized_expression" else node
        name = b"" if star is None else _seen_whole(source, star)
        if name in chosen:
            return name
        name = _pointer_to(source, node)
        return b"(&raw mut " + name + b")" if name in chosen else None

    return rewritten(source.data, function, rule)


def lent_places(source: Source, function: Node) -> bytes:
    """`let __at = &raw mut place;` is `&mut place` where nothing else is looked through as long as
    it is in use."""
    chosen = {
        declared.id
        for declared in below(function, "let_declaration")
        if variable_of(source, declared) == _PLACE and _is_lent(source, declared)
    }

    def rule(node: Node, say: Say) -> bytes | None:
        around = node.parent
        if node.type != "reference_expression" or around is None or around.id not in chosen:
            return None
        place = field(node, "value")
        return None if place is None else b"&mut " + say(place)

    return rewritten(source.data, function, rule) if chosen else source.text(function)


def views(source: Source, function: Node, unions: Mapping[bytes, Mapping[bytes, bytes]]) -> bytes:
    """`let p: *mut U = bytes.as_mut_ptr() as *mut U` of which only one member is used, an array of
    numbers as long as the bytes, is that array."""
    chosen: dict[bytes, _View] = {}
    for declared in below(function, "let_declaration"):
        view = _view_of(source, function, declared, unions)
        if view is not None:
            chosen[variable_of(source, declared)] = view
    gone = {view.memory.id for view in chosen.values()}

    def rule(node: Node, _: Say) -> bytes | None:
        if node.type == "let_declaration":
            if node.id in gone:
                return b""
            view = chosen.get(variable_of(source, node))
            name = variable_of(source, node)
            return (
                None
                if view is None
                else b"let mut %b: %b = %b;" % (name, view.kind, _zero(view.kind))
            )
        if node.type == "field_expression":
            name = _pointer_seen(source, field(node, "value"))
            return name if name in chosen else None
        if node.type == "identifier" and source.text(node) in chosen:
            return source.text(node) + b".as_mut_ptr()"
        return None

    return rewritten(source.data, function, rule) if chosen else source.text(function)


@dataclass(frozen=True, slots=True)
class _View:
    memory: Node
    """The declaration of the bytes."""
    kind: bytes
    """Type of the member that is used."""


def _view_of(
    source: Source,
    function: Node,
    declared: Node,
    unions: Mapping[bytes, Mapping[bytes, bytes]],
) -> _View | None:
    name, kind = variable_of(source, declared), field(declared, "type")
    memory = _array_behind(source, function, field(declared, "value"))
    if not name or kind is None or memory is None:
        return None
    members = unions.get(source.text(kind).rpartition(b"::")[2].rpartition(b" ")[2], {})
    named = set()
    for node in below(function, "identifier"):
        around = node.parent
        if source.text(node) != name or around is None or around == declared:
            continue
        if around.type == "type_cast_expression":
            continue  # its address
        star = around if around.type == "unary_expression" else None
        whole = None if star is None else star.parent
        while whole is not None and whole.type == "parenthesized_expression":
            whole = whole.parent
        member = None
        if whole is not None and whole.type == "field_expression":
            member = field(whole, "field")
        if star is None or star.children[0].type != "*" or member is None:
            return None
        named.add(source.text(member))
    seen = members.get(next(iter(named)), b"") if len(named) == 1 else b""
    size = field(memory, "type")
    if not seen or size is None or _bytes_of(seen) != _bytes_of(source.text(size)):
        return None
    return _View(memory, seen)


def _array_behind(source: Source, function: Node, value: Node | None) -> Node | None:
    """Return the declaration of the local array whose address a value is, where nothing else names
    the array."""
    inner = bare(value)
    while inner is not None and inner.type == "type_cast_expression":
        inner = bare(field(inner, "value"))
    if inner is None or inner.type not in ("call_expression", "reference_expression"):
        return None
    names = list(below(inner, "identifier"))
    if len(names) != 1 or any(True for _ in below(inner, "unary_expression", "index_expression")):
        return None
    word = source.text(names[0])
    if inner.type == "call_expression" and not _is_pointer(source, names[0]):
        return None
    uses = [node for node in below(function, "identifier") if source.text(node) == word]
    lets = [let for let in below(function, "let_declaration") if variable_of(source, let) == word]
    return lets[0] if len(lets) == 1 and len(uses) == 2 else None


def _bytes_of(kind: bytes) -> int:
    """Return the bytes of an array of numbers; a negative number of anything else."""
    array = _ARRAY.match(kind)
    number = None if array is None else _NUMBER.match(array[1])
    if array is None or number is None or number[1] == b"size":
        return -len(kind)
    return int(number[1]) // 8 * int(array[2])


def _pointer_seen(source: Source, star: Node | None) -> bytes:
    """Return the variable of `*name`."""
    inner = bare(star)
    if inner is None or inner.type != "unary_expression" or inner.children[0].type != "*":
        return b""
    pointer = bare(first(inner))
    return b"" if pointer is None or pointer.type != "identifier" else source.text(pointer)


def _begun_type(source: Source, declared: Node) -> bytes:
    """Return the type of a variable that begins uninitialized; empty when it does not, or zeros
    would cost too much."""
    kind, value = field(declared, "type"), field(declared, "value")
    match = None if kind is None else _UNINIT.match(b" ".join(source.text(kind).split()))
    if match is None or value is None or source.text(value) != _BEGUN:
        return b""
    inner, size = match[1], 1
    while (array := _ARRAY.match(inner)) is not None:
        inner, size = array[1], size * int(array[2])
    number = _NUMBER.match(inner)
    width = 8 if number is None or number[1] == b"size" else int(number[1]) // 8
    return match[1] if size * width <= MOST and b"MaybeUninit" not in match[1] else b""


def _zero(kind: bytes) -> bytes:
    """Return a value of a type that consists of zeros."""
    array = _ARRAY.match(kind)
    if _NUMBER.match(kind) is not None:
        return b"0.0" if kind.startswith(b"f") else b"0"
    if array is not None and (zero := _zero(array[1])) and b"zeroed" not in zero:
        return b"[%b; %b]" % (zero, array[2])
    return b"unsafe { core::mem::zeroed::<%b>() }" % kind


def _is_only_seen(source: Source, function: Node, name: bytes) -> bool:
    """Return whether a variable is declared once and only named as `name.as_mut_ptr()`."""
    declared = [n for n in below(function, "let_declaration") if variable_of(source, n) == name]
    return len(declared) == 1 and all(
        node.parent is not None
        and (field(node.parent, "pattern") == node or _is_pointer(source, node))
        for node in below(function, "identifier")
        if source.text(node) == name
    )


def _is_pointer(source: Source, name: Node) -> bool:
    method = name.parent
    if method is None or method.type != "field_expression" or method.parent is None:
        return False
    called = field(method, "field")
    return (
        called is not None
        and source.text(called) in (b"as_mut_ptr", b"as_ptr")
        and method.parent.type == "call_expression"
    )


def _pointer_to(source: Source, node: Node) -> bytes:
    """Return the variable of `name.as_mut_ptr()`."""
    method = field(node, "function") if node.type == "call_expression" else None
    name = field(method, "value") if method is not None else None
    if method is None or name is None or method.type != "field_expression":
        return b""
    return source.text(name) if name.type == "identifier" and _is_pointer(source, name) else b""


def _seen_whole(source: Source, node: Node) -> bytes:
    """Return the variable of `*name.as_mut_ptr()`."""
    if node.type != "unary_expression" or node.children[0].type != "*":
        return b""
    pointer = bare(first(node))
    return b"" if pointer is None else _pointer_to(source, pointer)


def _is_lent(source: Source, declared: Node) -> bool:
    """Return whether `&mut` does for a named place: it is only looked through, and where it is
    behind a pointer so is nothing else after it in its block."""
    value, block = field(declared, "value"), declared.parent
    if value is None or value.type != "reference_expression" or block is None:
        return False
    place = field(value, "value")
    if place is None or not any(child.type == "raw" for child in value.children):
        return False
    if block.type != "block" or field(declared, "type") is not None:
        return False
    root = _root(place)
    if root is None or root.type != "identifier" or declaration_of(source, root) is None:
        return False
    behind = any(node.children[0].type == "*" for node in below(place, "unary_expression"))
    for later in block.named_children:
        if later.start_byte <= declared.start_byte:
            continue
        for node in below(later, "identifier"):
            if source.text(node) == _PLACE and not _is_starred(node):
                return False
        stars = [n for n in below(later, "unary_expression") if n.children[0].type == "*"]
        others = [n for n in stars if source.text(bare(first(n)) or n) != _PLACE]
        calls = [
            call
            for call in below(later, "call_expression")
            if (called := field(call, "function")) is None or called.type != "field_expression"
        ]
        if behind and (others or calls):
            return False
    return True


def _is_starred(name: Node) -> bool:
    around = name.parent
    while around is not None and around.type == "parenthesized_expression":
        around = around.parent
    return (
        around is not None
        and around.type == "unary_expression"
        and (around.children[0].type == "*")
    )


def _root(place: Node) -> Node | None:
    """Return the name that a place begins with."""
    node: Node | None = place
    while node is not None and node.type in (
        "field_expression",
        "index_expression",
        "parenthesized_expression",
        "unary_expression",
        "call_expression",
        "type_cast_expression",
        "reference_expression",
    ):
        inner = field(node, "function") if node.type == "call_expression" else None
        inner = inner or field(node, "value") or first(node)
        node = inner
    return node
