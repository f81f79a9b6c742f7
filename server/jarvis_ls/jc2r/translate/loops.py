"""The parts of a `for` that is translated."""

from __future__ import annotations

from typing import Any

from jarvis_ls.codeintel import for_loops
from jarvis_ls.jc2r.translate.names import Unsupported


def for_parts(cursor: Any) -> tuple[Any | None, Any | None, Any | None, Any]:
    """Return initialisation, condition, step and body of a `for`."""
    found = for_loops.for_parts(cursor)
    if found is None:
        raise Unsupported("a for loop whose parts come from a macro")
    return found
