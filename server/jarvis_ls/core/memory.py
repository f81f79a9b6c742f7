"""Memory that is no longer needed, returned to the system."""

from __future__ import annotations

import ctypes
import gc


def give_back() -> None:
    """Collect what is garbage, and hand free memory back to the system where the C library can."""
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError, TypeError):  # another C library or another system
        return
