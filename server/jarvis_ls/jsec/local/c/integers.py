"""Widths and signs of integer expressions."""

from __future__ import annotations

from jarvis_ls.codeintel.declarations import Declared
from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.local.c.buffer_sizes import resolve_typedefs
from jarvis_ls.jsec.local.constants import declaration, element_size

_UNSIGNED = frozenset(
    "unsigned size_t uint8_t uint16_t uint32_t uint64_t uintptr_t bool _Bool uintmax_t u8 "
    "u16 u32 u64 uint ulong ushort uchar DWORD std::size_t gsize guint guint8 guint16 guint32 "
    "guint64 gulong guchar __u8 __u16 __u32 __u64 CARD8 CARD16 CARD32 BYTE WORD UINT "
    "PRUint32 PRUint64".split()
)
_OUTSIDE = {
    **dict.fromkeys(
        "gsize gssize guint64 gint64 gulong glong u64 s64 __u64 ulong PRUint64 PRInt64".split(), 8
    ),
    **dict.fromkeys(
        "guint gint guint32 gint32 u32 s32 __u32 uint DWORD UINT CARD32 PRUint32 PRInt32".split(), 4
    ),
    **dict.fromkeys("guint16 gint16 u16 s16 __u16 ushort WORD CARD16".split(), 2),
    **dict.fromkeys("guint8 gint8 guchar gchar u8 s8 __u8 uchar BYTE CARD8".split(), 1),
}
"""Bytes of integer types of headers that are often not found."""


def is_unsigned(node: Node | None, function: Function | None) -> bool:
    """Return whether an expression names a variable or field of unsigned type, or is cast to
    one.
    """
    if node is None:
        return False
    if node.type == "parenthesized_expression" and node.named_child_count:
        return is_unsigned(node.named_children[0], function)
    if node.type == "cast_expression":
        return _unsigned_words(text(field(node, "type")))
    words, pointers = _type_of(node, function)
    return (pointers == 0 and _unsigned_words(words)) or _is_unsigned_everywhere(node, function)


def _is_unsigned_everywhere(node: Node, function: Function | None) -> bool:
    """Return whether an expression names a member which every structure that has one of this name
    declares unsigned."""
    if function is None or node.type != "field_expression":
        return False
    members = function.unit.facts.fields.get(text(field(node, "field")), ())
    return bool(members) and all(
        not member.pointers and not member.arrays and _unsigned_words(member.type)
        for member in members
    )


def is_integer(node: Node | None, function: Function | None) -> bool:
    """Return whether an expression names a variable or field of a known integer type."""
    return width(node, function) is not None


def width(node: Node | None, function: Function | None) -> int | None:
    """Bytes of the integer variable or field an expression names, or is cast to; or None."""
    if node is None:
        return None
    if node.type == "parenthesized_expression" and node.named_child_count:
        return width(node.named_children[0], function)
    if node.type == "cast_expression":
        written = text(field(node, "type"))
        return None if "*" in written else _width_of_words(written)
    words, pointers = _type_of(node, function)
    return None if pointers else _width_of_words(words)


def declared_width(declared: Variable | Declared | None, function: Function) -> int | None:
    """Bytes of a declared integer, typedefs seen through, or None."""
    if declared is None:
        return None
    words, pointers, arrays = resolve_typedefs(declared, function.unit)
    return None if pointers or arrays else _width_of_words(words)


def _width_of_words(words: str) -> int | None:
    if "float" in words or "double" in words:
        return None
    return element_size(Declared("", words)) or _OUTSIDE.get(words.split()[-1] if words else "")


def _type_of(node: Node, function: Function | None) -> tuple[str, int]:
    declared = declaration(node, function)
    if declared is None or function is None:
        return "", 0
    words, pointers, arrays = resolve_typedefs(declared, function.unit)
    return words, pointers + len(arrays)


def _unsigned_words(words: str) -> bool:
    return not _UNSIGNED.isdisjoint(words.split())
