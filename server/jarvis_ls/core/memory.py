"""Memory that is no longer needed, returned to the system."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from pathlib import Path


def give_back() -> None:
    """Collect what is garbage, and hand free memory back to the system where the C library can.

    CPython's cache of attributes holds up to 4,096 names that were looked up, many of them strings
    made for one call (by `json` and `asyncio`): they lie all over the memory of what has been freed
    since, and none of its arenas would go back.
    """
    _clear_attribute_cache()
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError, TypeError):  # another C library or another system
        return


_clear_attribute_cache = getattr(sys, "_clear_internal_caches", None) or sys._clear_type_cache
"""Of Python 3.13 and newer, and before."""


def resident() -> int | None:
    """Return the bytes this process has in memory by Linux's `proc(5)`; None elsewhere."""
    try:
        pages = Path("/proc/self/statm").read_bytes().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None
