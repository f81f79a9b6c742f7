"""JSON as models write it: comments, trailing commas, single quotes, line breaks in strings.

What is incomplete stays unread: nothing here closes a bracket or a quote that was left open, so
that half a value is never taken for a whole one.
"""

from __future__ import annotations

import json
import re
from typing import Any

MAX_CHARACTERS = 4_000_000
"""Longer texts are refused."""

_FENCE = re.compile(r"\A\s*```[\w-]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


def read_model_json(text: str) -> Any:
    """Return the value `text` spells, a code fence around it removed.

    Raises `ValueError` with the reason when it is no complete value.
    """
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"longer than {MAX_CHARACTERS} characters")
    if fenced := _FENCE.match(text):
        text = fenced[1]
    try:
        return json.loads(text, strict=False, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError as strict:
        return _lenient(text, strict)


def _lenient(text: str, strict: ValueError) -> Any:
    import pyjson5

    try:
        value = pyjson5.decode(text, maxdepth=100)
        json.dumps(value, allow_nan=False)
    except (pyjson5.Json5Exception, RecursionError, ValueError):
        raise ValueError(str(strict)) from None
    return value


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")
