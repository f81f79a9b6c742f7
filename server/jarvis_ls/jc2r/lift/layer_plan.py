"""What each parameter of a function becomes in its inner, safe function."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as data_field
from enum import Enum

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.program import Key

INNER = "_inner"
"""What the name of an inner function ends with."""


class Kind(Enum):
    """What a parameter is in the inner function."""

    RAW = "raw"
    """What it is in C."""
    REFERENCE = "reference"
    SLICE = "slice"
    VECTOR = "vector"
    """Elements that are only written, one behind the other: how many is known afterwards."""


class Refused(Exception):
    """A parameter is used in a way that only a raw pointer has."""

    def __init__(self, name: bytes) -> None:
        """`name` is that of the parameter, or of an array."""
        super().__init__(name)
        self.name = name


@dataclass
class Parameter:
    """One parameter."""

    name: bytes
    type: bytes
    """In C."""
    kind: Kind = Kind.RAW
    element: bytes = b""
    """Type of what a reference shows, or of elements."""
    written: bool = False
    """Whether something is written through it."""
    optional: bool = False
    """Whether null means something to the function."""
    cell: bool = False
    """Whether another parameter may show the same memory, and one of them is written through."""
    moved: bool = False
    """Whether the pointer itself is given other values."""
    length: int | None = None
    """Place of the parameter with the number of elements."""
    divisor: int = 1
    """What that number is divided by."""
    count: int = 0
    """Number of elements that are always there, where no parameter says it."""

    def inner_type(self) -> bytes:
        """Return its type in the inner function."""
        if self.kind is Kind.VECTOR:
            return b"&mut Vec<" + self.element + b">"
        element = b"core::cell::Cell<" + self.element + b">" if self.cell else self.element
        shown = b"[" + element + b"]" if self.kind is Kind.SLICE else element
        kind = (b"&mut " if self.written and not self.cell else b"&") + shown
        return b"Option<" + kind + b">" if self.optional else kind


@dataclass
class Layer:
    """A function that gets an inner one."""

    key: Key
    file: int
    """Index of its file."""
    node: Node
    parameters: list[Parameter]
    result: bytes
    """Type of what it returns; empty when there is none."""
    shown: bool
    """Whether other modules may call it."""
    apart: set[tuple[int, int]] = data_field(default_factory=set)
    """Places of parameters of which the memory must not overlap."""
    left: set[bytes] = data_field(default_factory=set)
    """Arrays whose addresses are more than places of elements."""
    alone: bool = False
    """Whether nothing calls it as C does, so that it has no shim and keeps its name."""

    @property
    def name(self) -> bytes:
        """Return the name of the inner function."""
        return (self.key[1] + ("" if self.alone else INNER)).encode()

    @property
    def converted(self) -> list[Parameter]:
        """Return the parameters that are no raw pointers any more."""
        return [parameter for parameter in self.parameters if parameter.kind is not Kind.RAW]

    @property
    def gone(self) -> set[int]:
        """Return the places of lengths that a slice carries: a negative one would be lost, and
        that of a slice that is not there."""
        return {
            parameter.length
            for parameter in self.converted
            if parameter.length is not None
            and parameter.divisor == 1
            and not parameter.optional
            and self.parameters[parameter.length].type.startswith(b"u")
        }

    def parameter(self, name: bytes) -> Parameter | None:
        """Return a parameter by its name."""
        return next((p for p in self.parameters if p.name == name), None)
