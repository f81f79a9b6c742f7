"""Memory that is no longer needed, returned to the system."""

from __future__ import annotations

import ctypes
import gc
import os
from pathlib import Path


def give_back() -> None:
    """Collect what is garbage, and hand free memory back to the system where the C library can."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError, TypeError):  # another C library or another system
        return


def resident() -> int | None:
    """Return the bytes this process has in memory by Linux's `proc(5)`; None elsewhere."""
    try:
        pages = Path("/proc/self/statm").read_bytes().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None
