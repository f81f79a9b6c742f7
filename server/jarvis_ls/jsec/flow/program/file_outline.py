"""What the rest of a program must know of one file: names and what represents their contents.

Small enough to hold those of a million lines at once; the functions themselves stay on disk.
"""

from __future__ import annotations

import dataclasses
import hashlib
import heapq
import marshal
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from jarvis_ls.jsec.flow.domain.call_summary import acts_of
from jarvis_ls.jsec.flow.ir.cfg import targets
from jarvis_ls.jsec.flow.ir.declarations import FileIR, FunctionIR, GlobalIR, RecordIR
from jarvis_ls.jsec.flow.ir.decoding import block_of, instruction_of
from jarvis_ls.jsec.flow.ir.instructions import CallFunction, CallRust, Eval, Return
from jarvis_ls.jsec.flow.ir.nodes import Cast, Expr, Function, Load, Local, Span, Store
from jarvis_ls.jsec.flow.ir.operands import of_end, of_instruction
from jarvis_ls.jsec.flow.ir.rooms import allocations
from jarvis_ls.jsec.flow.ir.types import FunctionType, function_of, type_of
from jarvis_ls.jsec.flow.ir.untested_uses import uses
from jarvis_ls.jsec.flow.program.member_facts import member_facts

_LONG = 200
"""Members an initialiser may give values to: what is in longer tables is not known."""
_SHAPES = {
    kind: (
        operator.attrgetter(*(field.name for field in dataclasses.fields(kind))),
        tuple(
            at
            for at, field in enumerate(dataclasses.fields(kind))
            if "frozenset" in str(field.type)
        ),
    )
    for kind in (FunctionIR, GlobalIR, RecordIR)
}
"""Reads all fields of a record, and tells which of them are sets."""


def _at(kind: type[FunctionIR | GlobalIR | RecordIR], name: str) -> int:
    """Return which field of a record has a name."""
    return [field.name for field in dataclasses.fields(kind)].index(name)


_BLOCKS = _at(FunctionIR, "blocks")
_INIT = _at(GlobalIR, "init")
"""Which fields hold instructions."""
_SLOTS = _at(FunctionIR, "slots")
_RESULT = _at(FunctionIR, "result")
_TYPE = _at(GlobalIR, "type")
_FIELDS = _at(RecordIR, "fields")
"""Which fields hold types."""


@dataclass(frozen=True, slots=True)
class FunctionOutline:
    """One function."""

    name: str
    """Its name; its key in the file when two share one may be another."""
    static: bool
    """Whether other files do not see it."""
    record: str
    """Class it is a member of; empty when it is none."""
    span: tuple[int, int]
    """Bytes of the definition."""
    digest: bytes
    """Names its text and all that the text depends on in its file and headers, wherever in the
    file it is."""
    calls: tuple[str, ...]
    """Functions it calls or takes the address of, in order of name."""
    size: int
    """How many instructions it has."""
    alone: bool
    """Whether it takes nothing from who calls it: it has no parameters, or is `main`."""
    cut: bool
    """Whether part of it was not understood."""
    takes: tuple[str, ...] = ()
    """Functions whose address it takes: who calls them is not all known."""
    acts: tuple[str, ...] = ()
    """What it does besides its calls; see `reach`."""
    reads: tuple[str, ...] = ()
    """Variables of file scope that it mentions, in order of name."""
    way: tuple[str, ...] | None = None
    """Functions that a way through it calls, one that calls few; None when no way is known to come
    back."""
    habits: tuple[tuple[str, bool], ...] = ()
    """What results and members it uses as keys of `untested_uses`, and whether it tests them."""


_members = operator.attrgetter(*(field.name for field in dataclasses.fields(FunctionOutline)))
"""The fields of a function's outline, which are plain values, as a tuple."""


@dataclass(slots=True)
class Outline:
    """One file."""

    path: str
    """Path relative to the root, with forward slashes."""
    language: str
    """`c`, `cpp` or `rust`."""
    functions: dict[str, FunctionOutline] = field(default_factory=dict)
    """By key."""
    globals: dict[str, GlobalIR] = field(default_factory=dict)
    """Variables of file scope."""
    records: dict[str, RecordIR] = field(default_factory=dict)
    """Structs, unions and classes."""
    prototypes: dict[str, FunctionType] = field(default_factory=dict)
    """Types of the functions it declares or defines."""
    written: frozenset[str] = frozenset()
    """Globals that some function in it may change."""
    closure: tuple[str, ...] = ()
    """Files of the project that it includes, directly or not, the nearest first."""
    stops: frozenset[str] = frozenset()
    """Functions that it declares not to return."""
    takes: frozenset[str] = frozenset()
    """Functions whose address its initialisers take."""
    imported: dict[str, FunctionType] = field(default_factory=dict)
    """Types of the functions that it calls and that only headers outside of the project declare."""
    decoded: frozenset[str] = frozenset()
    """Members in which its functions store numbers decoded from bytes, as `record.member`."""
    bounded: frozenset[str] = frozenset()
    """Members that its functions compare with a bound."""


