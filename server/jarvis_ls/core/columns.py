"""Text in a terminal: the columns it takes, and lines of no more than so many of them.

A Chinese sign takes two columns, and no blank stands between words.
"""

from __future__ import annotations

import re
from unicodedata import combining, east_asian_width

_PIECES = re.compile(r"\s*(?:[^\s\u2e80-\uffef]+|[\u2e80-\uffef](?:[，。；：、）”])?)")
"""Where a line may not be broken: a word, or a wide sign with the stop behind it."""


def columns(text: str) -> int:
    """Columns a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(char) else 1 + (east_asian_width(char) in "WF") for char in text)


def cut(text: str, width: int) -> str:
    """A text, or its beginning and `…` when it takes more than `width` columns (0 or more)."""
    if columns(text) <= width:
        return text
    while text and columns(text) > width - 1:
        text = text[: max(0, min(len(text) - 1, width - 1))]
    return text + "…"[:width]


def broken(text: str, width: int) -> list[str]:
    """Lines of at most `width` columns, broken at blanks and between wide signs; a word that is
    wider than a line is cut."""
    lines, line, used = [], "", 0
    for piece in _pieces(text, width):
        taken = columns(piece)
        if line and used + taken > width:
            lines.append(line.rstrip())
            line, used, piece = "", 0, piece.lstrip()
            taken = columns(piece)
        line, used = line + piece, used + taken
    return [*lines, line.rstrip()] if line.strip() else lines


def _pieces(text: str, width: int) -> list[str]:
    found: list[str] = []
    for piece in _PIECES.findall(text):
        word = piece.lstrip()
        if columns(word) <= width:
            found.append(piece)
        else:
            half = max(1, width if word.isascii() else width // 2)
            found += [piece[: len(piece) - len(word)] + word[:half]]
            found += [word[at : at + half] for at in range(half, len(word), half)]
    return found
