"""Where variables of a large function are mentioned last: beyond, a state need not hold them.

Without that, each of thousands of locals costs something wherever two ways meet, and following a
function takes longer than in proportion to its length.
"""

from __future__ import annotations

from typing import Final

from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.memory_regions import Frame
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.cfg import loops
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.instructions import Alloca, Declare
from jarvis_ls.jsec.flow.ir.nodes import Expr
from jarvis_ls.jsec.flow.ir.operands import gives, of_end, of_instruction
from jarvis_ls.jsec.flow.ir.types import Float, Integer

_LARGE: Final = 64
"""Variables and temporaries of a function for which it is worth while to look."""
_AROUND: Final = 6
"""Blocks that a way is taken to go around at most."""


def last_uses(function: FunctionIR) -> dict[int, list[int]]:
    """By block, the numbers and temporaries that nothing mentions from that block on.

    A temporary counts from the number of variables on. Those whose address is taken are left out,
    and so is what is not a number. Mentioned within a loop is mentioned up to its end.
    """
    if function.size < 2 * _LARGE:
        return {}
    count = len(function.slots)
    last: dict[int, int] = {}
    taken: set[int] = set()
    for index, (instrs, end) in enumerate(function.blocks):
        work = of_end(end)
        for instr in instrs:
            work += of_instruction(instr)
            if isinstance(instr, (Declare, Alloca)):
                last[instr.slot] = index
            elif (temp := gives(instr)) >= 0:
                last[count + temp] = index
        _mentions(work, index, count, last, taken)
    if len(last) < _LARGE:
        return {}
    until = _loops(function)
    found: dict[int, list[int]] = {}
    for slot, block in last.items():
        number = slot >= count or isinstance(function.slots[slot][1], (Integer, Float))
        if number and slot not in taken:
            found.setdefault(until[block] + 1, []).append(slot)
    return found


def forget(frame: Frame, index: int, states: list[AbstractState]) -> None:
    """Drop numbers that nothing mentions from a block on: of those of the blocks just before, too,
    which a way may have gone around."""
    for block in range(index - _AROUND, index + 1):
        for slot in frame.last_uses.get(block, ()):
            for state in states:
                cells = state.memory.get(frame.base + slot)
                if cells is not None and not any(cell.targets for cell in cells.values()):
                    del state.memory[frame.base + slot]


def _mentions(
    work: list[Expr], index: int, count: int, last: dict[int, int], taken: set[int]
) -> None:
    """Note what the expressions of a block mention; uses `work` up."""
    while work:
        e = work.pop()
        if isinstance(e, nodes.Local):
            last[e.slot] = index
            taken.add(e.slot)
        elif isinstance(e, nodes.Temp):
            last[count + e.number] = index
        else:
            operands = e.operands()
            if isinstance(e, (nodes.Load, nodes.Store, nodes.Step)) and isinstance(
                e.address, nodes.Local
            ):
                last[e.address.slot] = index
                operands = operands[1:]
            work += operands


def _loops(function: FunctionIR) -> list[int]:
    """Return the last block of the loops around each block; the block itself where there is
    none.
    """
    until = list(range(len(function.blocks)))
    start = reach = -1
    for head, tail in [*sorted(loops(function)), (len(until), len(until))]:
        if head > reach:
            until[start : reach + 1] = [reach] * (reach + 1 - start) if start >= 0 else []
            start = head
        reach = max(reach, tail)
    return until