def outline_of(
    file: FileIR,
    data: bytes,
    context: str = "",
    closure: tuple[str, ...] = (),
    *,
    lasting: bool = True,
) -> Outline:
    """Return the outline of a file with the text `data`.

    `context` names the texts of the project's headers behind it, `closure` their paths. One that
    is not `lasting` is compared with no other: its functions have no digests.
    """
    spans = {key: function.span for key, function in file.functions.items()}
    around = b""
    if lasting:
        around = around_functions(data, spans.values(), file.prototypes, context)
    functions = {
        key: FunctionOutline(
            function.name,
            function.static and not function.record,
            function.record,
            function.span,
            digest_of(around + data[function.span[0] : function.span[1]]) if lasting else b"",
            tuple(sorted(function.calls)),
            function.size,
            not function.params or function.name == "main",
            function.cut,
            mentioned_functions(function),
            acts_of(function),
            tuple(sorted(function.reads)),
            way_through(function),
            habits_of(function, file.records),
        )
        for key, function in file.functions.items()
    }
    return Outline(
        file.path,
        file.language,
        functions,
        without_long_tables(file.globals),
        file.records,
        file.prototypes,
        file.written,
        closure,
        file.stops,
        taken_at_start(file.globals),
        file.imported,
        *member_facts(file),
    )


def habits_of(
    function: FunctionIR, records: Mapping[str, RecordIR]
) -> tuple[tuple[str, bool], ...]:
    """Return whether a function tests what it uses, by the keys of `untested_uses`, and what it
    allocates for members, by those of `rooms`."""
    return (
        *((use.key, use.tested) for use in uses(function, records.get)),
        *((key, True) for key in allocations(function, records.get)),
    )


def without_long_tables(variables: Mapping[str, GlobalIR]) -> dict[str, GlobalIR]:
    """Return variables, long tables among them without what is in them."""
    return {
        name: dataclasses.replace(variable, init=())
        if len(variable.init or ()) > _LONG
        else variable
        for name, variable in variables.items()
    }


def taken_at_start(variables: Mapping[str, GlobalIR]) -> frozenset[str]:
    """Return the functions that the initialisers of variables mention."""
    taken: set[str] = set()
    instrs = (instr for variable in variables.values() for instr in variable.init or ())
    waiting = [part for instr in instrs for part in of_instruction(instr)]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Function):
            taken.add(part.name)
        waiting += part.operands()
    return frozenset(taken)


def way_through(function: FunctionIR) -> tuple[str, ...] | None:
    """Return the functions that a way from the start of a function to its end calls, in order of
    name: the way that calls the fewest from block to block. None when no way comes back.
    """
    blocks = function.blocks
    ways: dict[int, frozenset[str]] = {}
    queue: list[tuple[int, int, frozenset[str]]] = [(0, 0, frozenset())]
    while queue:
        _, index, before = heapq.heappop(queue)
        if index in ways:
            continue
        instrs, end = blocks[index]
        here = ways[index] = before.union(
            instr.target
            for instr in instrs
            if isinstance(instr, CallFunction) and isinstance(instr.target, str)
        )
        if isinstance(end, Return):
            return tuple(sorted(here))
        for target in targets(end):
            if target not in ways:
                heapq.heappush(queue, (len(here), target, here))
    return None


def mentioned_functions(function: FunctionIR) -> tuple[str, ...]:
    """Return the functions that a function mentions without calling them, in order of name: but not
    those that only variables of its own hold which it does nothing with but call what they hold."""
    called: set[object] = set()
    for instrs, _ in function.blocks:
        for instr in instrs:
            if isinstance(instr, CallFunction):
                called.add(instr.target)
            elif isinstance(instr, CallRust):
                called.add(instr.name)
    mentioned = function.calls - called
    return tuple(sorted(mentioned & _given_away(function))) if mentioned else ()


def _given_away(function: FunctionIR) -> set[str]:
    """Return the functions that are mentioned where more than a variable which is only called takes
    them."""
    held: dict[int, list[str]] = {}
    away: set[str] = set()
    used: set[int] = set()
    waiting: list[Expr] = []
    for instrs, end in function.blocks:
        waiting += of_end(end)
        for instr in instrs:
            parts = of_instruction(instr)
            if isinstance(instr, CallFunction) and _variable(instr.target) >= 0:
                parts = parts[1:]
            elif isinstance(instr, Eval) and isinstance(instr.value, Store):
                address, value = instr.value.address, instr.value.value
                while isinstance(value, Cast):
                    value = value.value
                if isinstance(address, Local) and isinstance(value, Function):
                    held.setdefault(address.slot, []).append(value.name)
                    continue
            waiting += parts
    while waiting:
        part = waiting.pop()
        if isinstance(part, Function):
            away.add(part.name)
        elif isinstance(part, Local):
            used.add(part.slot)
        waiting += part.operands()
    return away.union(*(names for slot, names in held.items() if slot in used))


