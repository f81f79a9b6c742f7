"""Where variables of a large function are mentioned last: beyond, a state need not hold them.

Without that, each of thousands of locals costs something wherever two ways meet, and following a
function takes longer than in proportion to its length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jarvis_ls.jsec.flow import ir
from jarvis_ls.jsec.flow.ir import FunctionIR
from jarvis_ls.jsec.flow.lower_blocks import loops

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.regions import Frame
    from jarvis_ls.jsec.flow.state import State

_LARGE = 64
"""Variables and temporaries of a function for which it is worth while to look."""
_AROUND = 6
"""Blocks that a way is taken to go around at most."""
_WITHIN = {ir.LOAD: 4, ir.STORE: 5, ir.STEP: 6}
"""Expressions that read or write a variable in place, with their lengths."""


def ends(function: FunctionIR) -> dict[int, list[int]]:
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
        for part in (*instrs, end):
            _mentions(part, index, count, last, taken)
    if len(last) < _LARGE:
        return {}
    until = _loops(function)
    found: dict[int, list[int]] = {}
    for slot, block in last.items():
        number = slot >= count or function.slots[slot][1][0] in ("i", "f")
        if number and slot not in taken:
            found.setdefault(until[block] + 1, []).append(slot)
    return found


def forget(frame: Frame, index: int, states: list[State]) -> None:
    """Drop numbers that nothing mentions from a block on: of those of the blocks just before, too,
    which a way may have gone around."""
    for block in range(index - _AROUND, index + 1):
        for slot in frame.ends.get(block, ()):
            for state in states:
                cells = state.mem.get(frame.base + slot)
                if cells is not None and not any(cell.ptr for cell in cells.values()):
                    del state.mem[frame.base + slot]


def _mentions(
    root: tuple[Any, ...], index: int, count: int, last: dict[int, int], taken: set[int]
) -> None:
    work: list[Any] = [root]
    if root[0] == ir.DECLARE and type(root[1]) is int:
        last[root[1]] = index
    while work:
        part = work.pop()
        head = part[0] if part else None
        if len(part) == 2 and type(part[1]) is int:  # a span that looks like one does no harm
            if head == ir.LOCAL:
                last[part[1]] = index
                taken.add(part[1])
            elif head == ir.TEMP:
                last[count + part[1]] = index
            continue
        inner = part[1:]
        if type(head) is int and _WITHIN.get(head) == len(part):
            address = part[1]
            if type(address) is tuple and len(address) == 2 and address[0] == ir.LOCAL:
                last[address[1]] = index
                inner = part[2:]
        if type(head) is tuple:
            work.append(head)
        work.extend(one for one in inner if type(one) is tuple)


def _loops(function: FunctionIR) -> list[int]:
    """The last block of the loops around each block; the block itself where there is none."""
    until = list(range(len(function.blocks)))
    start = reach = -1
    for head, tail in [*sorted(loops(function)), (len(until), len(until))]:
        if head > reach:
            until[start : reach + 1] = [reach] * (reach + 1 - start) if start >= 0 else []
            start = head
        reach = max(reach, tail)
    return until
