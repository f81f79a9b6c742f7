"""Regular expressions of users, on RE2: linear time, bounded memory, single lines only."""

from __future__ import annotations

import functools
from typing import Any


@functools.lru_cache(maxsize=256)
def compile_regex(text: str) -> Any:
    """A compiled pattern that matches bytes and never across a line's end; `^` and `$` are
    the ends of lines. Raises `ValueError` saying what is wrong with it."""
    import re2

    options = re2.Options()
    options.never_nl = True
    options.log_errors = False
    try:
        return re2.compile("(?m)" + text, options)
    except (re2.error, UnicodeEncodeError) as error:
        raise ValueError(f"is not a regular expression: {error_text(error)}") from None


def error_text(error: Exception) -> str:
    """What RE2 complains about, as text."""
    said = error.args[0] if error.args else error
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
