"""Which variables of file scope a lowered function may change."""

from __future__ import annotations

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


def _changes(root: tuple[object, ...], found: set[str]) -> None:
    stack: list[tuple[object, bool]] = [(root, False)]
    while stack:
        part, plain = stack.pop()
        if not isinstance(part, tuple) or not part:
            continue
        head = part[0]
        if head == ir.GLOBAL and len(part) == 2 and isinstance(part[1], str):
            if not plain:
                found.add(part[1])
            continue
        if head == ir.LOAD and len(part) == 4 and isinstance(part[1], tuple):
            stack.append((part[1], _reads_in_place(part[1])))
            continue
        if head in (ir.FIELD, ir.DECAY) and plain:
            stack.append((part[1], True))
            continue
        for inner in part:
            if type(inner) is not tuple or not inner or type(inner[0]) is str:  # a type
                continue
            if len(inner) != 2 or type(inner[1]) is not int:  # neither a span nor a local
                stack.append((inner, False))


def _reads_in_place(address: object) -> bool:
    return isinstance(address, tuple) and bool(address) and address[0] in (ir.GLOBAL, ir.FIELD)
