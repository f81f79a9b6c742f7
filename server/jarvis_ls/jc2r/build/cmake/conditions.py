"""What `if` asks in files for CMake."""

from __future__ import annotations

import contextlib
import os
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from jarvis_ls.core.regex import compile_regex
from jarvis_ls.jc2r.build.cmake.lexer import Word, expand_word, split_list

_FALSE = ("", "0", "OFF", "NO", "FALSE", "N", "IGNORE", "NOTFOUND")
TRUE = ("1", "ON", "YES", "TRUE", "Y")
_COMPARED: dict[str, Callable[[float, float], bool]] = {
    "EQUAL": lambda left, other: left == other,
    "LESS": lambda left, other: left < other,
    "GREATER": lambda left, other: left > other,
    "LESS_EQUAL": lambda left, other: left <= other,
    "GREATER_EQUAL": lambda left, other: left >= other,
}


_MOST = 2_000
"""Words of a condition that is read."""
_DEEPEST = 50
"""So many brackets may be in each other."""
_DIGITS = 18
"""Of a number that is compared."""


def is_true(value: str) -> bool:
    """Return whether a value is one that holds."""
    return value.upper() not in _FALSE and not value.upper().endswith("-NOTFOUND")


class Condition:
    """What `if` asks."""

    def __init__(self, root: Path, known: Mapping[str, str]) -> None:
        self._root = root
        self._known = known
        self._words: deque[Word] = deque()
        self._depth = 0

    def holds(self, words: Sequence[Word]) -> bool:
        """Return the answer; no when it cannot be read."""
        self._words = deque(
            Word(text, word.quoted) for word in words for text in expand_word(word, self._known)
        )
        return len(self._words) <= _MOST and self._any()

    def _next(self, *texts: str) -> bool:
        """Take the next word when it is one of these."""
        if self._words and not self._words[0].quoted and self._words[0].text in texts:
            self._words.popleft()
            return True
        return False

    def _any(self) -> bool:
        found = self._all()
        while self._next("OR"):
            found = self._all() or found
        return found

    def _all(self) -> bool:
        found = self._one()
        while self._next("AND"):
            found = self._one() and found
        return found

    def _one(self) -> bool:
        holds = True
        while self._next("NOT"):
            holds = not holds
        return self._plain() == holds

    def _plain(self) -> bool:
        if self._next("("):
            self._depth += 1
            found = self._depth <= _DEEPEST and self._any()
            self._depth -= 1
            self._next(")")
            return found
        if not self._words:
            return False
        word = self._words.popleft()
        if not word.quoted and self._words and self._words[0].text not in ("AND", "OR", ")"):
            if word.text == "DEFINED":
                return self._words.popleft().text in self._known
            if word.text in ("EXISTS", "IS_DIRECTORY"):
                path = Path(os.path.normpath(self._root / self._words.popleft().text))
                return path.is_relative_to(self._root) and path.exists()
            if word.text in ("POLICY", "TARGET", "COMMAND", "TEST"):
                self._words.popleft()
                return word.text == "POLICY"
        if len(self._words) > 1 and self._words[0].text not in ("AND", "OR", ")"):
            operator, other = self._words.popleft().text, self._words.popleft()
            return self._compare(word, operator, other)
        return self._is_true(word)

    def _is_true(self, word: Word) -> bool:
        if word.text.upper() in TRUE:
            return True
        if word.text.upper() in _FALSE or word.text.upper().endswith("-NOTFOUND"):
            return False
        if word.text.lstrip("-").isdigit():
            return word.text.strip("-0") != ""
        return not word.quoted and is_true(self._known.get(word.text, ""))

    def _compare(self, word: Word, operator: str, other: Word) -> bool:
        left, right = self._value(word), self._value(other)
        if operator == "STREQUAL":
            return left == right
        if operator == "MATCHES":
            with contextlib.suppress(ValueError):
                return compile_regex(other.text).search(left.encode()) is not None
            return False
        if operator == "IN_LIST":
            return left in split_list(self._known.get(other.text, ""))
        compare = _COMPARED.get(operator.removeprefix("VERSION_"))
        if compare is None:
            return False
        if operator.startswith("VERSION_"):
            sides = (
                [int(part[:_DIGITS]) for part in re.findall(r"\d+", version)[:4]]
                for version in (left, right)
            )
            first, second = ([*side, 0, 0, 0, 0][:4] for side in sides)
            return compare((first > second) - (first < second), 0)
        with contextlib.suppress(ValueError):
            return compare(float(left), float(right))
        return False

    def _value(self, word: Word) -> str:
        return word.text if word.quoted else self._known.get(word.text, word.text)
