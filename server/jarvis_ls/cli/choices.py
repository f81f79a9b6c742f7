"""Answers to a question at a terminal that names its choices, as `[y]es, [n]o`."""

from __future__ import annotations

import re

_WORDS = re.compile(r"\[(\w)\](\w*)")


def choices_in_words(prompt: str) -> str:
    """Return what may be answered, as in `y (yes), n (no)`."""
    found = [(letter, f"{letter}{rest}") for letter, rest in _WORDS.findall(prompt)]
    return ", ".join(letter if letter == word else f"{letter} ({word})" for letter, word in found)


def chosen(prompt: str, line: str) -> str:
    """Return the letter in brackets that a line chooses, alone or as its word; empty when it is
    none.

    A line that only begins with the letter of a choice ("stop", "use another file") chooses
    nothing.
    """
    said = line.strip().lower()
    for letter, rest in _WORDS.findall(prompt):
        if said in (letter, letter + rest):
            return str(letter)
    return ""
