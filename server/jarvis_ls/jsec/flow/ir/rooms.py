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
from jarvis_ls.jsec.flow.ir.nodes import Expr

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


def room_key(array: str, length: str, more: int, unit: Unit) -> str:
    """Return the key of an allocation of a member, as `record.member`, by another one."""
    return f"{ROOM}{array} {length}{more:+}*{unit}"


def size_of(call: CallFunction) -> tuple[Expr, Unit] | None:
    """Return the number of elements that a call allocates, and what one takes; None for other
    calls."""
    places = _SIZES.get(call.target) if isinstance(call.target, str) else None
    if places is None or max(places) >= len(call.arguments):
        return None
    sizes = [bare(call.arguments[at]) for at in places]
    if len(sizes) == 1 and sizes[0][0] == nodes.BIN and sizes[0][1] == "*":
        sizes = [bare(sizes[0][2]), bare(sizes[0][3])]
    if len(sizes) == 1:
        return sizes[0], 1
    for count, unit in (sizes, sizes[::-1]):
        if unit[0] in (nodes.CONST, nodes.SIZEOF):
            return count, unit[1]
    return None


def bare(e: Expr) -> Expr:
    """Return an expression without its conversions."""
    while e[0] in (nodes.CAST, nodes.DECAY):
        e = e[1]
    return e


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
        if e[0] != nodes.STORE:
            return
        if e[2][0] == nodes.STORE:
            self._store(e[2])
        if e[1][0] == nodes.LOCAL:
            temp = self._block(e[2])
            if temp is not None:
                self.held[e[1][1]] = temp
            return
        member = member_of(e[1], self.function, self.records)
        if member is not None:
            self.stored.setdefault(member, []).append(bare(e[2]))

    def _block(self, e: Expr) -> int | None:
        """Return the temporary with the allocated block that an expression gives."""
        e = bare(e)
        if e[0] == nodes.STORE:
            return self._block(e[2])
        if e[0] == nodes.TEMP:
            return e[1] if e[1] in self.sizes else None
        if e[0] == nodes.LOAD and e[1][0] == nodes.LOCAL:
            return self.held.get(e[1][1])
        return None

    def _lengths(self, base: int, array: str, count: Expr, unit: Unit) -> list[str]:
        """Return the keys of an allocation by each member that holds its number of elements."""
        more = 0
        if count[0] == nodes.BIN and count[1] == "+" and bare(count[3])[0] == nodes.CONST:
            more, count = bare(count[3])[1], bare(count[2])
        if count[0] != nodes.LOAD:
            return []
        if count[1][0] == nodes.FIELD:
            member = member_of(count[1], self.function, self.records)
            return [room_key(array, member[1], more, unit)] if member is not None else []
        record = array.partition(".")[0]
        return [
            room_key(array, name, more, unit)
            for (other, name), values in sorted(self.stored.items())
            if other == base
            and name.startswith(record + ".")
            and any(value[0] == nodes.LOAD and value[1] == count[1] for value in values)
        ]


def member_of(address: Expr, function: FunctionIR, records: Records) -> tuple[int, str] | None:
    """Return the variable and the member, as `record.member`, of what it points to."""
    if address[0] != nodes.FIELD or address[1][0] != nodes.LOAD:
        return None
    _, base, offset, type_ = address
    if base[2][0] != "p" or base[1][0] != nodes.LOCAL:
        return None
    if isinstance(offset, tuple):
        return base[1][1], f"{offset[0]}.{offset[1]}"
    around = base[2][1]
    record = records(around[1]) if around[0] == "r" else None
    for name, held in record.fields.items() if record is not None else ():
        if held == (offset, type_):
            return base[1][1], f"{around[1]}.{name}"
    return None
