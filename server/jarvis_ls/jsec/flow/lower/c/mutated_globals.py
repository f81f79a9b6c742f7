"""Which variables of file scope a lowered function may change."""

from __future__ import annotations

from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.nodes import Expr
from jarvis_ls.jsec.flow.ir.operands import of_end, of_instruction


def mutated_globals(function: FunctionIR) -> set[str]:
    """Return the globals the function may change: assigned, stepped, or with their address given
    away."""
    found: set[str] = set()
    if not function.reads:
        return found
    for instrs, end in function.blocks:
        work = of_end(end)
        for instr in instrs:
            work += of_instruction(instr)
        _changes(work, found)
    return found


def _changes(work: list[Expr], found: set[str]) -> None:
    while work:
        e = work.pop()
        if isinstance(e, nodes.Global):
            found.add(e.name)
        elif isinstance(e, nodes.Load):
            work += _read(e.address)
        else:
            work += e.operands()


def _read(address: Expr) -> list[Expr]:
    """Return what the address of a place that is read is worked out from: nothing for a variable
    itself or a member of it, the index for an element. A table of structs counts as one that may
    change: which member an unknown element gives is not distinguished well enough to prove by
    it."""
    parts: list[Expr] = []
    plain = isinstance(address, nodes.Index)
    while isinstance(address, (nodes.Field, nodes.Decay)) or (
        plain and isinstance(address, nodes.Index)
    ):
        if isinstance(address, nodes.Index):
            parts.append(address.index)
        address = address.base
    if not isinstance(address, nodes.Global):
        parts.append(address)
    return parts
