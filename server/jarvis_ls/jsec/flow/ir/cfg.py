"""The control flow graph of a function: successors of a block, and loops by back edges."""

from __future__ import annotations

from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.nodes import FunctionIR, Instr


def targets(end: Instr) -> tuple[int, ...]:
    """Return the successors of a block, by its end."""
    if end[0] == nodes.JUMP:
        return (end[1],)
    if end[0] == nodes.IF:
        return (end[2], end[3])
    if end[0] == nodes.SWITCH:
        return (*(case[2] for case in end[2]), end[3])
    return ()


def loop_test(function: FunctionIR, head: int) -> int:
    """Return the block with the test of a loop: its head, or where that leads."""
    at = head
    while (end := function.blocks[at][1])[0] == nodes.JUMP and end[1] > at:
        at = end[1]
    return at


def loops(function: FunctionIR) -> list[tuple[int, int]]:
    """First and last block of each loop, by the edges that go back."""
    return [
        (target, index)
        for index, (_, end) in enumerate(function.blocks)
        for target in targets(end)
        if target <= index
    ]
