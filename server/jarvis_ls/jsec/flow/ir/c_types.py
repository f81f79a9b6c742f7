"""C types by name, their sizes and limits under LP64, and the usual conversions."""

from __future__ import annotations

from typing import Final, TypeGuard

from jarvis_ls.jsec.flow.ir.nodes import Number
from jarvis_ls.jsec.flow.ir.types import (
    Array,
    Float,
    FunctionType,
    Integer,
    Pointer,
    Record,
    Reference,
    Type,
    container_of,
    float_of,
    integer,
    opaque,
    pointer_to,
    record_type,
)

CHAR: Final = integer(1, True)
UCHAR: Final = integer(1, False)
SHORT: Final = integer(2, True)
INT: Final = integer(4, True)
UINT: Final = integer(4, False)
LONG: Final = integer(8, True)
ULONG: Final = integer(8, False)
BOOL: Final = integer(1, False, "truth")
DOUBLE: Final = float_of(8)
VOID: Final[Type] = opaque("v")
ANY: Final[Type] = opaque("?")
"""What is not known."""
PTR: Final = pointer_to(ANY)
CHARS: Final = pointer_to(CHAR)

FILES: Final = frozenset({"ifstream", "ofstream", "fstream", "wifstream", "wofstream", "wfstream"})
TEXTS: Final = frozenset({"stringstream", "istringstream", "ostringstream", "wstringstream"})
"""Streams that hold what was written to them, or what they were made of."""
STREAMS: Final = FILES | TEXTS | {"istream", "wistream", "iostream"}
STRINGS: Final = frozenset({"string", "wstring", "basic_string"})

NAMED: Final[dict[str, Type]] = {
    "char": CHAR,
    "signed char": CHAR,
    "unsigned char": UCHAR,
    "bool": BOOL,
    "_Bool": BOOL,
    "short": SHORT,
    "unsigned short": integer(2, False),
    "int": INT,
    "unsigned int": UINT,
    "unsigned": UINT,
    "signed": INT,
    "long": LONG,
    "unsigned long": ULONG,
    "float": float_of(4),
    "double": DOUBLE,
    "long double": float_of(16),
    "void": VOID,
    "size_t": ULONG,
    "ssize_t": LONG,
    "int8_t": CHAR,
    "uint8_t": UCHAR,
    "int16_t": SHORT,
    "uint16_t": integer(2, False),
    "int32_t": INT,
    "uint32_t": UINT,
    "int64_t": LONG,
    "uint64_t": ULONG,
    "wchar_t": INT,
    "char16_t": integer(2, False),
    "char32_t": UINT,
    "ptrdiff_t": LONG,
    "intptr_t": LONG,
    "uintptr_t": ULONG,
    "off_t": LONG,
    "time_t": LONG,
    "socklen_t": UINT,
    "pid_t": INT,
    "uid_t": UINT,
    "gid_t": UINT,
    "mode_t": UINT,
    "u_char": UCHAR,
    "u_int": UINT,
    "uchar": UCHAR,
    "uint": UINT,
    "ushort": integer(2, False),
    "ulong": ULONG,
    "SOCKET": INT,
    "FILE": record_type("FILE"),
    "DIR": record_type("DIR"),
    "string": container_of("string", CHAR),
    "wstring": container_of("string", INT),
    "intmax_t": LONG,
    "uintmax_t": ULONG,
    "va_list": record_type("va_list"),
    "in_addr_t": UINT,
    **{name: container_of(name, CHAR) for name in STREAMS},
    "char8_t": UCHAR,
    "__int128": integer(16, True),
    "__int128_t": integer(16, True),
    "__uint128_t": integer(16, False),
    "int128_t": integer(16, True),
    "uint128_t": integer(16, False),
    "nullptr_t": PTR,
}
"""Types by name; what a file declares itself comes before them."""

FIXED: Final = frozenset(
    "int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t size_t ssize_t".split()
)
"""Types that are the same wherever they are declared: a header declares them several times, each
for another compiler."""

CONTAINERS: Final = frozenset(
    "vector list deque map set unordered_map unordered_set multimap multiset array stack "
    "queue auto_ptr unique_ptr shared_ptr pair basic_string optional forward_list "
    "weak_ptr string_view".split()
)

SEQUENCES: Final = frozenset({"vector", "deque"})
MAPS: Final = frozenset({"map", "unordered_map", "multimap"})
INDEXED: Final = SEQUENCES | MAPS
"""Containers whose elements are distinguished."""

UNIT: Final = 10_007
"""Bytes that a record counts as when nothing defines it: a prime, so that what is counted in such
records is distinguished from what is counted in bytes, and only like is compared with like."""
UNPLACED: Final = 1 << 20
"""First offset given to members whose record is not known; they are distinguished by name."""


def size_of(type_: Type, records: dict[str, tuple[int, int]] | None = None) -> int:
    """Return the bytes of a value of the type; 0 when not known. `records` has sizes by name."""
    if isinstance(type_, (Integer, Float)):
        return type_.size
    if isinstance(type_, (Pointer, Reference, FunctionType)):
        return 8
    if isinstance(type_, Array):
        return 0 if type_.count < 0 else size_of(type_.inner, records) * type_.count
    if isinstance(type_, Record) and records is not None:
        return records.get(type_.name, (0, 1))[0]
    return 1 if type_ is VOID else 0


def align_of(type_: Type, records: dict[str, tuple[int, int]] | None = None) -> int:
    """Alignment in bytes."""
    if isinstance(type_, Array):
        return align_of(type_.inner, records)
    if isinstance(type_, Record):
        return records.get(type_.name, (0, 8))[1] if records is not None else 8
    return size_of(type_, records) or 8


_LIMITS: Final[dict[tuple[int, bool], tuple[int, int]]] = {
    (size, signed): (
        (-(1 << (8 * size - 1)), (1 << (8 * size - 1)) - 1)
        if signed
        else (0, (1 << (8 * size)) - 1)
    )
    for size in (1, 2, 4, 8, 16)
    for signed in (True, False)
}
WIDEST: Final = _LIMITS[(8, True)][0], _LIMITS[(8, False)][1]


def limits(type_: Type) -> tuple[Number, Number]:
    """Least and greatest value of a number type; those of all 64-bit ones for others."""
    if isinstance(type_, Integer):
        return _LIMITS[(type_.size, type_.signed)]
    if isinstance(type_, Float):
        return -1e308, 1e308
    return WIDEST


def promote(type_: Type) -> Type:
    """Return the type after integer promotion."""
    return INT if isinstance(type_, Integer) and type_.size < 4 else type_


def common(left: Type, right: Type) -> Type:
    """Return the type both operands of an arithmetic operator are converted to."""
    if isinstance(right, Float):
        return left if isinstance(left, Float) and left.size >= right.size else right
    if isinstance(left, Float):
        return left
    if not isinstance(left, Integer) or not isinstance(right, Integer):
        return ANY if left is ANY or right is ANY else LONG
    if left.size < 4:
        left = INT
    if right.size < 4:
        right = INT
    if left.size != right.size:
        return left if left.size > right.size else right
    return left if not left.signed else right


def is_pointer(type_: Type) -> TypeGuard[Pointer | Array | FunctionType]:
    """Pointer, array or function."""
    return isinstance(type_, (Pointer, Array, FunctionType))


def is_byte(type_: Type) -> bool:
    """Return whether it is a character or another number of one byte."""
    return isinstance(type_, Integer) and type_.size == 1


def pointee(type_: Type) -> Type:
    """Return the type that a pointer or array leads to."""
    if isinstance(type_, (Pointer, Array, Reference)):
        return type_.inner
    return ANY
