"""What a function does to its caller, in sentences for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jarvis_ls.core.words import Words

if TYPE_CHECKING:  # large, and not needed by who only shows the sentences
    from jarvis_ls.jsec.flow.interp.function_effects import FunctionEffects
    from jarvis_ls.jsec.flow.program.program import Program

_LARGE = 1 << 30
"""Numbers from here on say more about the type than about the function."""


@dataclass(frozen=True, slots=True)
class FunctionSummary:
    """What a function does to its caller."""

    name: str
    """The function."""
    file: str
    """Where it is defined, relative to the folder."""
    line: int
    """1-based line of its name; 0 when its file cannot be read."""
    sentences: tuple[Words, ...]
    """What callers need to know; nothing when nothing was found."""


def summarise(
    program: Program,
    place: tuple[str, str],
    own: Mapping[str, Any] | None,
    line_of: Callable[[str, int], int],
) -> FunctionSummary | None:
    """Return the summary of the function at a place, its file and key; None when it is not kept any
    more. `own` says what functions of the user's own do, `line_of` which line of a file a byte is
    on."""
    from jarvis_ls.jsec.flow.interp.fixpoint import Interpreter
    from jarvis_ls.jsec.flow.interp.function_effects import function_effects

    function = program.load(*place)
    if function is None:
        return None
    program.watch()  # what is asked here belongs to no answer that is kept
    effects = function_effects(Interpreter(program, own=own), function)
    line = line_of(function.file, function.name_span[0])
    return FunctionSummary(function.name, function.file, line, sentences(effects))


def sentences(effects: FunctionEffects) -> tuple[Words, ...]:
    """Return what callers need to know: results first, then what happens to arguments."""
    found = [*_result(effects), *_arguments(effects)]
    if not effects.complete:
        found.append(Words("It was not followed to its end: there may be more."))
    return tuple(found)


def _result(effects: FunctionEffects) -> Iterator[Words]:
    ways = effects.ways
    if not ways:
        if effects.complete:
            yield Words("Does not return.")
        return
    if effects.null:
        yield (
            Words("Returns NULL on every path.")
            if effects.null == ways
            else Words("Returns NULL on {count} of {ways} paths.", count=effects.null, ways=ways)
        )
    elif effects.maybe_null:
        yield Words("May return NULL.")
    elif effects.pointer and effects.complete and effects.not_null == ways:
        yield Words("Never returns NULL.")
    if effects.negative:
        yield (
            Words("Returns a negative number on every path.")
            if effects.negative == ways
            else Words(
                "Returns a negative number on {count} of {ways} paths.",
                count=effects.negative,
                ways=ways,
            )
        )
    low, high = effects.low, effects.high
    if low is not None and high is not None and -_LARGE < low <= high < _LARGE:
        yield (
            Words("Returns {number}.", number=low)
            if low == high
            else Words("Returns a number from {low} to {high}.", low=low, high=high)
        )
    if effects.source:
        yield Words("Returns untrusted input from {source}.", source=effects.source)
    if effects.allocates:
        yield Words("Returns what it allocates or opens: the caller has to release it.")
    for name in effects.returned:
        yield Words("Returns '{name}', or a pointer into what it points to.", name=name)


def _arguments(effects: FunctionEffects) -> Iterator[Words]:
    for name, count in effects.releases:
        if count == effects.ways:
            yield Words("Releases '{name}'.", name=name)
        else:
            yield Words(
                "Releases '{name}' on {count} of {ways} paths.",
                name=name,
                count=count,
                ways=effects.ways,
            )
    for name in effects.keeps:
        yield Words("Stores '{name}' where it outlives the call.", name=name)
    for name, source in effects.fills:
        yield Words(
            "Fills what '{name}' points to with untrusted input from {source}.",
            name=name,
            source=source,
        )
