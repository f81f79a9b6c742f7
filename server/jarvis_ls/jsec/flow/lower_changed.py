"""Which variables of file scope a lowered function may change."""

from __future__ import annotations

from typing import Any

from jarvis_ls.jsec.flow import ir
from jarvis_ls.jsec.flow.ir import FunctionIR


def changed(function: FunctionIR) -> set[str]:
    """Globals the function may change: assigned, stepped, or with their address given away."""
    found: set[str] = set()
    if not function.reads:
        return found
    for instrs, end in function.blocks:
        for instr in (*instrs, end):
            _changes(instr, found)
    return found


def _changes(root: tuple[Any, ...], found: set[str]) -> None:
    stack = [root]
    while stack:
        part = stack.pop()
        head = part[0]
        if head == ir.GLOBAL and len(part) == 2 and type(part[1]) is str:
            found.add(part[1])
            continue
        if head == ir.LOAD and len(part) == 4 and type(part[1]) is tuple:
            stack.extend(_read(part[1]))
            continue
        for inner in part:
            if type(inner) is not tuple or not inner or type(inner[0]) is str:  # a type
                continue
            if len(inner) != 2 or type(inner[1]) is not int:  # neither a span nor a local
                stack.append(inner)


def _read(address: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """What the address of a place that is read is worked out from: nothing for a variable itself
    or a member of it, the index for an element. A table of structs counts as one that may change:
    which member an unknown element gives is not told apart well enough to prove anything by it."""
    parts: list[tuple[Any, ...]] = []
    plain = address[0] == ir.INDEX
    while address[0] in (ir.FIELD, ir.DECAY) or (plain and address[0] == ir.INDEX):
        if address[0] == ir.INDEX:
            parts.append(address[2])
        address = address[1]
    if address[0] != ir.GLOBAL:
        parts.append(address)
    return parts