def _variable(target: str | Expr) -> int:
    """Return the variable that holds what is called; -1 where none does."""
    if (
        isinstance(target, str)
        or not isinstance(target, Load)
        or not isinstance(target.address, Local)
    ):
        return -1
    slot: int = target.address.slot
    return slot


def pack(function: FunctionIR) -> bytes:
    """Return a function as bytes."""
    return marshal.dumps(_values(function), 4)  # what is in it many times is written once


def unpack(data: bytes) -> FunctionIR:
    """Return the function that `pack` made bytes of."""
    function: FunctionIR = _from_values(FunctionIR, marshal.loads(data))
    return function


def to_tuple(outline: Outline) -> tuple[Any, ...]:
    """Return an outline as plain values."""
    return (
        outline.path,
        outline.language,
        tuple((key, _members(function)) for key, function in outline.functions.items()),
        tuple((key, _values(variable)) for key, variable in outline.globals.items()),
        tuple((key, _values(record)) for key, record in outline.records.items()),
        tuple((name, type_.plain) for name, type_ in outline.prototypes.items()),
        tuple(sorted(outline.written)),
        outline.closure,
        tuple(sorted(outline.stops)),
        tuple(sorted(outline.takes)),
        tuple((name, type_.plain) for name, type_ in sorted(outline.imported.items())),
        tuple(sorted(outline.decoded)),
        tuple(sorted(outline.bounded)),
    )


def from_tuple(values: tuple[Any, ...]) -> Outline:
    """Return the outline that `to_tuple` made `values` of."""
    (
        path,
        language,
        functions,
        variables,
        records,
        prototypes,
        written,
        closure,
        stops,
        takes,
        imported,
        decoded,
        bounded,
    ) = values
    return Outline(
        path,
        language,
        {key: FunctionOutline(*function) for key, function in functions},
        {key: _from_values(GlobalIR, variable) for key, variable in variables},
        {key: _from_values(RecordIR, record) for key, record in records},
        {name: function_of(plain) for name, plain in prototypes},
        frozenset(written),
        closure,
        frozenset(stops),
        frozenset(takes),
        {name: function_of(plain) for name, plain in imported},
        frozenset(decoded),
        frozenset(bounded),
    )


def digest_of(data: bytes) -> bytes:
    """16 bytes that name a text."""
    return hashlib.blake2b(data, digest_size=16).digest()


def digest_of_values(record: GlobalIR | RecordIR) -> bytes:
    """16 bytes that name what is declared."""
    return digest_of(marshal.dumps(_values(record), 2))


def around_functions(
    data: bytes,
    spans: Iterable[Span],
    prototypes: Mapping[str, FunctionType],
    context: str,
    known: dict[bytes, bytes] | None = None,
) -> bytes:
    """Names all of a file but its functions: what is between them, and what they declare. `known`
    keeps for another time how texts read whose blanks do not count."""
    digest = hashlib.blake2b(context.encode(), digest_size=16)
    at = 0
    known = {} if known is None else known
    for start, end in sorted(spans):
        between = data[at:start]
        words = known.get(between)
        if words is None:
            words = known[between] = b" ".join(between.split())
        digest.update(words)
        at = max(at, end)
    digest.update(b" ".join(data[at:].split()))
    declared = [(name, type_.plain) for name, type_ in sorted(prototypes.items())]
    digest.update(marshal.dumps(declared, 2))
    return digest.digest()


def _values(record: Any) -> tuple[Any, ...]:
    """Return the fields of a record as values that are written the same in every process."""
    members, sets = _SHAPES[type(record)]
    values = list(members(record))
    for at in sets:
        values[at] = tuple(sorted(values[at]))
    if isinstance(record, FunctionIR):
        values[_BLOCKS] = tuple(
            (tuple(instr.values() for instr in instrs), end.values())
            for instrs, end in record.blocks
        )
        values[_SLOTS] = tuple((name, type_.plain) for name, type_ in record.slots)
        values[_RESULT] = record.result.plain
    elif isinstance(record, GlobalIR):
        if record.init:
            values[_INIT] = tuple(instr.values() for instr in record.init)
        values[_TYPE] = record.type.plain
    elif isinstance(record, RecordIR):
        values[_FIELDS] = {
            name: (offset, type_.plain) for name, (offset, type_) in record.fields.items()
        }
    return tuple(values)


def _from_values(kind: type[Any], values: tuple[Any, ...]) -> Any:
    members = list(values)
    for at in _SHAPES[kind][1]:
        members[at] = frozenset(members[at])
    if kind is FunctionIR:
        members[_BLOCKS] = tuple(map(block_of, members[_BLOCKS]))
        members[_SLOTS] = tuple((name, type_of(plain)) for name, plain in members[_SLOTS])
        members[_RESULT] = type_of(members[_RESULT])
    elif kind is GlobalIR:
        if members[_INIT]:
            members[_INIT] = tuple(map(instruction_of, members[_INIT]))
        members[_TYPE] = type_of(members[_TYPE])
    elif kind is RecordIR:
        members[_FIELDS] = {
            name: (offset, type_of(plain)) for name, (offset, plain) in members[_FIELDS].items()
        }
    return kind(*members)
