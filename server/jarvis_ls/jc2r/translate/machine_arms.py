"""Blocks of a machine as arms that hold what they lead to, so that loops are loops again.

A jump to another arm costs a turn of the machine, which the compiler cannot see through. A block
that is jumped to from one place only is there. The head of a loop of the source is an arm that
holds the whole loop, whatever else jumps into its middle: blocks of it may be there again, so
that going around never leaves the arm. (Loops with several entries are split this way in
compilers; see "node splitting" in Aho, Lam, Sethi, Ullman, Compilers, 9.7.)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from jarvis_ls.jc2r.symbols.translation_order import components

_GO = re.compile(r"__block = (\d+); continue 'machine;")
_TURN = re.compile(r"(?:'\w+: )?(?:loop|while .*|for .*) \{\Z")
MOST_LINES = 1500
"""Lines an arm grows to by repeating blocks."""
MOST_DEEP = 40
"""Blocks that are inside each other."""


def go(block: int) -> str:
    """Return the jump to a block."""
    return f"__block = {block}; continue 'machine;"


def arms(
    blocks: Sequence[Sequence[str]], loops: Mapping[int, Sequence[int]], addressed: set[int]
) -> dict[int, list[str]]:
    """Lines of each arm by the number of its first block; it begins in block 0.

    Every block ends with a jump. `loops` are the heads of loops with the heads of those around
    them; the numbers of `addressed` are jumped to by values, and so stay arms.
    """
    return _Arms(blocks, loops, addressed).made()


class _Arms:
    def __init__(
        self,
        blocks: Sequence[Sequence[str]],
        loops: Mapping[int, Sequence[int]],
        addressed: set[int],
    ) -> None:
        self._addressed = addressed
        plain = [[line for text in block for line in text.split("\n")] for block in blocks]
        ends = [self._end(plain, number) for number in range(len(plain))]
        self._blocks = [
            [_GO.sub(lambda jump: go(ends[int(jump[1])]), line) for line in block]
            for block in plain
        ]
        self._jumps = [
            [int(jump[1]) for line in block for jump in _GO.finditer(line)]
            for block in self._blocks
        ]
        reached = self._reachable()
        counts = Counter(to for number in reached for to in self._jumps[number])
        self._once = {number for number, count in counts.items() if count == 1} - addressed - {0}
        self._loops = {
            ends[head]: self._blocks_of(
                ends[head], {ends[statement] for statement in around}, reached
            )
            for head, around in loops.items()
            if ends[head] in reached
        }

    def made(self) -> dict[int, list[str]]:
        waiting, found = [*sorted(self._addressed), 0], {}
        while waiting:
            block = waiting.pop()
            if block not in found:
                arm = _Arm(self._blocks, self._once, self._loops.get(block, frozenset()))
                found[block] = arm.lines(block)
                waiting += arm.others
        return dict(sorted(found.items()))

    def _end(self, blocks: Sequence[Sequence[str]], block: int) -> int:
        """Return where a block leads that does nothing but jump."""
        seen: set[int] = set()
        while block not in seen and block not in self._addressed and len(blocks[block]) == 1:
            jump = _GO.fullmatch(blocks[block][0])
            if jump is None:
                break
            seen.add(block)
            block = int(jump[1])
        return block

    def _reachable(self) -> set[int]:
        reached: set[int] = set()
        waiting = [0, *self._addressed]
        while waiting:
            block = waiting.pop()
            if block not in reached:
                reached.add(block)
                waiting += self._jumps[block]
        return reached

    def _blocks_of(self, head: int, around: set[int], reached: set[int]) -> frozenset[int]:
        """Return the blocks that lead from a head back to it, without the heads of loops around
        it.
        """
        inside = sorted(reached - (around - {head}))
        number = {block: place for place, block in enumerate(inside)}
        graph = [[number[to] for to in self._jumps[block] if to in number] for block in inside]
        circle = next(component for component in components(graph) if number[head] in component)
        return frozenset(inside[place] for place in circle)


class _Arm:
    """One arm, as it is put together."""

    def __init__(
        self, blocks: Sequence[Sequence[str]], once: set[int], loop: frozenset[int]
    ) -> None:
        self._blocks, self._once, self._loop = blocks, once, loop
        self._size = 0
        self._around: set[int] = set()
        self.others: list[int] = []
        """Blocks it jumps to, which are arms of their own."""

    def lines(self, block: int) -> list[str]:
        return self._place_block(block, ())

    def _place_block(self, block: int, within: tuple[int, ...]) -> list[str]:
        within = (*within, block)
        self._size += len(self._blocks[block])
        lines: list[str] = []
        turns: list[bool] = []
        for line in self._blocks[block]:
            if line.startswith("}") and turns:
                turns.pop()
            if line.endswith("{"):
                turns.append(_TURN.fullmatch(line) is not None)
            jump = _GO.search(line)
            if jump is None:
                lines.append(line)
                continue
            at = 0
            for jump in _GO.finditer(line):
                lines += [line[at : jump.start()], *self._jump(int(jump[1]), within, any(turns))]
                at = jump.end()
            lines.append(line[at:])
        if block in self._around:
            self._around.discard(block)
            return [f"'b{block}: loop {{", *lines, "}"]
        return lines

    def _jump(self, to: int, within: tuple[int, ...], turning: bool) -> list[str]:
        """Return what represents a jump; inside of a loop of the C (`turning`) that is only a
        jump.
        """
        if to in within:
            self._around.add(to)
            return [f"continue 'b{to};"]
        again = to in self._loop and self._size < MOST_LINES
        if not turning and len(within) < MOST_DEEP and (to in self._once or again):
            return self._place_block(to, within)
        self.others.append(to)
        return [go(to)]
