"""Text in the columns of a terminal."""

from __future__ import annotations

import pytest

from jarvis_ls.core.columns import broken, columns, cut

TEXTS = ["", "a", "word", "two words", "漢字", "e\u0301漢", "a漢b字", "   ", "\u0301\u0301"]


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
