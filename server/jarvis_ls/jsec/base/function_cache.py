"""Answers about a function or a file that are worked out once and kept as long as it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.jsec.base.match_site import WholeUnit

Answer = TypeVar("Answer")
Asked = TypeVar("Asked", Function, WholeUnit)

_KEPT = "answers of rules"


def once_per_function(build: Callable[[Function], Answer]) -> Callable[[Function], Answer]:
    """Let `build` run once for each function object; later calls get the same answer.

    The answers are in the function object itself: most of them refer to it, and in a table
    beside it they would keep it, and the tree it is cut from, for ever.
    """
    return _once(build)


def once_per_file(build: Callable[[WholeUnit], Answer]) -> Callable[[WholeUnit], Answer]:
    """Let `build` run once for each file, and keep its answer in the object of the file."""
    return _once(build)


def _once(build: Callable[[Asked], Answer]) -> Callable[[Asked], Answer]:
    @wraps(build)
    def get(asked: Asked) -> Answer:
        kept: dict[Any, Any] = asked.__dict__.setdefault(_KEPT, {})
        if build not in kept:
            kept[build] = build(asked)
        answer: Answer = kept[build]
        return answer

    return get
