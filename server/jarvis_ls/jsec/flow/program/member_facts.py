"""Which members of records hold numbers that were decoded from bytes, and which are ever bounded.

One fact per record and member, flow-insensitive: a function stores a decoded number in the member
without comparing it, or sees bytes as the record, and no function compares the member in order,
except as the bound of a loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from jarvis_ls.jsec.flow.ir.byte_order import puts_bytes_together
from jarvis_ls.jsec.flow.ir.byte_readers import READS_NUMBER, reads
from jarvis_ls.jsec.flow.ir.c_types import is_byte
from jarvis_ls.jsec.flow.ir.cfg import loop_test
from jarvis_ls.jsec.flow.ir.declarations import FileIR, FunctionIR, RecordIR
from jarvis_ls.jsec.flow.ir.instructions import CallFunction, Eval, SetTemp
from jarvis_ls.jsec.flow.ir.nodes import (
    Cast,
    Compare,
    Const,
    Expr,
    Field,
    Index,
    Load,
    Local,
    Store,
    Temp,
)
from jarvis_ls.jsec.flow.ir.operands import of_end
from jarvis_ls.jsec.flow.ir.types import Array, Integer, Pointer, Record, Reference, Type
from jarvis_ls.jsec.flow.library.decoders import decodes

_ORDERED: Final = frozenset({"<", "<=", ">", ">="})
_READS: Final = {"fread": 0, "read": 1, "pread": 1, "recv": 1}
"""Functions that fill a record with bytes, with the position of its address."""
_UNKNOWN: Final = "."
"""Stands for a member that is not known."""
ALL: Final = "*"
"""Stands for all numbers of a record."""
WIRE: Final = "~"
"""Stands for all numbers of a record that bytes are seen as, if it holds no pointer: it is the form
of what comes from outside."""


def member_facts(file: FileIR) -> tuple[frozenset[str], frozenset[str]]:
    """Return the members that functions of a file store decoded numbers in, and those that they
    compare with a bound, as `record.member`; none of C++ and Rust."""
    decoded: set[str] = set()
    bounded: set[str] = set()
    for function in file.functions.values() if file.language == "c" else ():
        _Scan(function, file, decoded, bounded)
    return frozenset(decoded - {_UNKNOWN}), frozenset(bounded - {_UNKNOWN})


def records_of(members: Iterable[str]) -> set[str]:
    """Return the records that members of the form `record.member` are of."""
    return {member.rpartition(".")[0] for member in members}


def members_of(record: str, members: Iterable[str]) -> Iterator[str]:
    """Yield the names of those members that are of a record."""
    for member in members:
        of, _, name = member.rpartition(".")
        if of == record:
            yield name


def unbounded(record: RecordIR, decoded: set[str], bounded: set[str]) -> frozenset[str]:
    """Return the members of a record that numbers are stored in and that nothing bounds."""
    flat = WIRE in decoded and all(_is_flat(type_) for _, type_ in record.fields.values())
    if ALL in decoded or flat:
        numbers = {name for name, (_, type_) in record.fields.items() if isinstance(type_, Integer)}
        decoded = decoded | (numbers - record.bit_fields)
    return frozenset(decoded - bounded - {ALL, WIRE})


def _is_flat(type_: Type) -> bool:
    """Return whether a member is a number, or an array of such."""
    while isinstance(type_, Array):
        type_ = type_.inner
    return isinstance(type_, Integer)


class _Scan:
    """One function."""

    def __init__(
        self,
        function: FunctionIR,
        file: FileIR,
        decoded: set[str],
        bounded: set[str],
    ) -> None:
        self.function = function
        self.functions = file.functions
        self.records = file.records
        self.decoded = decoded
        self.temps: set[int] = set()
        """Temporaries that hold decoded numbers."""
        self.slots: set[int] = set()
        """Variables that do."""
        self.compared: set[int] = set()
        """Variables that are compared in order."""
        tests = {loop_test(function, head) for head in function.heads}
        for index, (_, end) in enumerate(function.blocks):
            if index not in tests:
                self._compare(of_end(end), bounded)
        for instrs, _ in function.blocks:
            for instr in instrs:
                if isinstance(instr, Eval):
                    self._store(instr.value)
                elif isinstance(instr, SetTemp):
                    if self._is_decoded(instr.value):
                        self.temps.add(instr.temp)
                elif isinstance(instr, CallFunction):
                    self._call(instr)

    def _compare(self, conditions: Iterable[Expr], bounded: set[str]) -> None:
        for test in _parts(conditions):
            if not isinstance(test, Compare) or test.operator not in _ORDERED:
                continue
            for side, other in ((test.left, test.right), (test.right, test.left)):
                if isinstance(other, Const) and other.value <= 1:
                    continue
                for part in _parts([side]):
                    if isinstance(part, Load) and isinstance(part.address, Field):
                        bounded.add(self._member(part.address))
                    elif isinstance(part, Load) and isinstance(part.address, Local):
                        self.compared.add(part.address.slot)

    def _store(self, value: Expr) -> None:
        if not isinstance(value, Store):
            return
        self._view(value.value)
        if not self._is_decoded(value.value):
            return
        address = value.address
        if isinstance(address, Local):
            self.slots.add(address.slot)
        elif isinstance(address, Field):
            self.decoded.add(self._member(address))

    def _is_decoded(self, value: Expr) -> bool:
        while isinstance(value, Cast):
            value = value.value
        if isinstance(value, Temp):
            return value.number in self.temps
        if isinstance(value, Load) and isinstance(value.address, Local):
            return value.address.slot in self.slots and value.address.slot not in self.compared
        return puts_bytes_together(value)

    def _call(self, call: CallFunction) -> None:
        if not isinstance(call.target, str):
            return
        name = call.target.rpartition("::")[2]
        if name in _READS and _READS[name] < len(call.types):
            self._fill(call.arguments[_READS[name]], call.types[_READS[name]])
        elif self._reads(call.target):
            self.temps.add(call.temp)
        elif name.startswith("ntoh") or decodes(name):
            self.temps.add(call.temp)
            for argument in call.arguments:
                if isinstance(argument, Local):
                    self.slots.add(argument.slot)
                elif isinstance(argument, Field) and isinstance(argument.type, Integer):
                    self.decoded.add(self._member(argument))

    def _reads(self, name: str) -> bool:
        """Return whether a function of this file reads a number of several bytes."""
        called = self.functions.get(name)
        return called is not None and reads(called, self._definition) == READS_NUMBER

    def _definition(self, name: str, _user: FunctionIR) -> FunctionIR | None:
        return self.functions.get(name)

    def _fill(self, argument: Expr, type_: Type) -> None:
        while isinstance(argument, Cast):
            type_, argument = argument.source, argument.value
        held = type_.inner if isinstance(type_, Pointer) else None
        if not isinstance(argument, Local) and isinstance(held, Record):
            self.decoded.add(f"{held.name}.{ALL}")

    def _view(self, value: Expr) -> None:
        """Note a record that bytes behind a pointer are seen as."""
        if not isinstance(value, Cast) or not isinstance(value.value, (Load, Index)):
            return
        seen, as_ = value.source, value.type
        if not isinstance(seen, Pointer) or not isinstance(as_, Pointer):
            return
        if is_byte(seen.inner) and isinstance(as_.inner, Record):
            self.decoded.add(f"{as_.inner.name}.{WIRE}")

    def _member(self, address: Field) -> str:
        """Return the member that an address leads to."""
        base, offset, type_ = address.base, address.offset, address.type
        if isinstance(offset, tuple):
            return f"{offset[0]}.{offset[1]}"
        around = None
        if isinstance(base, Load) and isinstance(base.type, (Pointer, Reference)):
            around = base.type.inner
        elif isinstance(base, Field):
            around = base.type
        elif isinstance(base, Local):
            around = self.function.slots[base.slot][1]
        record = (
            self.records.get(around.name)
            if around is not None and isinstance(around, Record)
            else None
        )
        fields = record.fields.items() if record is not None else ()
        name = next((name for name, held in fields if held == (offset, type_)), "")
        return f"{record.name}.{name}" if record is not None and name else _UNKNOWN


def _parts(expressions: Iterable[Expr]) -> Iterator[Expr]:
    """Yield expressions with all that they consist of."""
    waiting = list(expressions)
    while waiting:
        part = waiting.pop()
        yield part
        waiting += part.operands()
