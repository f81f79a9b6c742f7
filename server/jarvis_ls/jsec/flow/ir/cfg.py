"""The control flow graph of a function: successors of a block, and loops by back edges."""

from __future__ import annotations

from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.instructions import Branch, End, Jump, Switch


def targets(end: End) -> tuple[int, ...]:
    """Return the successors of a block, by its end."""
    if isinstance(end, Jump):
        return (end.block,)
    if isinstance(end, Branch):
        return (end.yes, end.no)
    if isinstance(end, Switch):
        return (*(case[2] for case in end.cases), end.default)
    return ()


def loop_test(function: FunctionIR, head: int) -> int:
    """Return the block with the test of a loop: its head, or where that leads."""
    at = head
    while True:
        end = function.blocks[at][1]
        if not isinstance(end, Jump) or end.block <= at:
            return at
        at = end.block


def loops(function: FunctionIR) -> list[tuple[int, int]]:
    """First and last block of each loop, by the edges that go back."""
    return [
        (target, index)
        for index, (_, end) in enumerate(function.blocks)
        for target in targets(end)
        if target <= index
    ]
