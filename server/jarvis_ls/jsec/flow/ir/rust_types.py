"""Rust types: how they are written, and what of them is interpreted."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Final, TypeGuard

from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir.c_types import ANY, BOOL, CHAR, UINT, VOID
from jarvis_ls.jsec.flow.ir.types import (
    Adt,
    Array,
    Box,
    Derived,
    Float,
    Integer,
    Kept,
    Option,
    Pointer,
    Reference,
    Result,
    Slice,
    Tuple,
    Type,
    Uninit,
    Vector,
    adt,
    array_of,
    float_of,
    integer,
    opaque,
    placeholder,
    pointer_to,
    record_type,
    reference_to,
    tuple_of,
    wrapped,
)

RECORD: Final[Type] = record_type("")
"""What has members: they are by name, so that no declaration is needed to find them."""
NEVER: Final[Type] = opaque("!")
"""What does not come back."""
UNIT: Final[Type] = tuple_of(())
USIZE: Final = integer(8, False)
STRING: Final[Type] = opaque("string")
STR: Final[Type] = opaque("str")
DYN: Final[Type] = opaque("dyn")
COMMAND: Final[Type] = opaque("cmd")
"""A `Command`."""
TEXT: Final[Type] = reference_to(STR)
LITERAL: Final = integer(8, True, "written")
"""A number whose type is not said: it takes that of what it meets."""

FIRST: Final = placeholder("0")
"""In a result of the library, the type of the first argument."""
HELD: Final = placeholder("0*")
"""What the first argument leads to or holds."""
NAMED: Final = placeholder("T")
"""The first type that is written behind the name; where none is, what the value wanted holds."""
WANTED: Final = placeholder("W")
"""What is wanted."""

NUMBERS: dict[str, Type] = {
    "u8": integer(1, False),
    "i8": CHAR,
    "u16": integer(2, False),
    "i16": integer(2, True),
    "u32": UINT,
    "i32": integer(4, True),
    "u64": USIZE,
    "i64": integer(8, True),
    "usize": USIZE,
    "isize": integer(8, True),
    "u128": integer(16, False),
    "i128": integer(16, True),
    "f32": float_of(4),
    "f64": float_of(8),
    "bool": BOOL,
    "char": UINT,
    "c_int": integer(4, True),
    "c_uint": UINT,
    "c_char": CHAR,
    "c_long": integer(8, True),
    "c_ulong": USIZE,
    "size_t": USIZE,
    "ssize_t": integer(8, True),
    "c_uchar": integer(1, False),
    "c_void": VOID,
}
_NAMED: dict[str, Type] = {
    "String": STRING,
    "str": STR,
    "OsString": STRING,
    "PathBuf": STRING,
    "Command": COMMAND,
    "CString": wrapped(Box, CHAR),
}
_WRAPPERS: dict[str, type[Derived]] = {
    "Box": Box,
    "Vec": Vector,
    "Option": Option,
    "Result": Result,
    "MaybeUninit": Uninit,
    "ManuallyDrop": Kept,
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
    if isinstance(type_, Integer):
        return integer(type_.size, type_.signed) if type_.mark == "written" else type_
    if isinstance(type_, Float) or type_ is VOID:
        return type_
    if isinstance(type_, (Pointer, Reference, Box, Kept)):
        inner = type_.inner
        if isinstance(inner, Slice):
            return RECORD
        if inner in (STR, DYN) or isinstance(type_, Kept):
            return ANY
        return (
            reference_to(shape(inner)) if isinstance(type_, Reference) else pointer_to(shape(inner))
        )
    if isinstance(type_, Array):
        return array_of(shape(type_.inner), type_.count)
    return (
        RECORD
        if (isinstance(type_, (Vector, Option, Result, Tuple, Adt)) or type_ is COMMAND)
        else ANY
    )


def is_scalar(type_: Type) -> bool:
    """Return whether a value fits into one cell, for certain."""
    return isinstance(shape(type_), (Integer, Float, Pointer, Reference))


def width(type_: Type) -> int:
    """Return the bytes of a value; 0 where that depends on how the compiler lays it out."""
    if isinstance(type_, (Integer, Float)):
        return type_.size
    if isinstance(type_, (Pointer, Reference, Box)):
        wide = isinstance(type_.inner, Slice) or type_.inner in (STR, DYN, ANY)
        return 0 if wide and not isinstance(type_, Pointer) else 8
    if isinstance(type_, Array):
        return width(type_.inner) * type_.count if type_.count > 0 else 0
    return width(type_.inner) if isinstance(type_, Uninit) else 0


def inner_of(type_: Type) -> Type:
    """Return the type that a pointer, container, option or result holds."""
    return type_.inner if isinstance(type_, Derived) else ANY


def is_pointer(type_: Type) -> TypeGuard[Pointer | Reference | Box | Kept]:
    """Return whether it leads to a value of another type."""
    return isinstance(type_, (Pointer, Reference, Box, Kept)) and (
        not isinstance(type_.inner, Slice) and type_.inner not in (STR, DYN)
    )


def join_types(type_: Type, other: Type) -> Type:
    """Return the type of a value that comes by either of two ways."""
    if type_ == LITERAL and other is ANY:
        return type_
    if type_ in (NEVER, ANY) or type_ == LITERAL:
        return other if other is not NEVER else type_
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
            return reference_to(inner) if kind == "reference_type" else pointer_to(inner)
        if kind == "array_type":
            element = self.of(node.child_by_field_name("element"), record, depth + 1)
            length = node.child_by_field_name("length")
            if length is None:
                return wrapped(Slice, element)
            known = self.constant(text(length))
            return ANY if known is None else array_of(element, known)
        if kind == "tuple_type":
            return tuple_of(tuple(self.of(c, record, depth + 1) for c in node.named_children))
        if kind == "generic_type":
            return self._generic(node, record, depth)
        if kind == "unit_type":
            return UNIT
        if kind == "never_type":
            return NEVER
        return DYN if kind in ("dynamic_type", "abstract_type") else ANY

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
            return adt(record) if record else ANY
        known = NUMBERS.get(name) or _NAMED.get(name)
        if known is not None:
            return known
        alias = self._aliases.get(name)
        if alias is not None:
            return self.of(alias, record, depth + 1)
        return ANY if len(name) == 1 or name == "_" else adt(name)

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
        if wrapper is not None or name == "NonNull":
            inner = self.of(given[0], record, depth + 1) if given else ANY
            return pointer_to(inner) if wrapper is None else wrapped(wrapper, inner)
        return self._by_name(name, record, depth)
