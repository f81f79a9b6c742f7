"""Text in a terminal: the columns it takes, and lines of no more than so many of them.

A Chinese character takes two columns, and there are no blanks between words.
"""

from __future__ import annotations

import re

_PIECES = re.compile(r"\s*(?:[^\s\u2e80-\uffef]+|[\u2e80-\uffef](?:[，。；：、）”])?)")
"""Where a line may not be broken: a word, or a wide sign with the stop behind it."""


def columns(text: str) -> int:
    """Return the columns a text takes in a terminal, emoji sequences and combining marks included.

    A control character takes none.
    """
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth, wcwidth  # its tables take a while; most text is ASCII

    width = wcswidth(text)
    return width if width >= 0 else sum(max(0, wcwidth(char)) for char in text)


def cut(text: str, width: int) -> str:
    """Return a text, or its beginning and `…` when it takes more than `width` columns (0 or
    more).
    """
    if columns(text) <= width:
        return text
    while text and columns(text) > width - 1:
        text = text[: max(0, min(len(text) - 1, width - 1))]
    return text + "…"[:width]


def broken(text: str, width: int) -> list[str]:
    """Return lines of at most `width` columns, broken at blanks and between wide characters.

    A word that is wider than a line is cut.
    """
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
