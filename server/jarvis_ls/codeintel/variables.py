"""Variables of functions, and what the extraction of them needs of a function."""

from __future__ import annotations

from typing import Protocol

from jarvis_ls.codeintel.declarations import Declared
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.source import Source


class Variable:
    """A parameter or local variable of a function."""

    def __init__(
        self,
        declared: Declared,
        node: Node,
        scope: tuple[int, int],
        initial: Node | None,
        *,
        is_parameter: bool,
    ) -> None:
        self.name = declared.name
        self.type = declared.type
        """Words of the type, such as `const char`."""
        self.pointers = declared.pointers
        """Levels of pointer."""
        self.arrays = declared.arrays
        """Text of each array size."""
        self.is_static = declared.is_static
        self.node = node
        """The identifier where it is declared."""
        self.scope = scope
        """Bytes between which it is visible."""
        self.initial = initial
        """Its initialiser."""
        self.is_parameter = is_parameter

    @property
    def is_pointer(self) -> bool:
        """Declared with `*`, or a parameter declared with `[]`."""
        return self.pointers > 0 or (self.is_parameter and bool(self.arrays))

    @property
    def is_array(self) -> bool:
        """A real array (not a parameter written like one)."""
        return bool(self.arrays) and not self.is_parameter


class SourceUnit(Protocol):
    """A file under analysis, as `functions.Unit` is one."""

    source: Source


class FunctionSyntax(Protocol):
    """A function definition, as `functions.Function` is one."""

    node: Node
    start: int
    end: int

    @property
    def unit(self) -> SourceUnit:
        """The file it is in."""

    @property
    def body(self) -> Node | None:
        """The block of the function."""

    @property
    def declarator(self) -> Node | None:
        """The C function declarator, or the Rust item itself."""

    @property
    def declarations(self) -> list[Node]:
        """Declarations in the function, in order of position."""

    def nodes(self, kind: str) -> list[Node]:
        """Return nodes of one kind of the language's detail query, in order of position."""
