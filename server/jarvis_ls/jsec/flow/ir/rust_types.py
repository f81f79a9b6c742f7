"""Rust types as tuples: how they are written, and what of them is interpreted.

Numbers, pointers and arrays are those of `types`. Besides: `("box", T)`, `("vec", T)`, `("slice",
T)` and `("str",)` behind references, `("opt", T)` and `("res", T)`, `("tup", (T, ...))`,
`("mu", T)` for `MaybeUninit`, `("iter", T)`, `("cmd",)`, `("adt", name)` for any other, `("!",)`
for what does not come back and `("?",)` for what is not known.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir.c_types import ANY, BOOL, CHAR, UINT, VOID
from jarvis_ls.jsec.flow.ir.nodes import Type

RECORD: Type = ("r", "")
"""What has members: they are by name, so that no declaration is needed to find them."""
NEVER: Type = ("!",)
UNIT: Type = ("tup", ())
USIZE: Type = ("i", 8, False)
STRING: Type = ("string",)
TEXT: Type = ("&", ("str",))
LITERAL: Type = ("i", 8, True, "written")
"""A number whose type is not said: it takes that of what it meets."""

NUMBERS: dict[str, Type] = {
    "u8": ("i", 1, False),
    "i8": CHAR,
    "u16": ("i", 2, False),
    "i16": ("i", 2, True),
    "u32": UINT,
    "i32": ("i", 4, True),
    "u64": USIZE,
    "i64": ("i", 8, True),
    "usize": USIZE,
    "isize": ("i", 8, True),
    "u128": ("i", 16, False),
    "i128": ("i", 16, True),
    "f32": ("f", 4),
    "f64": ("f", 8),
    "bool": BOOL,
    "char": UINT,
    "c_int": ("i", 4, True),
    "c_uint": UINT,
    "c_char": CHAR,
    "c_long": ("i", 8, True),
    "c_ulong": USIZE,
    "size_t": USIZE,
    "ssize_t": ("i", 8, True),
    "c_uchar": ("i", 1, False),
    "c_void": VOID,
}
_NAMED: dict[str, Type] = {
    "String": STRING,
    "str": ("str",),
    "OsString": STRING,
    "PathBuf": STRING,
    "Command": ("cmd",),
    "CString": ("box", CHAR),
}
_WRAPPERS = {
    "Box": "box",
    "Vec": "vec",
    "Option": "opt",
    "Result": "res",
    "MaybeUninit": "mu",
    "ManuallyDrop": "keep",
    "NonNull": "p",
}
_MAX_DEPTH = 12


def place_of(name: str) -> int:
    """Offset of the member with a name in any record; that of the tag is 0."""
    return 64 * (1 + zlib.crc32(name.encode()) % 65521)


def tag_of(variant: str) -> int:
    """Return the number that represents a variant of an enum."""
    if variant in ("Some", "Ok"):
        return 1
    return 0 if variant in ("None", "Err") else 2 + zlib.crc32(variant.encode()) % 2**30


def shape(type_: Type) -> Type:
    """Return the type that is interpreted for a value of the type."""
    kind = type_[0]
    if kind == "i":
        return type_[:3] if len(type_) > 3 and type_[3] == "written" else type_
    if kind in ("f", "v"):
        return type_
    if kind in ("p", "&", "box", "keep"):
        inner = type_[1]
        if inner[0] == "slice":
            return RECORD
        if inner[0] in ("str", "dyn") or kind == "keep":
            return ANY
        return ("&" if kind == "&" else "p", shape(inner))
    if kind == "a":
        return ("a", shape(type_[1]), type_[2])
    return RECORD if kind in ("vec", "opt", "res", "tup", "adt", "cmd") else ANY


def is_scalar(type_: Type) -> bool:
    """Return whether a value fits into one cell, for certain."""
    return shape(type_)[0] in ("i", "f", "p", "&")


def width(type_: Type) -> int:
    """Return the bytes of a value; 0 where that depends on how the compiler lays it out."""
    kind = type_[0]
    if kind in ("i", "f"):
        return int(type_[1])
    if kind in ("p", "&", "box"):
        return 0 if type_[1][0] in ("slice", "str", "dyn", "?") and kind != "p" else 8
    if kind == "a":
        return width(type_[1]) * int(type_[2]) if type_[2] > 0 else 0
    return width(type_[1]) if kind == "mu" else 0


def inner_of(type_: Type) -> Type:
    """Return the type that a pointer, container, option or result holds."""
    if type_[0] in ("p", "&", "box", "keep", "vec", "slice", "opt", "res", "mu", "a", "iter"):
        inner: Type = type_[1]
        return inner
    return ANY


def is_pointer(type_: Type) -> bool:
    """Return whether it leads to a value of another type."""
    return type_[0] in ("p", "&", "box", "keep") and type_[1][0] not in ("slice", "str", "dyn")


def join_types(type_: Type, other: Type) -> Type:
    """Return the type of a value that comes by either of two ways."""
    if type_ == LITERAL and other[0] == "?":
        return type_
    if type_[0] in ("!", "?") or type_ == LITERAL:
        return other if other[0] != "!" else type_
    return type_


class RustTypes:
    """Types as one file writes them."""

    def __init__(self, aliases: Mapping[str, Node], constants: Mapping[str, int]) -> None:
        self._aliases = aliases
        self._constants = constants

    def of(self, node: Node | None, record: str = "", depth: int = 0) -> Type:
        """Return the type that a node writes; `record` is what `Self` means there."""
        if node is None or depth > _MAX_DEPTH:
            return ANY
        kind = node.type
        if kind in ("primitive_type", "type_identifier", "identifier"):
            return self._by_name(text(node), record, depth)
        if kind == "scoped_type_identifier":
            return self._by_name(text(node.child_by_field_name("name")), record, depth)
        if kind in ("reference_type", "pointer_type"):
            inner = self.of(node.child_by_field_name("type"), record, depth + 1)
            return ("&" if kind == "reference_type" else "p", inner)
        if kind == "array_type":
            element = self.of(node.child_by_field_name("element"), record, depth + 1)
            length = node.child_by_field_name("length")
            if length is None:
                return ("slice", element)
            known = self.constant(text(length))
            return ANY if known is None else ("a", element, known)
        if kind == "tuple_type":
            return ("tup", tuple(self.of(c, record, depth + 1) for c in node.named_children))
        if kind == "generic_type":
            return self._generic(node, record, depth)
        if kind == "unit_type":
            return UNIT
        if kind == "never_type":
            return NEVER
        return ("dyn",) if kind in ("dynamic_type", "abstract_type") else ANY

    def constant(self, written: str) -> int | None:
        """Return a number that is written out or named; None for any other."""
        written = (
            written.strip().removesuffix("usize").rstrip("_").replace("_", "")
            if written[:1].isdigit()
            else written.strip()
        )
        if written.isdigit():
            return int(written)
        return self._constants.get(written)

    def _by_name(self, name: str, record: str, depth: int) -> Type:
        if name == "Self":
            return ("adt", record) if record else ANY
        known = NUMBERS.get(name) or _NAMED.get(name)
        if known is not None:
            return known
        alias = self._aliases.get(name)
        if alias is not None:
            return self.of(alias, record, depth + 1)
        return ANY if len(name) == 1 or name == "_" else ("adt", name)

    def _generic(self, node: Node, record: str, depth: int) -> Type:
        named = node.child_by_field_name("type")
        name = text(named).rpartition("::")[2]
        listed = node.child_by_field_name("type_arguments")
        given = [
            c
            for c in (listed.named_children if listed is not None else ())
            if c.type not in ("lifetime", "type_binding")
        ]
        wrapper = _WRAPPERS.get(name)
        if wrapper is not None:
            return (wrapper, self.of(given[0], record, depth + 1) if given else ANY)
        return self._by_name(name, record, depth)
