"""Structures that own memory cannot be copied: two copies would free it twice."""

from __future__ import annotations

from collections.abc import Mapping

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.program import arguments_of
from jarvis_ls.jc2r.lift.rust import Source, bare, below, field, name_of

_COPYING = b"#[derive(Clone, Copy)]"


def owners(sources: list[Source]) -> dict[str, list[str]]:
    """Return the structures with a pointer that somewhere goes to `free`, and the names of these
    pointers."""
    freed = {
        name
        for source in sources
        for call in below(source.root, "call_expression")
        if (name := _freed_field(source, call))
    }
    found: dict[str, list[str]] = {}
    for source in sources:
        for item in below(source.root, "struct_item"):
            names = [
                source.text(label).decode()
                for member in below(item, "field_declaration")
                if (label := field(member, "name")) is not None
                and (kind := field(member, "type")) is not None
                and kind.type == "pointer_type"
                and source.text(label) in freed
            ]
            if names and _copying(source, item) is not None:
                found[name_of(item)] = names
    return found


def without_copy(source: Source, chosen: Mapping[str, list[str]]) -> bytes:
    """Return the file in which the `chosen` structures are not `Copy`."""
    parts, at = [], 0
    for item in below(source.root, "struct_item"):
        name = name_of(item)
        derived = _copying(source, item)
        if name not in chosen or derived is None:
            continue
        told = " and ".join(f"`{pointer}`" for pointer in chosen[name])
        parts.append(source.data[at : derived.start_byte])
        parts.append(f"// Not `Copy`: it owns {told}, to be freed once.".encode())
        at = derived.end_byte
    return b"".join([*parts, source.data[at:]])


def _copying(source: Source, item: Node) -> Node | None:
    """Return the attribute that makes a structure `Copy`."""
    before = item.prev_sibling
    while before is not None and before.type in ("attribute_item", "line_comment"):
        if source.text(before) == _COPYING:
            return before
        before = before.prev_sibling
    return None


def _freed_field(source: Source, call: Node) -> bytes:
    """Return the field whose memory a call frees; empty when it frees none."""
    called, given = field(call, "function"), arguments_of(call)
    if called is None or source.text(called) != b"sys::free" or len(given) != 1:
        return b""
    value = bare(given[0])
    while value is not None and value.type == "type_cast_expression":
        value = bare(field(value, "value"))
    name = field(value, "field") if value is not None and value.type == "field_expression" else None
    return b"" if name is None else source.text(name)
