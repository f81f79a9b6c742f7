"""How many elements blocks have that are allocated, as a sum of variables or by a member.

That a member `buf` points to as many elements as another one, `cap`, says is a fact of the record
where each function that allocates the one stores the other with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR, RecordIR
from jarvis_ls.jsec.flow.ir.instructions import CallFunction, Eval, SetTemp
from jarvis_ls.jsec.flow.ir.nodes import Expr, Number
from jarvis_ls.jsec.flow.ir.operands import bare
from jarvis_ls.jsec.flow.ir.types import Pointer, Record

ROOM: Final = "room "
"""Begins the key of an allocation of a member; see `room_key`."""
ANY: Final = "rooms "
"""Begins the key of every allocation of a member."""
_SIZES: Final[dict[str, tuple[int, ...]]] = {
    "malloc": (0,),
    "realloc": (1,),
    "calloc": (0, 1),
    "g_malloc": (0,),
    "g_malloc0": (0,),
    "g_realloc": (1,),
    "xmalloc": (0,),
    "xrealloc": (1,),
    "xcalloc": (0, 1),
    "reallocarray": (1, 2),
}
"""Functions that allocate, with the arguments whose product is the size."""
ALLOCATING: Final = frozenset(_SIZES)
Unit = object
"""Bytes of an element, or its type."""
Sum = tuple[tuple[int, ...], int]
"""Variables, in order, and a constant."""
Rooms = dict[int, tuple[Sum, Unit]]
"""Variables that point to blocks, with their number of elements and what one takes."""
Records = Callable[[str], "RecordIR | None"]
"""Gives the record of a name."""


def room_key(array: str, length: str, more: Number, unit: Unit) -> str:
    """Return the key of an allocation of a member, as `record.member`, by another one."""
    return f"{ROOM}{array} {length}{more:+}*{unit}"


def size_of(call: CallFunction) -> tuple[Expr, Unit] | None:
    """Return the number of elements that a call allocates, and what one takes; None for other
    calls."""
    places = _SIZES.get(call.target) if isinstance(call.target, str) else None
    if places is None or max(places) >= len(call.arguments):
        return None
    sizes = [bare(call.arguments[at]) for at in places]
    if len(sizes) == 1 and isinstance(sizes[0], nodes.Binary) and sizes[0].operator == "*":
        sizes = [bare(sizes[0].left), bare(sizes[0].right)]
    if len(sizes) == 1:
        return sizes[0], 1
    for count, unit in (sizes, sizes[::-1]):
        if isinstance(unit, nodes.Const):
            return count, unit.value
        if isinstance(unit, nodes.SizeOf):
            return count, unit.size
    return None


def allocations(function: FunctionIR, records: Records) -> list[str]:
    """Return the keys of what a function allocates for members."""
    return _Allocations(function, records).keys() if _SIZES.keys() & function.calls else []


class _Allocations:
    """One function."""

    def __init__(self, function: FunctionIR, records: Records) -> None:
        self.function = function
        self.records = records
        self.sizes: dict[int, tuple[Expr, Unit]] = {}
        self.held: dict[int, int] = {}
        """Temporaries with allocated blocks, by the variable that holds them."""
        self.stored: dict[tuple[int, str], list[Expr]] = {}
        """What is stored in members."""

    def keys(self) -> list[str]:
        for instrs, _ in self.function.blocks:
            for instr in instrs:
                if isinstance(instr, CallFunction):
                    size = size_of(instr)
                    if size is not None:
                        self.sizes[instr.temp] = size
                elif isinstance(instr, (Eval, SetTemp)):
                    self._store(instr.value)
        found: list[str] = []
        for (base, array), values in sorted(self.stored.items()):
            for value in values:
                temp = self._block(value)
                if temp is not None:
                    found.append(ANY + array)
                    found += self._lengths(base, array, *self.sizes[temp])
        return found

    def _store(self, e: Expr) -> None:
        if not isinstance(e, nodes.Store):
            return
        if isinstance(e.value, nodes.Store):
            self._store(e.value)
        if isinstance(e.address, nodes.Local):
            temp = self._block(e.value)
            if temp is not None:
                self.held[e.address.slot] = temp
            return
        member = member_of(e.address, self.function, self.records)
        if member is not None:
            self.stored.setdefault(member, []).append(bare(e.value))

    def _block(self, e: Expr) -> int | None:
        """Return the temporary with the allocated block that an expression gives."""
        e = bare(e)
        if isinstance(e, nodes.Store):
            return self._block(e.value)
        if isinstance(e, nodes.Temp):
            return e.number if e.number in self.sizes else None
        if isinstance(e, nodes.Load) and isinstance(e.address, nodes.Local):
            return self.held.get(e.address.slot)
        return None

    def _lengths(self, base: int, array: str, count: Expr, unit: Unit) -> list[str]:
        """Return the keys of an allocation by each member that holds its number of elements."""
        more: Number = 0
        if isinstance(count, nodes.Binary) and count.operator == "+":
            added = bare(count.right)
            if isinstance(added, nodes.Const):
                more, count = added.value, bare(count.left)
        if not isinstance(count, nodes.Load):
            return []
        if isinstance(count.address, nodes.Field):
            member = member_of(count.address, self.function, self.records)
            return [room_key(array, member[1], more, unit)] if member is not None else []
        record = array.partition(".")[0]
        return [
            room_key(array, name, more, unit)
            for (other, name), values in sorted(self.stored.items())
            if other == base
            and name.startswith(record + ".")
            and any(
                isinstance(value, nodes.Load) and value.address == count.address for value in values
            )
        ]


def member_of(address: Expr, function: FunctionIR, records: Records) -> tuple[int, str] | None:
    """Return the variable and the member, as `record.member`, of what it points to."""
    if not isinstance(address, nodes.Field) or not isinstance(address.base, nodes.Load):
        return None
    pointer, offset = address.base, address.offset
    if not isinstance(pointer.type, Pointer) or not isinstance(pointer.address, nodes.Local):
        return None
    if isinstance(offset, tuple):
        return pointer.address.slot, f"{offset[0]}.{offset[1]}"
    around = pointer.type.inner
    if not isinstance(around, Record):
        return None
    record = records(around.name)
    for name, held in record.fields.items() if record is not None else ():
        if held == (offset, address.type):
            return pointer.address.slot, f"{around.name}.{name}"
    return None
