"""Text in the columns of a terminal."""

from __future__ import annotations

import pytest

from jarvis_ls.core.columns import broken, columns, cut

TEXTS = [
    "",
    "a",
    "word",
    "two words",
    "漢字",
    "e\u0301漢",
    "a漢b字",
    "   ",
    "\u0301\u0301",
    "a\u200bb",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 x",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("width", range(7))
def test_what_is_cut_fits_and_is_the_beginning(text: str, width: int) -> None:
    short = cut(text, width)
    assert columns(short) <= width
    assert short == text if columns(text) <= width else text.startswith(short.removesuffix("…"))


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("width", range(2, 7))
def test_broken_lines_fit_and_lose_nothing(text: str, width: int) -> None:
    lines = broken(text, width)
    assert all(columns(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", 2),  # a family, one sign
        ("\u200b", 0),  # zero width space
        ("e\u0301", 1),  # a combining accent
        ("漢字", 4),
        ("漢\x07", 2),  # a control character
    ],
)
def test_columns_are_those_of_the_terminal(text: str, width: int) -> None:
    assert columns(text) == width
