"""Functions that an analysis of a place begins in: its own, those that call it, `main`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jarvis_ls.jsec.proof.symbolic.program import Program
from jarvis_ls.jsec.proof.symbolic.syntax import Function

_MOST_LEVELS = 3
"""Callers of callers that it begins in."""
_MOST_ROOTS = 24


def levels(
    program: Program, function: Function, *, is_whole: bool
) -> Iterator[tuple[int, Sequence[Function]]]:
    """Yield sets of functions of which each call of one comes through one at least."""
    yield 0, [function]
    cut = [function]
    for level in range(1, _MOST_LEVELS + 1):
        above = _above(program, cut, is_whole=is_whole)
        if above is None or above == cut:
            break
        cut = above
        yield level, cut
    main = program.main()
    if is_whole and main is not None and cut != [main]:
        yield -1, [main]


def _above(program: Program, cut: Sequence[Function], *, is_whole: bool) -> list[Function] | None:
    """Return the callers of some functions, those that others may call without being seen among
    them; None when they are not all known."""
    found: dict[tuple[str, str], Function] = {}
    for function in cut:
        callers = program.callers(function)
        is_closed = function.static or (is_whole and function.name != "main")
        if callers is None or not is_closed or function in callers:
            if function.name == "main" or (not is_closed and callers):
                found[function.file, function.name] = function
                continue
            return None
        if not callers:  # nobody calls it: nothing is to be shown of it
            continue
        found.update(((caller.file, caller.name), caller) for caller in callers)
    if not found or len(found) > _MOST_ROOTS:
        return None
    return list(found.values())
