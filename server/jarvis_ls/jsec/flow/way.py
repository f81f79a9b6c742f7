"""The way to a fault, in the order in which the program goes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from jarvis_ls.jsec.flow.fault import Step

MAX_BRANCHES = 12
"""So many of the last conditions and calls are told."""


def way_of(causes: Iterable[Step], trail: Any, stack: Sequence[Any]) -> list[Step]:
    """Conditions and calls on the way with the causes put between them.

    `trail` is a linked list, the last place first; `stack` holds the functions that are being
    run, the outermost first. A cause in one of those stands behind what its function and those
    that call it did further up; one in a function that was left already stands in front.
    """
    steps = _last(trail)
    front = 0
    for cause in causes:
        depth = _depth(cause, stack)
        if depth < 0:
            at = front
            front += 1
        else:
            at = _behind(cause, depth, steps, stack, front)
        steps.insert(at, cause)
    return steps


def _behind(
    cause: Step, depth: int, steps: Sequence[Step], stack: Sequence[Any], front: int
) -> int:
    for index in range(len(steps) - 1, front - 1, -1):
        other = _depth(steps[index], stack)
        earlier = other == depth and steps[index].span[0] <= cause.span[0]
        if 0 <= other < depth or earlier:
            return index + 1
    return front


def _depth(step: Step, stack: Sequence[Any]) -> int:
    """Which of the functions being run a place is in; -1 for none of them."""
    for index in range(len(stack) - 1, -1, -1):
        function = stack[index]
        if function.file == step.file and function.span[0] <= step.span[0] < function.span[1]:
            return index
    return -1


def _last(trail: Any) -> list[Step]:
    steps: list[Step] = []
    while trail is not None and len(steps) < MAX_BRANCHES:
        steps.append(Step(*trail[1]))
        trail = trail[0]
    steps.reverse()
    return steps
