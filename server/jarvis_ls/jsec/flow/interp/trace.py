"""The way to a flaw: its steps in the order in which the program takes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from jarvis_ls.jsec.flow.domain.fault import BRANCH, CALLED, LOOP_ENDS, Step
from jarvis_ls.jsec.flow.ir.cfg import loops
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.instructions import Branch

ONLY: Final = "only"
"""Third in a link of a trail whose branch is no choice: otherwise the program ends, or a loop is
gone through as many times as it says."""
_MOST: Final = 12
"""Branches and calls that are shown, the last ones."""
_FAR: Final = 400
"""How many of them are looked through for the place of a cause."""
_MEETINGS: Final = 200
"""Places where ways met that are distinguished, the last ones; before them one represents all."""
_DETAILED: Final = 100
"""Ways of a run after which fewer are, and fewer branches and calls are looked through."""
_FEW_MEETINGS: Final = 8
_FEW_FAR: Final = 40
_BRIEF: Final = 400
"""Ways of a run after which hardly any are."""
_FEWEST_MEETINGS: Final = 2


@dataclass(slots=True)
class Ways:
    """What the ways to the flaws of one run share."""

    told: int = 0
    """Ways so far."""
    loops: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """Loops of functions, by identity."""
    branches: dict[int, dict[Any, list[Any]]] = field(default_factory=dict)
    """Ends of blocks of functions by the place of the branch, by identity."""

    def bounds(self) -> tuple[int, int]:
        """Return how many meetings the next way distinguishes, and how many of its steps are looked
        through: of thousands of flaws in one function, each as long as the function, only the
        first are reported in every detail."""
        self.told += 1
        if self.told <= _DETAILED:
            return _MEETINGS, _FAR
        return _FEW_MEETINGS if self.told <= _BRIEF else _FEWEST_MEETINGS, _FEW_FAR


def way(
    trail: Any, causes: Iterable[Any], functions: Sequence[FunctionIR], ways: Ways
) -> list[Step]:
    """Return the branches and calls of a state that all its ways took, with what it comes from
    where that happened.

    `causes` are a file, a place, a message and its values, and for some of them what the trail was
    then: they are put there, and the others by where they are written in their function.
    `functions` are those that the run has entered, `ways` what it knows of earlier ways.
    """
    links = _common_links(trail, *ways.bounds())
    steps = [Step(*link[1]) for link in links]
    placed: list[tuple[int, Step]] = []
    for cause in causes:
        step = Step(*cause[:4])
        at = _behind(cause[4], links) if len(cause) > 4 else None
        if at is None:
            at = _by_text(step, steps, functions)
        placed.append((at, step))
    first = max(len(steps) - _MOST, 0)
    told = [step for at, step in placed if at <= first]
    for index in range(first, len(steps)):
        told.append(_with_loop_end(steps[index], functions, ways))
        told.extend(step for at, step in placed if at == index + 1 > first)
    return told


def _common_links(trail: Any, most: int, steps: int) -> list[Any]:
    """Return the last `steps` links with a step that every way of a trail took, first ones first;
    of meetings the last `most` are distinguished."""
    before: dict[int, Any] = {}
    """Of links where ways met, by identity: the last that both took."""
    far = most * _FAR // _MEETINGS
    for link in _meetings(trail, most):
        known = {id(other) for other in islice(_along(link[0], before), far)}
        others = islice(_along(link[2], before), far)
        before[id(link)] = next((other for other in others if id(other) in known), None)
    links = list(islice(_along(trail, before), steps))
    links.reverse()
    return links


def _along(link: Any, before: dict[int, Any]) -> Iterator[Any]:
    """Yield the links with a step from one back to the beginning, past what not every way took; of
    meetings that are not in `before` the first way."""
    while link is not None:
        if link[1] is None:
            link = before.get(id(link), link[0])
        else:
            yield link
            link = link[0]


def _meetings(trail: Any, most: int) -> list[Any]:
    """Return the links of a trail where ways met, each behind those that lead to it."""
    found: list[Any] = []
    seen: set[int] = set()
    waiting = [(trail, False)]
    while waiting:
        link, done = waiting.pop()
        if done:
            found.append(link)
            continue
        while link is not None and link[1] is not None:
            link = link[0]
        if link is not None and id(link) not in seen and len(seen) < most:
            seen.add(id(link))
            waiting += [(link, True), (link[0], False), (link[2], False)]
    return found


def _behind(link: Any, links: list[Any]) -> int | None:
    """Return the number of steps taken when the trail was `link`; None when it is another way."""
    if link is None:
        return 0
    return next((at + 1 for at in range(len(links) - 1, -1, -1) if links[at] is link), None)


def _by_text(step: Step, steps: list[Step], functions: Sequence[FunctionIR]) -> int:
    """Return the number of steps before a step, by where it is written in its function."""
    function = _around(step, functions)
    if function is None:
        return 0
    at = None
    for index in range(len(steps) - 1, -1, -1):
        other = steps[index]
        if other.message == CALLED and dict(other.args).get("name") == function.name:
            return index + 1 if at is None else at
        if other.file != step.file or not function.span[0] <= other.span[0] < function.span[1]:
            continue
        if other.span[1] >= step.span[1]:
            at = index
        elif at is not None:
            break
        else:
            return index + 1
    return at or 0


def _around(step: Step, functions: Sequence[FunctionIR]) -> FunctionIR | None:
    """Return the function that a step is written in."""
    around = (
        function
        for function in functions
        if function.file == step.file and function.span[0] <= step.span[0] < function.span[1]
    )
    return min(around, key=lambda function: function.span[1] - function.span[0], default=None)


def _with_loop_end(step: Step, functions: Sequence[FunctionIR], ways: Ways) -> Step:
    """Return a step as it is shown: that the condition of a loop is false says nothing of its
    rounds.
    """
    function = _around(step, functions) if step.message == BRANCH else None
    if function is None:
        return step
    holds = step.args == (("value", "true"),)
    key = id(function)
    if key not in ways.loops:
        ways.loops[key] = loops(function)
        ways.branches[key] = branches = dict[Any, list[Branch]]()
        for _, end in function.blocks:
            if isinstance(end, Branch):
                branches.setdefault(end.span, []).append(end)
    for end in ways.branches[key].get(step.span, ()):
        to, other = (end.yes, end.no) if holds else (end.no, end.yes)
        if any(head <= other <= tail < to for head, tail in ways.loops[key]):
            return Step(step.file, step.span, LOOP_ENDS, step.args)
    return step
