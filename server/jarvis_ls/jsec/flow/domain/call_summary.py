"""Call summaries: what a function and those it calls name, told without following them."""

from __future__ import annotations

import marshal
from dataclasses import dataclass
from typing import Final

from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.instructions import CallMethod, CallRust, Delete, New, Throw

DISTANCE: Final = 2
"""Calls inside of a call that are examined."""
ALLOCATES: Final = "+"
RELEASES: Final = "-"
OBSCURE: Final = "?"
"""Acts of a function besides its calls: `new`, `delete`, and what only following it can tell
(methods, exceptions, Rust)."""
_MANY_BELOW: Final = 150
"""The same with the functions that it calls."""


@dataclass(frozen=True, slots=True)
class CallSummary:
    """What a function and those it calls name."""

    calls: frozenset[str]
    """Functions."""
    acts: frozenset[str]
    """See `ALLOCATES`."""
    reads: frozenset[str]
    """Variables of file scope."""
    size: int
    """Instructions, those of what it calls with each call."""

    @property
    def is_long(self) -> bool:
        """Return whether following it takes long."""
        return self.size > _MANY_BELOW

    def pack(self) -> bytes:
        """Return what matters to callers in bytes, alike in every process."""
        named = (sorted(self.calls), sorted(self.acts), sorted(self.reads), self.is_long)
        return marshal.dumps(named, 2)


def acts_of(function: FunctionIR) -> tuple[str, ...]:
    """Return the acts of a function, in order."""
    kinds = {type(instr) for instrs, _ in function.blocks for instr in instrs}
    found = set()
    if New in kinds:
        found.add(ALLOCATES)
    if Delete in kinds:
        found.add(RELEASES)
    if kinds & {CallMethod, CallRust} or any(isinstance(end, Throw) for _, end in function.blocks):
        found.add(OBSCURE)
    return tuple(sorted(found))
