"""Searches on RE2, in linear time and bounded memory: regular expressions of users, which see
single lines only, many words at once, and our own patterns over long texts."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any


@functools.lru_cache(maxsize=256)
def compile_regex(text: str) -> Any:
    """Return a compiled pattern that matches bytes and never across a line's end; `^` and `$` are
    the ends of lines. Raises `ValueError` saying what is wrong with it."""
    import re2

    options = re2.Options()
    options.never_nl = True
    options.log_errors = False
    try:
        return re2.compile("(?m)" + text, options)
    except (re2.error, UnicodeEncodeError) as error:
        raise ValueError(f"is not a regular expression: {error_text(error)}") from None


@functools.cache
def for_long_texts(pattern: bytes) -> Any:
    """Return a pattern of ours, without lookaround. Of alternatives in any case RE2 reads a byte in
    some 20 instructions, and `re` in up to 1,000.
    """
    import re2

    return re2.compile(pattern)


class WordSet:
    """Words that are looked for in a text all at once."""

    def __init__(self, words: Iterable[str]) -> None:
        import re2

        self._words = sorted(set(words))
        self._set = re2.Set.SearchSet()
        for word in self._words:
            self._set.Add(re2.escape(word))
        if self._words:
            self._set.Compile()

    def found(self, data: bytes) -> set[str]:
        """Those that are anywhere in UTF-8 text."""
        if not self._words:
            return set()
        return {self._words[index] for index in self._set.Match(data) or ()}


def error_text(error: Exception) -> str:
    """Return RE2's error message as text."""
    said = error.args[0] if error.args else error
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
