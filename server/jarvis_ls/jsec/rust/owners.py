"""Calls that take back memory a raw pointer stands for."""

from __future__ import annotations

from jarvis_ls.codeintel.code import Call, ancestors, called_name, text
from jarvis_ls.jsec.rust.shapes import call_path, peel, receiver_of

RELEASES = frozenset({"from_raw", "dealloc", "free", "drop_in_place"})
"""Last names of the calls that release what their first argument points to."""

_OWNERS = frozenset({"Box", "CString", "Arc", "Rc"})


def released(call: Call) -> str:
    """The pointer a call takes back, as text; empty when it takes back none."""
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
    """Whether the value is gone after the statement of the call: freed, or owned by a temporary
    that is dropped at once."""
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
