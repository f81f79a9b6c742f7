"""Keeps constants of our own sources out of the values that Hypothesis tries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis.internal.conjecture.providers import HypothesisProvider
from hypothesis.internal.constants_ast import Constants


@contextmanager
def without_own_constants() -> Iterator[None]:
    """Let Hypothesis try no constants of our sources meanwhile.

    Where we run from a checkout it takes our modules for the code under test, and parses every one
    for its constants: seconds of each run, and other cases than where we are installed. They say
    nothing about the C, and there is no setting for it (6.170).
    """
    name = "_local_constants"
    theirs = vars(HypothesisProvider)[name]
    setattr(HypothesisProvider, name, property(lambda _: Constants()))
    try:
        yield
    finally:
        setattr(HypothesisProvider, name, theirs)
