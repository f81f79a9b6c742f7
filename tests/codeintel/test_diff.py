"""A diff is exact whatever the texts, and stays quick when they are large."""

from __future__ import annotations

import itertools
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_ls.codeintel import diff
from jarvis_ls.codeintel.diff import Block, blocks, joined

texts = st.lists(st.sampled_from("abcde}"), max_size=30)


def patched(old: list[str], new: list[str], found: list[Block]) -> list[str]:
    result: list[str] = []
    at = 0
    for a, b, c, d in found:
        result += old[at:a] + new[c:d]
        at = b
    return result + old[at:]


@pytest.mark.parametrize("cells", [250_000, 0])
@given(texts, texts)
def test_the_blocks_lead_from_one_text_to_the_other(
    cells: int, old: list[str], new: list[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:  # none: texts too large to compare closely
        patch.setattr(diff, "_MOST_CELLS", cells)
        found = blocks(old, new)
    assert patched(old, new, found) == new
    for a, b, c, d in found:
        assert 0 <= a <= b <= len(old) and 0 <= c <= d <= len(new) and (a < b or c < d)
    for before, after in itertools.pairwise(found):
        assert after[0] > before[1] and after[0] - before[1] == after[2] - before[3]


@given(texts, texts, st.integers(0, 4))
def test_joined_blocks_lead_there_too(old: list[str], new: list[str], gap: int) -> None:
    wide = joined(blocks(old, new), gap)
    assert patched(old, new, wide) == new
    assert all(after[0] - before[1] > gap for before, after in itertools.pairwise(wide))


def test_equal_texts_do_not_differ() -> None:
    assert blocks(["a"], ["a"]) == [] and blocks([], []) == []


def test_a_small_change_in_a_large_file_is_small() -> None:
    old = [f"    value = compute({n % 50});" for n in range(5_000)]
    new = [*old[:2_500], "inserted", *old[2_500:4_000], *old[4_001:]]
    found = blocks(old, new)
    assert sum(b - a + d - c for a, b, c, d in found) == 2 and patched(old, new, found) == new


def test_time_is_near_linear_on_hostile_texts() -> None:
    chance = random.Random(3)

    def took(count: int) -> float:
        old = [chance.choice(["}", "", "x"]) for _ in range(count)]
        new = [chance.choice(["}", "", "x"]) for _ in range(count)]
        began = time.process_time()
        assert patched(old, new, blocks(old, new)) == new
        return time.process_time() - began

    took(1_000)
    assert took(160_000) < 8 * 3 * took(20_000) + 0.5
