"""Whether a pointer is null only because `?:` asked for it, as in `n = p ? strlen(p) : 0`.

Such a question is caution, as a rule: the pointer is used right behind it without another.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from jarvis_ls.codeintel.source import Source
from jarvis_ls.jsec.flow.domain.fault import BRANCH, Fault

_CHOICE = re.compile(rb"\s*\)*\s*\?")
_FEWEST = 2
"""Steps of a way that has a condition before the place itself."""
_NEAR = 40
"""Bytes behind a condition in which its `?` is."""


def is_chosen_null(fault: Fault, texts: Callable[[str], Source | None]) -> bool:
    """Return whether the last condition on the way to a null dereference is that of `?:`. `texts`
    gives the files of the program."""
    if fault.kind != "null-dereference" or len(fault.steps) < _FEWEST:
        return False
    step = fault.steps[-2]
    if step.message != BRANCH:
        return False
    source = texts(step.file)
    end = step.span[1]
    return source is not None and _CHOICE.match(source.data[end : end + _NEAR]) is not None
