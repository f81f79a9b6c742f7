"""Variables without their type where the value that they begin with has it.

`let n: i32 = length(text);` repeats what `length` returns. Where nothing says the type of the
value, as of a number without suffix, it stays, and where the value is converted: to a pointer to
read through, or to a slice.
"""

from __future__ import annotations

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.expression_types import Declared, type_of
from jarvis_ls.jc2r.lift.rust import Say, Source, bare, below, field, first, rewritten

_PLAIN = ("primitive_type", "pointer_type")
_SAYING = ("call_expression", "field_expression", "index_expression", "identifier")


def drop_types(source: Source, function: Node, declared: Declared) -> bytes:
    """Take types from the declarations of variables that have them anyway."""
    known = {
        let.id for let in below(function, "let_declaration") if _is_known(source, let, declared)
    }

    def rule(node: Node, say: Say) -> bytes | None:
        if node.id not in known:
            return None
        pattern, kind = field(node, "pattern"), field(node, "type")
        assert pattern is not None and kind is not None
        parts, at = [source.data[node.start_byte : pattern.end_byte]], kind.end_byte
        for child in node.children:
            if child.start_byte >= kind.end_byte:
                parts += [source.data[at : child.start_byte], say(child)]
                at = child.end_byte
        return b"".join([*parts, source.data[at : node.end_byte]])

    return rewritten(source.data, function, rule) if known else source.text(function)


def _is_known(source: Source, let: Node, declared: Declared) -> bool:
    kind, value = field(let, "type"), bare(field(let, "value"))
    if kind is None or value is None or kind.type not in _PLAIN:
        return False
    if value.type == "unsafe_block":
        block = first(value)
        parts = [] if block is None else block.named_children
        value = bare(parts[0]) if len(parts) == 1 else None
    if value is None or value.type not in _SAYING:
        return False
    text = " ".join(source.text(kind).decode("utf-8", "replace").split())
    return type_of(source, value, declared) == text
