"""Whether the way to a flaw has two answers to one question, as in `is_server(c)` and later not.

Flow knows nothing of a call whose function it does not see, or one that it cannot follow: it takes
each for itself. People write the same question twice because the answer is the same.
"""

from __future__ import annotations

from collections.abc import Callable

from jarvis_ls.codeintel.source import Source
from jarvis_ls.jsec.flow.domain.fault import BRANCH, Fault, Step

_LONGEST = 200
"""Bytes of a condition that is compared."""


def is_answered_twice(fault: Fault, texts: Callable[[str], Source | None]) -> bool:
    """Return whether two conditions on the way are written alike, contain a call, and turn out
    differently. `texts` gives the files of the program."""
    answers: dict[tuple[str, bytes], str] = {}
    places: dict[tuple[str, bytes], Step] = {}
    for step in fault.steps:
        if step.message != BRANCH or step.span[1] - step.span[0] > _LONGEST:
            continue
        source = texts(step.file)
        written = b"" if source is None else source.data[step.span[0] : step.span[1]]
        if b"(" not in written:
            continue
        key = step.file, b"".join(written.split())
        answer = dict(step.args).get("value", "")
        if answers.setdefault(key, answer) != answer and places[key].span != step.span:
            return True
        places.setdefault(key, step)
    return False
