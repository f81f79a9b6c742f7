"""One call with the memory it begins with, as the executor reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jarvis_ls.harness.signature import Kind, Record


@dataclass
class Block:
    """Memory that a case begins with."""

    data: bytearray
    pointers: list[tuple[int, Any]] = field(default_factory=list)
    """Offset and value of every pointer in it."""
    holes: list[tuple[int, int]] = field(default_factory=list)
    """Offset and length of padding."""

    def to_json(self) -> dict[str, Any]:
        """As the executor reads it."""
        return {"data": self.data.hex(), "pointers": self.pointers, "holes": self.holes}


@dataclass
class Case:
    """One call, as the executor reads it."""

    arguments: list[tuple[Any, Any]] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    pokes: list[tuple[str, int, str]] = field(default_factory=list)
    large: Sequence[str] = ()
    files: list[bytes] = field(default_factory=list)
    """What streams hold that are handed over."""
    steps: list[dict[str, Any]] = field(default_factory=list)
    """Calls that come before: they make and change the structures that are handed over."""

    def to_json(self, symbol: str, result: Any, seconds: float) -> dict[str, Any]:
        """Return the request."""
        return {
            "symbol": symbol,
            "result": result,
            "arguments": self.arguments,
            "blocks": [block.to_json() for block in self.blocks],
            "pokes": self.pokes,
            "large": self.large,
            "files": [file.hex() for file in self.files],
            "steps": self.steps,
            "seconds": seconds,
        }


def code_of(kind: Kind, records: Mapping[str, Record]) -> Any:
    """Return a type as the executor reads it."""
    if kind.form == "void":
        return "v"
    if kind.form == "integer":
        return f"{'i' if kind.signed else 'u'}{kind.size}"
    if kind.form == "bool":
        return "b1"
    if kind.form == "float":
        return f"f{kind.size}"
    if kind.form == "array" and kind.target is not None:
        return ["a", code_of(kind.target, records), kind.count]
    if kind.form == "record":
        return ["s", [code_of(member.kind, records) for member in records[kind.name].members]]
    return "p"
