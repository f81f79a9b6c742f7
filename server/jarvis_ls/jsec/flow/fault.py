"""What the analysis of flow proves: a flaw at a place, and the way there.

Places are given relative to the function they lie in, so that what is known of a function stays
true while text above it changes. Who shows them adds the start of the function.
"""

from __future__ import annotations

from dataclasses import dataclass

Args = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands."""

    file: str
    """Path of the file, as its `FileIR` has it."""
    function: str
    """Key of the function in its `FileIR`; empty outside of functions."""
    start: int
    """First byte, from the start of the function (of the file when there is none)."""
    end: int
    """Byte after the last, counted likewise."""


@dataclass(frozen=True, slots=True)
class Step:
    """One stage of the way to a flaw."""

    place: Place
    """Where it is to be seen."""
    message: str
    """Template of what happens there, with `{name}` places."""
    args: Args = ()
    """What the places of the template hold."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One flaw, reported where it hurts."""

    kind: str
    """What sort it is, such as `double-free`; rules ask by it."""
    place: Place
    """The expression that does the harm."""
    certain: bool
    """Whether it happens on every way that reaches the place; otherwise on some."""
    values: Args = ()
    """What was proven, as texts: `pointer`, `size`, `capacity`, `index`, … by kind."""
    steps: tuple[Step, ...] = ()
    """Source, branches, calls and sink, in the order of execution."""
    cwe: tuple[int, ...] = ()
    """Weakness numbers the proof narrows the kind to; empty when it says no more than that."""

    def value(self, name: str, default: str = "") -> str:
        """What was proven under `name`."""
        for key, text in self.values:
            if key == name:
                return text
        return default
