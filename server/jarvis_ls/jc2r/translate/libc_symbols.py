"""What the C library of the machine has, which Rust's own library calls by name.

A definition of such a name takes its place for the whole program, Rust's library included. C asks
that of no one: a variable `poll` or a function `error` of a program is seen by the program alone.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Collection

_LIBRARIES = ("libc.so.6", "libm.so.6")
AT_LOAD = {"_init": ".init_array", "_fini": ".fini_array"}
"""What a library may have that is linked without what gcc puts into every other, and where Rust has
such."""
MEMORY = frozenset(
    "malloc calloc realloc free memalign aligned_alloc posix_memalign valloc pvalloc "
    "malloc_usable_size".split()
)
"""The C library itself calls that of the program."""
NEXT = frozenset({"dlsym", "dlvsym"})
"""How a function finds the one whose place it takes."""
_SYMBOL = 1  # RTLD_DL_SYMENT
_OBJECTS = (1, 5, 6)  # STT_OBJECT, STT_COMMON, STT_TLS


class _Entry(ctypes.Structure):
    """`Elf64_Sym`."""

    _fields_ = (
        ("name", ctypes.c_uint32),
        ("info", ctypes.c_ubyte),
        ("other", ctypes.c_ubyte),
        ("section", ctypes.c_uint16),
        ("value", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
    )


class _Place(ctypes.Structure):
    """`Dl_info`."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def functions_of_system(names: Collection[str]) -> frozenset[str]:
    """Those of `names` that are functions of the C library, and no program's own to replace."""
    found = frozenset(AT_LOAD.keys() & set(names))
    if sys.platform != "linux":
        return found
    for library in _LIBRARIES:
        try:
            loaded = ctypes.CDLL(library)
        except OSError:
            continue
        found |= {name for name in names if _is_function(loaded, name)}
    return found - MEMORY


def _is_function(library: ctypes.CDLL, name: str) -> bool:
    try:
        address = ctypes.cast(library[name], ctypes.c_void_p)
    except AttributeError:
        return False
    place, entry = _Place(), ctypes.POINTER(_Entry)()
    said: int = library.dladdr1(address, ctypes.byref(place), ctypes.byref(entry), _SYMBOL)
    return not (said and entry and entry.contents.info & 15 in _OBJECTS)
