"""Paths by the rules of `.gitignore`, in time linear in the length of the path.

`pathspec` knows the rules; its regular expressions are run by RE2, for a pattern such as
`*a*a*a*a*a*b` in somebody's `.gitignore` would otherwise keep a scan busy for years.
"""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

_MAX_LENGTH = 1000
_MAX_CHARACTERS = 100_000
"""Of one file; patterns behind them match nothing."""


class Globs:
    """A list of patterns, the last that matches decides."""

    def __init__(self, lines: Iterable[str], *, lenient: bool = False) -> None:
        """`lines` are patterns as in `.gitignore`, comments and blank lines allowed.

        Raises `ValueError` for a pattern that cannot be understood; with `lenient` such a
        pattern matches nothing, as in git.
        """
        patterns: list[GitIgnoreSpecPattern] = []
        room = _MAX_CHARACTERS
        for line in _last_of_each(lines):
            try:
                pattern = _pattern(line, strict=not lenient)
            except ValueError as error:
                if not lenient:
                    raise ValueError(f"'{line[:80]}': {error}") from None
                continue
            room -= len(line)
            if pattern is not None and room >= 0:
                patterns.append(pattern)
        self._specs = _compile(patterns)

    def decide(self, path: str) -> bool | None:
        """Return True when matched, False when a `!` pattern excludes it, None when none matches.

        `path` is relative to where the patterns are, folders end in `/`.
        """
        for spec in reversed(self._specs):
            said = spec.check_file(path).include
            if said is not None:
                return said
        return None

    def match_below(self, path: str) -> bool:
        """Return whether a file or any folder above it is matched."""
        return bool(self.decide(path))


def _last_of_each(lines: Iterable[str]) -> list[str]:
    """Return the lines in order, of equal ones the last: what is before it decides nothing."""
    kept = dict.fromkeys(line.rstrip("\r") for line in reversed(list(lines)))
    return list(reversed(kept))


def _compile(patterns: list[GitIgnoreSpecPattern]) -> list[GitIgnoreSpec]:
    """As few lists as fit the memory RE2 may take; a pattern too large for it matches nothing."""
    if not patterns:
        return []
    import re2
    from pathspec import GitIgnoreSpec

    try:
        return [GitIgnoreSpec(patterns, backend="re2")]
    except re2.error:
        middle = len(patterns) // 2
        return _compile(patterns[:middle]) + _compile(patterns[middle:]) if middle else []


@functools.lru_cache(maxsize=4096)
def _pattern(line: str, *, strict: bool) -> GitIgnoreSpecPattern | None:
    # The whole first: threads that begin with parts of it wait for each other, or meet half of it.
    import pathspec  # noqa: F401
    import re2
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    if len(line) > _MAX_LENGTH:
        raise ValueError(f"longer than {_MAX_LENGTH} characters")
    options = re2.Options()
    options.log_errors = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # sets inside sets, which git reads as we do
            pattern = GitIgnoreSpecPattern(line)
        if pattern.include is None or pattern.regex is None:
            return None
        if strict:
            re2.compile(pattern.regex.pattern, options)
    except (re.error, re2.error) as error:
        raise ValueError(_error_text(error)) from None
    return pattern


def _error_text(error: Exception) -> str:
    said = error.args[0] if error.args else error  # RE2 complains in bytes
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
