"""Functions that read numbers out of a stream of bytes, told by what they do.

Every program that reads a format or a protocol has a cursor and a handful of small functions over
it: one returns the next byte and moves on, others join such bytes to wider numbers. What they
return is chosen from outside, whatever the functions and the cursor are called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from jarvis_ls.jsec.flow.ir.byte_order import JOINING, puts_bytes_together
from jarvis_ls.jsec.flow.ir.c_types import is_byte
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.instructions import CallFunction, CallMethod, Eval, Return, SetTemp
from jarvis_ls.jsec.flow.ir.nodes import (
    Binary,
    Cast,
    Const,
    Decay,
    Expr,
    Field,
    Index,
    Load,
    Local,
    Step,
    Store,
    Temp,
)
from jarvis_ls.jsec.flow.ir.operands import of_end, of_instruction
from jarvis_ls.jsec.flow.ir.types import Integer

READS_NOTHING: Final = 0
READS_BYTE: Final = 1
"""Returns the next byte of a stream, which moves on."""
READS_NUMBER: Final = 2
"""Returns a number that is put together from bytes."""
_CONSTANT: Final = -1
"""A result that is written out, as for the end of the stream."""
_MOVED: Final = 3
"""Bytes that were moved to their place in a number, and nothing else."""
_LARGEST: Final = 60
"""Instructions of a function that does no more than read."""
_DEEPEST: Final = 3
"""Calls inside of calls that are examined."""
Definition = Callable[[str, FunctionIR], "FunctionIR | None"]
"""Gives the function that a name means in another function; nothing where it is not known."""


def reads(function: FunctionIR, definition: Definition, depth: int = 0) -> int:
    """Return what a function reads out of bytes: see `READS_BYTE` and `READS_NUMBER`."""
    if (
        not isinstance(function.result, Integer)
        or function.result.mark == "truth"
        or function.size > _LARGEST
        or function.cut
        or depth > _DEEPEST
    ):
        return READS_NOTHING
    return _Reader(function, definition, depth).result()


class _Reader:
    """What the variables and temporaries of one function hold, whatever the order."""

    def __init__(self, function: FunctionIR, definition: Definition, depth: int) -> None:
        self.function = function
        self.definition = definition
        self.depth = depth
        self.called: dict[int, str] = {}
        self.values: dict[Expr, list[Expr]] = {}
        """What is stored in a `Local` or `Temp`."""
        self.asking: set[Expr] = set()
        self.returned: list[Expr] = []
        for instrs, end in function.blocks:
            for instr in instrs:
                if isinstance(instr, SetTemp):
                    self.values.setdefault(Temp(instr.temp), []).append(instr.value)
                elif isinstance(instr, CallFunction) and isinstance(instr.target, str):
                    self.called[instr.temp] = instr.target
                elif isinstance(instr, CallMethod):
                    self.called[instr.temp] = f"{instr.owner}::{instr.name}"
                elif (
                    isinstance(instr, Eval)
                    and isinstance(instr.value, Store)
                    and isinstance(instr.value.address, Local)
                ):
                    held = self.values.setdefault(Local(instr.value.address.slot), [])
                    held.append(instr.value.value)
            if isinstance(end, Return) and end.value is not None:
                self.returned.append(end.value)

    def result(self) -> int:
        """Return what the function reads."""
        found = READS_NOTHING
        for value in self.returned:
            kind = self.kind(value)
            if kind == READS_NOTHING or (kind == READS_BYTE and not self._moves_on()):
                return READS_NOTHING
            found = max(found, READS_NUMBER if kind == _MOVED else kind)
        return max(found, READS_NOTHING)

    def kind(self, e: Expr) -> int:
        """Return what a value is made of."""
        while isinstance(e, Cast) or (
            isinstance(e, Binary) and e.operator == "&" and isinstance(e.right, Const)
        ):
            e = e.value if isinstance(e, Cast) else e.left
        if isinstance(e, Const):
            return _CONSTANT
        if isinstance(e, Store):
            return self.kind(e.value)
        if isinstance(e, Temp):
            name = self.called.get(e.number)
            return self._of_call(name) if name is not None else self._numbers_of(e)
        if isinstance(e, Load):
            if isinstance(e.address, Local):
                return self._numbers_of(e.address)
            return READS_BYTE if is_byte(e.type) and _is_behind(e.address) else READS_NOTHING
        if isinstance(e, Binary):
            return self._of_bytes(e)
        return READS_NOTHING

    def _numbers_of(self, place: Expr) -> int:
        """Return what a variable or temporary holds on every way; that it starts as a number which
        is written out does not count."""
        values = self.values.get(place)
        if not values or place in self.asking:
            return READS_NOTHING
        self.asking.add(place)
        kinds = {self.kind(value) for value in values}
        self.asking.discard(place)
        return READS_NOTHING if READS_NOTHING in kinds else max(kinds)

    def _of_call(self, name: str) -> int:
        found = self.definition(name, self.function)
        return READS_NOTHING if found is None else reads(found, self.definition, self.depth + 1)

    def _of_bytes(self, e: Binary) -> int:
        """Return whether an operator moves bytes to their place or joins some."""
        if e.operator == "<<" and isinstance(e.right, Const):
            # in a loop, a number grows by bytes
            part = self._is_asked(e.left) or self.kind(e.left) > READS_NOTHING
            moved = e.right.value % 8 == 0 and part
            return _MOVED if moved else READS_NOTHING
        if e.operator not in JOINING:
            return READS_NOTHING
        if puts_bytes_together(e):
            return READS_NUMBER
        if self._is_asked(e.left):  # it adds to what it holds
            return self.kind(e.right)
        left, right = self.kind(e.left), self.kind(e.right)
        joined = _MOVED in (left, right) and min(left, right) > READS_NOTHING
        return READS_NUMBER if joined else READS_NOTHING

    def _is_asked(self, e: Expr) -> bool:
        """Return whether a value is the variable that is being asked for."""
        while isinstance(e, Cast):
            e = e.value
        return isinstance(e, Load) and e.address in self.asking

    def _moves_on(self) -> bool:
        """Return whether the function, or one that gives it the byte, moves a cursor that outlives
        it."""
        if self.called:
            return True
        waiting: list[Expr] = []
        for instrs, end in self.function.blocks:
            waiting += of_end(end)
            for instr in instrs:
                waiting += of_instruction(instr)
        while waiting:
            part = waiting.pop()
            if isinstance(part, (Step, Store)) and not isinstance(part.address, Local):
                return True
            waiting += part.operands()
        return False


def _is_behind(address: Expr) -> bool:
    """Return whether an address leads into memory behind a pointer that is no table: one that a
    parameter or a member holds."""
    while isinstance(address, (Index, Decay, Cast)):
        address = address.value if isinstance(address, Cast) else address.base
    if isinstance(address, Field):  # a single member is no stream
        return False
    return isinstance(address, (Load, Step))
