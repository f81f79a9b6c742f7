"""Attributes that change what a definition does."""

from __future__ import annotations

from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.baseline.names import Unsupported

_KNOWN = ("constructor", "destructor", "weak", "alias", "cleanup", "ifunc", "naked", "section")
_REFUSED = ("cleanup", "ifunc", "naked", "alias")


def attributes_of(cursor: Any) -> list[str]:
    """The attributes of a definition that matter. Raises `Unsupported` for those that are not
    translated."""
    found = []
    for child in clang.children(cursor):
        if child.kind.name != "UNEXPOSED_ATTR":
            continue
        words = [token.spelling.strip("_") for token in child.get_tokens()]
        for word in _KNOWN:
            if word in words:
                if word in _REFUSED:
                    raise Unsupported(f"the attribute {word}")
                found.append(word)
    return found
