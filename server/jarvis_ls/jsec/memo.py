"""Answers about a function that are worked out once and kept as long as the function is."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from jarvis_ls.codeintel.code import Function

Answer = TypeVar("Answer")

_KEPT = "answers of rules"


def once_per_function(build: Callable[[Function], Answer]) -> Callable[[Function], Answer]:
    """Let `build` run once for each function object; later calls get the same answer.

    The answers lie in the function object itself: most of them refer to it, and in a table
    beside it they would keep it, and the tree it is cut from, for ever.
    """

    @wraps(build)
    def get(function: Function) -> Answer:
        kept: dict[Any, Any] = function.__dict__.setdefault(_KEPT, {})
        if build not in kept:
            kept[build] = build(function)
        answer: Answer = kept[build]
        return answer

    return get
