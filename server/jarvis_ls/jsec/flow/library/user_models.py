"""Sources, sinks and sanitizers of the user's own, as `.jarvis/jsec.toml` names them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["source", "sink", "sanitizer"]
Gives = Literal["text", "number"]
Danger = Literal["command", "path", "format"]

_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class OwnFunction:
    """What one function does with values from outside."""

    function: str
    """Its name, without namespace or class."""
    role: Role
    """Whether such values come from it, must not get into it, or are harmless after it."""
    argument: int = 0
    """The argument that is meant, from 1; 0 for what it returns."""
    size: int = 0
    """Of a source that fills memory: the argument that says how many bytes, from 1; 0 when
    nothing bounds them."""
    gives: Gives = "text"
    """What a source returns."""
    danger: Danger = "command"
    """What a sink does with its argument."""


def effects_of(functions: Iterable[OwnFunction]) -> dict[str, tuple[tuple[Any, ...], ...]]:
    """Return the functions in the words of `library.c_functions`."""
    found: dict[str, tuple[tuple[Any, ...], ...]] = {}
    for function in functions:
        found[function.function] = (*found.get(function.function, ()), *_effects(function))
    return found


def _effects(own: OwnFunction) -> tuple[tuple[Any, ...], ...]:
    index = own.argument - 1
    if own.role == "sanitizer":
        return (("clean", index),) if own.argument else ()
    if own.role == "sink":
        sinks: dict[Danger, tuple[Any, ...]] = {
            "command": ("command", index, index),
            "path": ("path", index),
            "format": ("format", index, -1),
        }
        return (sinks[own.danger],)
    name = f"{own.function}()"
    if own.argument:
        return (("input", index, own.size - 1, 1, name),)
    if own.gives == "number":
        return (("number", name, -_LARGEST - 1, _LARGEST),)
    return (("text", name),)
