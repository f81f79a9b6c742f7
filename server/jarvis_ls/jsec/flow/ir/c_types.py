"""C types as tuples, their sizes and limits under LP64, and the usual conversions.

`("i", size, signed)`, `("f", size)`, `("p", pointee)`, `("a", element, count)` with count -1 when
not known, `("r", name)`, `("v",)`, `("fn", result, parameters, variadic)`, `("c", kind, element)`
for C++ containers and strings, `("?",)` for what is not known. A reference is `("&", type)`.
"""

from __future__ import annotations

from typing import Final

from jarvis_ls.jsec.flow.ir.nodes import Number, Type

CHAR: Final[Type] = ("i", 1, True)
UCHAR: Final[Type] = ("i", 1, False)
SHORT: Final[Type] = ("i", 2, True)
INT: Final[Type] = ("i", 4, True)
UINT: Final[Type] = ("i", 4, False)
LONG: Final[Type] = ("i", 8, True)
ULONG: Final[Type] = ("i", 8, False)
BOOL: Final[Type] = ("i", 1, False, "truth")
"""The fourth member says that what is given to it becomes 0 or 1."""
DOUBLE: Final[Type] = ("f", 8)
VOID: Final[Type] = ("v",)
ANY: Final[Type] = ("?",)
PTR: Final[Type] = ("p", ANY)
CHARS: Final[Type] = ("p", CHAR)

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
    "unsigned short": ("i", 2, False),
    "int": INT,
    "unsigned int": UINT,
    "unsigned": UINT,
    "signed": INT,
    "long": LONG,
    "unsigned long": ULONG,
    "float": ("f", 4),
    "double": DOUBLE,
    "long double": ("f", 16),
    "void": VOID,
    "size_t": ULONG,
    "ssize_t": LONG,
    "int8_t": CHAR,
    "uint8_t": UCHAR,
    "int16_t": SHORT,
    "uint16_t": ("i", 2, False),
    "int32_t": INT,
    "uint32_t": UINT,
    "int64_t": LONG,
    "uint64_t": ULONG,
    "wchar_t": INT,
    "char16_t": ("i", 2, False),
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
    "ushort": ("i", 2, False),
    "ulong": ULONG,
    "SOCKET": INT,
    "FILE": ("r", "FILE"),
    "DIR": ("r", "DIR"),
    "string": ("c", "string", CHAR),
    "wstring": ("c", "string", INT),
    "intmax_t": LONG,
    "uintmax_t": ULONG,
    "va_list": ("r", "va_list"),
    "in_addr_t": UINT,
    **{name: ("c", name, CHAR) for name in STREAMS},
    "char8_t": UCHAR,
    "__int128": ("i", 16, True),
    "__int128_t": ("i", 16, True),
    "__uint128_t": ("i", 16, False),
    "int128_t": ("i", 16, True),
    "uint128_t": ("i", 16, False),
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
    kind = type_[0]
    if kind in ("i", "f"):
        return int(type_[1])
    if kind in ("p", "&", "fn"):
        return 8
    if kind == "a":
        return 0 if type_[2] < 0 else size_of(type_[1], records) * int(type_[2])
    if kind == "r" and records is not None:
        return records.get(type_[1], (0, 1))[0]
    if kind == "v":
        return 1
    return 0


def align_of(type_: Type, records: dict[str, tuple[int, int]] | None = None) -> int:
    """Alignment in bytes."""
    kind = type_[0]
    if kind == "a":
        return align_of(type_[1], records)
    if kind == "r":
        return records.get(type_[1], (0, 8))[1] if records is not None else 8
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
    if type_[0] == "i":
        return _LIMITS[(type_[1], type_[2])]
    if type_[0] == "f":
        return -1e308, 1e308
    return WIDEST


def promote(type_: Type) -> Type:
    """Return the type after integer promotion."""
    return INT if type_[0] == "i" and type_[1] < 4 else type_


def common(left: Type, right: Type) -> Type:
    """Return the type both operands of an arithmetic operator are converted to."""
    if left[0] == "f" or right[0] == "f":
        return left if right[0] != "f" or (left[0] == "f" and left[1] >= right[1]) else right
    if left[0] != "i" or right[0] != "i":
        return LONG if "?" not in (left[0], right[0]) else ANY
    left, right = promote(left), promote(right)
    if left[1] != right[1]:
        return left if left[1] > right[1] else right
    return left if not left[2] else right


def is_pointer(type_: Type) -> bool:
    """Pointer, array or function."""
    return type_[0] in ("p", "a", "fn")


def pointee(type_: Type) -> Type:
    """Return the type that a pointer or array leads to."""
    if type_[0] in ("p", "a", "&"):
        inner: Type = type_[1]
        return inner
    return ANY
