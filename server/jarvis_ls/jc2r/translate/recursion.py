"""Room for recursion: C nests as deep as its author likes, a chain of `else if` for each word."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import ParamSpec, TypeVar

_STACK = 512 * 1024 * 1024
"""Bytes of address space; what is not used costs no memory."""
_DEPTH = 200_000
"""Calls in calls. Tens of them represent one nesting of C, and each takes a kilobyte or so."""

_P = ParamSpec("_P")
_T = TypeVar("_T")
_LOCK = threading.Lock()
_SHALLOW: list[int] = []
"""How deep calls may be once none of these runs any more; once for each that does."""


def deeply(function: Callable[_P, _T], *arguments: _P.args, **named: _P.kwargs) -> _T:
    """Return what `function` gives or raises, run in a thread whose stack is large enough. Until it
    ends other threads may run out of theirs: they should wait.
    """
    done: Future[_T] = Future()

    def work() -> None:
        try:
            done.set_result(function(*arguments, **named))
        except BaseException as error:  # noqa: BLE001 - raised again where it was asked for
            done.set_exception(error)

    with _LOCK:
        _SHALLOW.append(_SHALLOW[0] if _SHALLOW else sys.getrecursionlimit())
        sys.setrecursionlimit(max(_DEPTH, _SHALLOW[0]))
    try:
        thread = threading.Thread(target=work, name="deep", daemon=True)
        with _LOCK:
            before = threading.stack_size(_STACK)
            try:
                thread.start()
            finally:
                threading.stack_size(before)
        thread.join()
    finally:
        with _LOCK:
            limit = _SHALLOW.pop()
            if not _SHALLOW:
                sys.setrecursionlimit(limit)
    return done.result()
