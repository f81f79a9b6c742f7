"""Blocks that jump to each other say the same as arms that hold what they lead to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.jc2r.translate.machine_arms import arms, go

STEPS = 60
"""So many questions are asked in one run."""


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[list[str]], dict[int, list[int]], set[int]]:
    """Blocks that do something, ask, and jump; some are heads of loops, some are addressed."""
    count = draw(st.integers(1, 9))
    numbers = st.integers(0, count - 1)
    blocks = []
    for number in range(count):
        form = draw(st.integers(0, 4))
        did = [f"did({number});"]
        jump = go(draw(numbers))
        if form == 0:
            blocks.append([jump])  # does nothing else
        elif form == 1:
            blocks.append([*did, f"if asked() {{ {go(draw(numbers))} }} {jump}"])
        elif form == 2:
            asked = [f"1 => {{ {go(draw(numbers))} }}", f"_ => {{ {go(draw(numbers))} }}"]
            blocks.append([*did, "match asked() {", *asked, "}", jump])
        elif form == 3:
            blocks.append([*did, "'l1: while asked() {", f"if asked() {{ {jump} }}", "}", jump])
        else:
            blocks.append([*did, "return;"])
    heads = draw(st.lists(numbers, max_size=3, unique=True))
    loops = {head: heads[:place] for place, head in enumerate(heads)}
    return blocks, loops, draw(st.sets(numbers, max_size=2))


class _Ended(Exception):
    pass


class _Jump(Exception):
    def __init__(self, label: str) -> None:
        self.label = label


class _Run:
    """What blocks do, when questions are answered by some bits."""

    def __init__(self, arms: dict[int, list[str]], bits: int) -> None:
        self.arms, self.bits, self.asked, self.did = arms, bits, 0, list[int]()
        self.block = self.turns = 0

    def trace(self) -> list[int]:
        try:
            while self._turn():
                self._until_jump()
        except _Ended:
            pass
        return self.did

    def _until_jump(self) -> None:
        words = re.findall(
            r"'\w+: \w+|\w+|=>|[{}]|continue '\w+|\S", " ".join(self.arms[self.block])
        )
        try:
            self._all(iter(_tree(iter(words))))
        except _Jump as jump:
            assert jump.label == "machine"

    def _turn(self) -> bool:
        self.turns += 1
        if self.turns > 20 * STEPS:  # around in a circle in which nothing happens
            raise _Ended
        return True

    def _answer(self) -> bool:
        self.asked += 1
        if self.asked > STEPS:
            raise _Ended
        return bool(self.bits >> (self.asked % 24) & 1)

    def _all(self, words: Iterator[str | list]) -> None:  # type: ignore[type-arg]
        matched = None
        for word in words:
            if isinstance(word, list):
                raise AssertionError(word)
            if word == "did":
                next(words)
                self.did.append(int(str(next(words))))
                if len(self.did) > STEPS:
                    raise _Ended
            elif word == "return":
                raise _Ended
            elif word == "if":
                yes = self._answer()
                body = _body(words)
                if yes:
                    self._all(iter(body))
            elif word == "match":
                matched = self._answer()
                self._match(iter(_body(words)), matched)
            elif word == "__block":
                next(words)
                self.block = int(str(next(words)))
            elif word == "continue":
                next(words)
                raise _Jump(str(next(words)))
            elif word == "'":
                self._loop(str(next(words)), words)

    def _match(self, words: Iterator[str | list], yes: bool) -> None:  # type: ignore[type-arg]
        for word in words:
            if word in ("1", "_"):
                body = _body(words)
                if (word == "1") == yes:
                    self._all(iter(body))
                    return

    def _loop(self, label: str, words: Iterator[str | list]) -> None:  # type: ignore[type-arg]
        asked = "while" in (next(words), next(words))
        body = _body(words)
        while self._answer() if asked else self._turn():
            try:
                self._all(iter(body))
            except _Jump as jump:
                if jump.label != label:
                    raise


def _tree(words: Iterator[str]) -> list:  # type: ignore[type-arg]
    found: list = []  # type: ignore[type-arg]
    for word in words:
        if word == "{":
            found.append(_tree(words))
        elif word == "}":
            return found
        else:
            found += re.findall(r"\w+|\S", word)
    return found


def _body(words: Iterator[str | list]) -> list:  # type: ignore[type-arg]
    return next(word for word in words if isinstance(word, list))


@given(programs(), st.integers(0, (1 << 24) - 1))
def test_the_same_is_done_in_the_same_order(
    program: tuple[list[list[str]], dict[int, list[int]], set[int]], bits: int
) -> None:
    blocks, loops, addressed = program
    made = arms(blocks, loops, addressed)
    assert {0, *addressed} <= set(made)
    assert _Run(made, bits).trace() == _Run(dict(enumerate(blocks)), bits).trace()


def test_a_loop_with_an_entry_in_its_middle_is_gone_around_in_one_arm() -> None:
    blocks = [
        [f"if asked() {{ {go(1)} }} {go(2)}"],  # into the loop at its head, or behind it
        [f"did(1); if asked() {{ {go(2)} }} {go(3)}"],
        [f"did(2); {go(1)}"],
        ["return;"],
    ]
    made = arms(blocks, {1: []}, set())
    assert any(line == "'b1: loop {" for line in made[1])
    assert not any(go(1) in line or go(2) in line for line in made[1])
    assert any(line.strip() == go(1) for line in made[2])
