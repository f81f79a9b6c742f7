"""How much of a crate is unsafe, before and after."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.rust import Source, below


@dataclass(frozen=True, slots=True)
class Counts:
    """Over the functions of a crate."""

    functions: int = 0
    unsafe_functions: int = 0
    lines: int = 0
    """Lines of functions that hold code."""
    unsafe_lines: int = 0
    """Of them, those of unsafe functions and of `unsafe` blocks."""
    raw_pointers: int = 0
    """Raw pointer types that are written."""
    casts: int = 0
    """`as`."""

    @property
    def unsafe_share(self) -> float:
        """Unsafe lines of all lines, in percent."""
        return 100 * self.unsafe_lines / self.lines if self.lines else 0.0


def count(sources: Iterable[Source]) -> Counts:
    """Return the counts over all functions of these files."""
    functions = unsafe = lines = unsafe_lines = pointers = casts = 0
    for source in sources:
        written = _lines_of_code(source)
        for function in source.functions:
            functions += 1
            code = _code_lines(written, function)
            lines += len(code)
            if any(
                c.type == "function_modifiers" and b"unsafe" in source.text(c)
                for c in function.children
            ):
                unsafe += 1
                unsafe_lines += len(code)
            else:
                inside: set[int] = set()
                for block in below(function, "unsafe_block"):
                    inside |= _code_lines(written, block)
                unsafe_lines += len(inside)
            pointers += sum(1 for _ in below(function, "pointer_type"))
            casts += sum(1 for _ in below(function, "type_cast_expression"))
    return Counts(functions, unsafe, lines, unsafe_lines, pointers, casts)


def _lines_of_code(source: Source) -> list[bool]:
    """For each line whether it holds code."""
    lines = (line.strip() for line in source.data.split(b"\n"))
    return [line != b"" and not line.startswith(b"//") for line in lines]


def _code_lines(written: list[bool], node: Node) -> set[int]:
    return {at for at in range(node.start_point[0], node.end_point[0] + 1) if written[at]}
