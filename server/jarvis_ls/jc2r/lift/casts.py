"""Casts of pointers that can be said without: `*(p as *mut u8)` of a `p: *mut i8` is `*p as u8`,
`&raw mut a as *mut T` is `a.as_mut_ptr()` for an array and `&raw mut a` for a `T`."""

from __future__ import annotations

import re

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.rust import Say, Source, bare, below, field, first, rewritten

_BYTES = re.compile(rb"\*(?:mut|const) ([iu])(8|16|32|64)\Z")


def member_types(sources: list[Source]) -> dict[bytes, bytes]:
    """Types of members by name, where all structures agree on them."""
    found: dict[bytes, bytes] = {}
    doubtful = set()
    for source in sources:
        for declared in below(source.root, "field_declaration"):
            name, kind = field(declared, "name"), field(declared, "type")
            if name is None or kind is None:
                continue
            if found.setdefault(source.text(name), source.text(kind)) != source.text(kind):
                doubtful.add(source.text(name))
    return {name: kind for name, kind in found.items() if name not in doubtful}


def casts(source: Source, function: Node, members: dict[bytes, bytes]) -> bytes:
    """Return the function with values cast in place of pointers; `members` from `pointed`."""

    names = _locals(source, function)

    def rule(node: Node, say: Say) -> bytes | None:
        if node.type == "type_cast_expression":
            return _address(node, source, members, names, say)
        if node.type == "assignment_expression":
            left, right = field(node, "left"), field(node, "right")
            found = _through(left, source, members)
            if found is None or right is None:
                return None
            pointer, own, _ = found
            return b"*" + say(pointer) + b" = (" + say(right) + b") as " + own
        outer = node
        found = _through(outer, source, members)
        parent = node.parent
        if (
            found is None
            or parent is None
            or parent.type == "reference_expression"
            or (
                parent.type in ("assignment_expression", "compound_assignment_expr")
                and field(parent, "left") == node
            )
            or parent.type == "field_expression"
        ):
            return None
        pointer, _, seen = found
        return b"(*" + say(pointer) + b" as " + seen + b")"

    return rewritten(source.data, function, rule)


def _locals(source: Source, function: Node) -> dict[bytes, bytes]:
    """Types of variables by name, where all of that name agree."""
    found: dict[bytes, bytes] = {}
    for node in below(function, "let_declaration", "parameter"):
        name, kind = field(node, "pattern"), field(node, "type")
        if name is not None:
            text = b"" if kind is None else source.text(kind)
            known = found.setdefault(source.text(name), text)
            found[source.text(name)] = text if known == text else b""
    return found


def _address(
    node: Node, source: Source, members: dict[bytes, bytes], names: dict[bytes, bytes], say: Say
) -> bytes | None:
    taken, kind = bare(field(node, "value")), field(node, "type")
    if taken is None or kind is None or taken.type != "reference_expression":
        return None
    place = field(taken, "value")
    if place is None or not any(child.type == "raw" for child in taken.children):
        return None
    own = _type(place, source, members, names)
    if own.startswith(b"["):
        return say(place) + (b".as_mut_ptr()" if b"mut" in source.text(kind)[:4] else b".as_ptr()")
    return say(taken) if own and source.text(kind) == b"*mut " + own else None


def _type(
    place: Node, source: Source, members: dict[bytes, bytes], names: dict[bytes, bytes]
) -> bytes:
    """Return the type of a place, empty when it is not known."""
    inner = bare(place)
    if inner is None:
        return b""
    if inner.type == "identifier":
        return names.get(source.text(inner), b"")
    if inner.type == "field_expression" and (name := field(inner, "field")) is not None:
        return members.get(source.text(name), b"")
    if inner.type == "index_expression" and (array := first(inner)) is not None:
        whole = _type(array, source, members, names)
        return whole[1:].rpartition(b";")[0].strip() if whole.startswith(b"[") else b""
    return b""


def _through(
    node: Node | None, source: Source, members: dict[bytes, bytes]
) -> tuple[Node, bytes, bytes] | None:
    """Pointer, what it points to, and as what it is seen, in `*(pointer as *mut T)`."""
    inner = bare(node)
    if inner is None or inner.type != "unary_expression" or inner.children[0].type != "*":
        return None
    cast = bare(first(inner))
    if cast is None or cast.type != "type_cast_expression":
        return None
    pointer, kind = bare(field(cast, "value")), field(cast, "type")
    if pointer is None or kind is None or pointer.type != "field_expression":
        return None
    name = field(pointer, "field")
    own = None if name is None else _BYTES.match(members.get(source.text(name), b""))
    seen = _BYTES.match(source.text(kind))
    if own is None or seen is None or own[2] != seen[2] or own[1] == seen[1]:
        return None
    return pointer, own[1] + own[2], seen[1] + seen[2]
