"""Answers about a function that are worked out once and kept as long as the function is."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from jarvis_ls.codeintel.code import Function

Answer = TypeVar("Answer")


def once_per_function(build: Callable[[Function], Answer]) -> Callable[[Function], Answer]:
    """Let `build` run once for each function object; later calls get the same answer."""
    known: WeakKeyDictionary[Function, Answer] = WeakKeyDictionary()

    @wraps(build)
    def get(function: Function) -> Answer:
        if function not in known:
            known[function] = build(function)
        return known[function]

    return get
