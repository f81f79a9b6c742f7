"""Calls that free a raw pointer or take ownership of it."""

from __future__ import annotations

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import ancestors, text
from jarvis_ls.jsec.local.rust.shapes import call_path, peel, receiver_of

RELEASES = frozenset({"from_raw", "dealloc", "free", "drop_in_place"})
"""Last names of the calls that free the memory of their first argument."""

_OWNERS = frozenset({"Box", "CString", "Arc", "Rc"})


def released_pointer(call: Call) -> str:
    """Return the pointer that a call frees or takes ownership of, as text; empty for none."""
    if call.is_method or call.name not in RELEASES:
        return ""
    path = call_path(call)
    owner = path.rpartition("::")[0].rpartition("::")[2]
    if call.name == "from_raw" and owner not in _OWNERS:
        return ""
    if call.name == "free" and owner not in ("libc", "") and "libc" not in path:
        return ""
    pointer = peel(call.arg(0))
    for _ in range(4):
        if pointer is None or called_name(pointer) not in ("cast", "cast_mut", "as_ptr"):
            break
        pointer = peel(receiver_of(pointer))
    return text(pointer)


def ends_life(call: Call) -> bool:
    """Return whether the value is dropped by the end of the statement: freed, or owned by a
    temporary.
    """
    if call.name != "from_raw":
        return True
    for outer in ancestors(call.node):
        if outer.type == "expression_statement":
            return True
        if outer.type == "let_declaration":
            return text(outer.child_by_field_name("pattern")) == "_"
        if outer.type == "call_expression" and called_name(outer) != "drop":
            return False
        if outer.type in ("block", "match_arm", "closure_expression", "return_expression"):
            return False
    return False
