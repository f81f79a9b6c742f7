"""What the types of C are: asked by every other part of the translation."""

from __future__ import annotations

from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.translate.names import Unsupported, rust_name

INTEGERS = {
    "CHAR_S": "i8",
    "SCHAR": "i8",
    "CHAR_U": "u8",
    "UCHAR": "u8",
    "SHORT": "i16",
    "USHORT": "u16",
    "INT": "i32",
    "UINT": "u32",
    "LONG": "i64",
    "ULONG": "u64",
    "LONGLONG": "i64",
    "ULONGLONG": "u64",
    "INT128": "i128",
    "UINT128": "u128",
    "WCHAR": "i32",
    "CHAR16": "u16",
    "CHAR32": "u32",
    "BOOL": "bool",
}
FLOATS = {"FLOAT": "f32", "DOUBLE": "f64"}
WORDS = {**INTEGERS, **FLOATS}
ARRAYS = ("CONSTANTARRAY", "INCOMPLETEARRAY")
FUNCTIONS = ("FUNCTIONPROTO", "FUNCTIONNOPROTO")


def plain(type_: Any) -> Any:
    """Return a type, seen through typedefs and `_Atomic`; asked often, so each keeps its answer,
    and a unit has one object for each type.
    """
    try:
        return type_._plain
    except AttributeError:
        pass
    unit, key = type_._tu, type_.data[0]
    try:
        known = unit._plain
    except AttributeError:
        known = unit._plain = {}
    found = known.get(key)
    if found is None:
        found = type_.get_canonical()
        if found.kind.name == "ATOMIC":
            found = clang.value_type(found).get_canonical()
        found = known[key] = known.setdefault(found.data[0], found)
    type_._plain = found
    return found


def kind(type_: Any) -> str:
    """Name of the kind of a type, seen through typedefs and `_Atomic`."""
    return str(plain(type_).kind.name)


def is_atomic(type_: Any) -> bool:
    """Return whether objects of a type are read and written as one."""
    return str(type_.get_canonical().kind.name) == "ATOMIC"


def is_volatile(type_: Any) -> bool:
    """Return whether every reading and writing of an object of a type counts."""
    return bool(type_.is_volatile_qualified() or type_.get_canonical().is_volatile_qualified())


def is_integer(type_: Any) -> bool:
    """Integers, characters, booleans and enumerations."""
    return kind(type_) in INTEGERS or kind(type_) == "ENUM"


def is_unsigned(type_: Any) -> bool:
    """Return whether arithmetic of a type wraps."""
    name = kind(type_)
    if name == "ENUM":
        return is_unsigned(plain(type_).get_declaration().enum_type)
    return INTEGERS.get(name, "i").startswith("u")


def is_pointer(type_: Any) -> bool:
    """Pointers to data and to functions."""
    return kind(type_) == "POINTER"


def is_function_pointer(type_: Any) -> bool:
    """Pointers to functions."""
    return is_pointer(type_) and kind(plain(type_).get_pointee()) in FUNCTIONS


def is_array(type_: Any) -> bool:
    """Arrays whose length is known or left open."""
    return kind(type_) in ARRAYS


def is_open(type_: Any) -> bool:
    """Return whether an array has a length that is known only when it is made."""
    type_ = plain(type_)
    while (name := type_.kind.name) in ARRAYS:
        type_ = plain(type_.element_type)
    return bool(name == "VARIABLEARRAY")


def element_of(type_: Any) -> Any:
    """Return the type of the elements of an array of arrays, through all of them."""
    type_ = plain(type_)
    while type_.kind.name in (*ARRAYS, "VARIABLEARRAY"):
        type_ = plain(type_.element_type)
    return type_


def points(type_: Any) -> bool:
    """Pointers, and parameters written like arrays."""
    return is_pointer(type_) or is_array(type_) or is_open(type_)


def pointee_of(type_: Any) -> Any:
    """Return what such a value points to."""
    type_ = plain(type_)
    return type_.get_pointee() if type_.kind.name == "POINTER" else type_.element_type


def is_variadic(type_: Any) -> bool:
    """Functions that take arguments without a name."""
    type_ = plain(type_)
    return type_.kind.name == "FUNCTIONPROTO" and bool(type_.is_function_variadic())


def is_record(type_: Any) -> bool:
    """Structures and unions."""
    return kind(type_) == "RECORD"


def record_name(declaration: Any) -> str:
    """Return a name for a record or enumeration that has none: that of its typedef, or its
    place.
    """
    name = declaration.spelling
    if name and " " not in name and "(" not in name:
        return str(name)
    return ""


def bits_of(field: Any) -> tuple[int, int]:
    """Offset and width of a bit-field, in bits, in the record it is declared in."""
    parent = field.semantic_parent.type
    for get_field in parent.get_fields():
        if get_field.hash == field.hash:
            return int(get_field.get_field_offsetof()), int(get_field.get_bitfield_width())
    raise Unsupported("the bit-field {name}", name=field.spelling)


def field_name(field: Any) -> str:
    """Return a member's name; those without one are identified by their offset."""
    if field.spelling and "(" not in field.spelling:
        return rust_name(field.spelling)
    parent = field.semantic_parent
    return f"anonymous_at_{[f.hash for f in parent.type.get_fields()].index(field.hash)}"


def is_const(type_: Any) -> bool:
    """Return whether what a type says may not be written."""
    while type_.kind.name in ARRAYS:
        type_ = type_.element_type
    return bool(type_.is_const_qualified() or type_.get_canonical().is_const_qualified())
