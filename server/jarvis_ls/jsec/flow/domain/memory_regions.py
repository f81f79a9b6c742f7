"""Regions of memory: numbers for variables, allocations, literals and what is behind pointers
from outside. The same place reached by the same calls has the same number."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Final, final

from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState, Cells, Joiner, Region
from jarvis_ls.jsec.flow.domain.abstract_value import (
    ANY_NULL,
    NOT_NULL,
    OTHER,
    TIGHT,
    AbstractValue,
    pointer,
    unknown,
)
from jarvis_ls.jsec.flow.domain.call_summary import CallSummary
from jarvis_ls.jsec.flow.domain.lookup import Lookup
from jarvis_ls.jsec.flow.domain.region_state import UNINITIALISED, UNKNOWN_FILL, ZEROED, RegionState
from jarvis_ls.jsec.flow.ir import byte_readers, overloads
from jarvis_ls.jsec.flow.ir.c_types import ANY, CHAR, INT, LONG, UNIT, size_of
from jarvis_ls.jsec.flow.ir.cfg import loops, targets
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR, GlobalIR
from jarvis_ls.jsec.flow.ir.instructions import CallFunction, Eval, Instruction, Return
from jarvis_ls.jsec.flow.ir.nodes import Cast, Const, Expr, Null, Number, Span, Store
from jarvis_ls.jsec.flow.ir.types import (
    Array,
    Float,
    Integer,
    Pointer,
    Record,
    Reference,
    Type,
    array_of,
)

_SHAPE: Final = re.compile(r"(?:#[0-9a-f]+)?(\.\w+)(?:'\d+)?$")
"""What tells a static variable of a function from others of its name is around its own."""
_HELD_INSTRUCTIONS: Final = 25_000
"""Functions are held from one run to the next until they have so many instructions together."""
_MAX_BEHIND: Final = 4
"""How many pointers deep what is behind a parameter is distinguished."""


@final
class Frame:
    """One activation of a function; the same call from the same frame gives the same one."""

    __slots__ = tuple(
        "base caller depth end entered function last_uses pointers site space temps".split()
    )

    def __init__(
        self,
        function: FunctionIR,
        caller: Frame | None,
        base: int,
        end: int,
        pointers: list[AbstractValue],
        site: Span,
    ) -> None:
        self.function = function
        self.caller = caller
        self.base = base
        """Region of the first slot."""
        self.temps = base + len(function.slots)
        """Region of temporary 0."""
        self.end = end
        self.entered = 0
        """Fuel that was left when it was entered last."""
        self.depth: int = 0 if caller is None else caller.depth + 1
        self.last_uses: dict[int, list[int]] = {}
        """See `liveness.last_uses`: only of the function a run starts with."""
        self.pointers = pointers
        """Address of each slot."""
        self.site = site
        """Where the caller calls it."""
        parts = function.name.split("::")
        self.space = parts[: -2 if function.record else -1]
        """Namespaces around it."""

    def around(self) -> list[Frame]:
        """Return it and those it is called within, in this order."""
        frames = [self]
        while (caller := frames[-1].caller) is not None:
            frames.append(caller)
        return frames


class RegionTable(Joiner):
    """Gives regions their numbers and says what they are."""

    frame: Frame

    def __init__(self, program: Lookup) -> None:
        super().__init__()
        self.program = program
        self.numbers: dict[int, AbstractValue] = {}
        """Whole numbers that are written out."""
        self.silent = 0
        self.storing = -1
        """The local array whose elements are worked out from others of it."""
        self.filling = False
        """Whether it is an element of an array, or what a pointer leads to, that is given a
        value."""
        self.defensive = False
        """Whether the condition that is examined tells nothing of what is usual."""
        self.exact = False
        """Whether everything is known in the loop that is gone through."""
        self.going = 0
        """The block that a branch which is examined goes to."""
        self.allocated = False
        """Whether anything was allocated in this run."""
        self.took: set[tuple[int, Number, Frame]] = set()
        """Locks that outlive functions, by region and offset, and the calls within which they were
        taken."""
        self.gave_back: set[tuple[int, Number, Frame]] = set()
        """Those within which they were returned after that."""
        self.found_held: set[tuple[int, Number, Frame]] = set()
        """Those within which they were returned before: the caller held them."""
        self.looked_at: dict[Any, set[Span]] = {}
        """Calls whose results are examined, by file and place of their function."""
        self.met: dict[str, set[int]] = {}
        """Regions of the variables of file scope that this run came to, by name."""
        self.passed_by: set[tuple[str, str]] = set()
        """File and name of functions that no call of this run gives anything new."""
        self.opened: set[int] = set()
        """Regions whose content was decrypted on some way of this run."""
        self._ids: dict[Any, int] = {}
        self._frames: dict[Any, Frame] = {}
        self._functions: dict[int, FunctionIR] = {}
        self._found: dict[tuple[str, str], FunctionIR | None] = {}
        self._several: dict[tuple[str, str], list[FunctionIR]] = {}
        self._depths: dict[int, int] = {}
        self._types: dict[tuple[int, Any], Type] = {}
        self._returning: dict[tuple[str, str], bool] = {}
        self._summaries: dict[tuple[str, str], CallSummary | None] = {}
        self._readings: dict[tuple[str, str, Span], int] = {}
        self._ending: dict[int, dict[int, bool]] = {}
        """By the identity of functions of this run and block, whether the program ends there."""
        self._behind: dict[int, tuple[FunctionIR, frozenset[int]]] = {}
        """Blocks that loops are left to, by the identity of their function, for all runs."""
        self._initials: dict[int, tuple[GlobalIR, Cells, RegionState | None]] = {}
        """What arrays of numbers start with, by the identity of their declarations, for all
        runs."""
        self._globals: dict[tuple[str, str], tuple[int, GlobalIR | None, AbstractValue]] = {}
        self._variables: dict[tuple[str, str], tuple[Any, GlobalIR | None, int, str]] = {}
        """Key of the region of a variable of file scope, its declaration, what is in it before it
        is written, and its name as it is shown."""
        self._loaded = 0
        """Instructions of the functions that are held, about."""
        self._sizes: dict[tuple[str, str], int] = {}
        self.counted = False
        """Whether some size is a multiple of `UNIT`."""
        self._offsets: dict[tuple[str, str, str], int] = {}
        self._decoded: dict[tuple[int, int, str], str] = {}
        self._viewed: dict[tuple[str, Any, str], str] = {}
        self._members: dict[tuple[str, str, str], int] = {}

    @abstractmethod
    def evaluate(self, state: AbstractState, expr: Expr) -> AbstractValue:
        """Return the value of an expression."""

    def reset(self) -> None:
        """Forget the regions of the run before; numbers start from 0."""
        self.regions.clear()
        self.allocated = self.counted = self.locked = self.exact = False
        self.passed_by.clear()
        self.opened.clear()
        for noted in (self.took, self.gave_back, self.found_held):
            noted.clear()
        self.looked_at.clear()
        for held in (self.met, self._ids, self._globals, self._frames, self._functions):
            held.clear()
        self._depths.clear()
        self._types.clear()
        for worked_out in (
            self._returning,
            self._ending,
            self._members,
            self._decoded,
            self._viewed,
        ):
            worked_out.clear()
        if not self.program.is_watched and self._loaded < _HELD_INSTRUCTIONS:
            return
        self._loaded = 0
        for asked in (
            self._found,
            self._several,
            self._summaries,
            self._readings,
            self._variables,
            self._sizes,
            self._offsets,
        ):
            asked.clear()  # each run asks the program itself: what it asks is noted with its answer

    def region(self, key: Any, place: Region) -> int:
        """Return the number of the region with a key."""
        found = self._ids.get(key)
        if found is None:
            found = self._ids[key] = len(self.regions)
            self.regions.append(place)
        return found

    def find_region(self, key: Any) -> int | None:
        """Return the number given before."""
        return self._ids.get(key)

    def enter(self, function: FunctionIR, caller: Frame | None, site: Span) -> Frame:
        """Return the frame of a call."""
        key = (caller.base if caller is not None else -1, site, function.file, function.name)
        frame = self._frames.get(key)
        if frame is None:
            base = len(self.regions)
            for name, type_ in function.slots:
                size = self.size_in_file(type_, function.file)
                self.regions.append(
                    Region(
                        "local", name, type_, size, UNINITIALISED, function.name_span, function.file
                    )
                )
            pointers = [pointer(base + slot) for slot in range(len(function.slots))]
            self.regions.extend([None] * (1 + function.temps))
            frame = Frame(function, caller, base, len(self.regions), pointers, site)
            self._frames[key] = frame
        return frame

    def size_in_file(self, type_: Type, file: str = "") -> int:
        """Return the bytes of a type as a file means it, by default that of the current function; 0
        when not known, and `UNIT` of a record that nothing defines."""
        if isinstance(type_, Pointer):
            return 8
        if isinstance(type_, Record):
            key = (type_.name, file or self.frame.function.file)
            size = self._sizes.get(key)
            if size is None:
                record = self.program.record(*key)
                size = self._sizes[key] = record.size if record is not None else UNIT
            self.counted = self.counted or size == UNIT
            return size
        if isinstance(type_, Array):
            return 0 if type_.count < 0 else self.size_in_file(type_.inner, file) * int(type_.count)
        return size_of(type_)

    def offset(self, record: str, member: str, otherwise: int) -> int:
        """Return the offset of a member of a record of another file; `otherwise` when not known."""
        key = (record, member, self.frame.function.file)
        found = self._offsets.get(key)
        if found is None:
            known = self.program.record(record, key[2])
            place = known.fields.get(member) if known is not None else None
            found = self._offsets[key] = place[0] if place is not None else otherwise
        return found

    def member_size(self, record: str, member: str) -> int:
        """Return the bytes of a member of a record of another file; 0 when not known."""
        key = (record, member, self.frame.function.file)
        found = self._members.get(key)
        if found is None:
            known = self.program.record(record, key[2])
            place = known.fields.get(member) if known is not None else None
            found = self._members[key] = self.size_in_file(place[1]) if place is not None else 0
        return found

    def decoded_member(self, rid: int, offset: int) -> str:
        """Return the name of the member there, of an object of which only the type is known, when
        it holds a number decoded from bytes and nothing bounds it; else nothing."""
        key = (rid, offset, self.frame.function.file)
        found = self._decoded.get(key)
        if found is None:
            found = self._decoded[key] = self._decoded_member(*key)
        return found

    def _decoded_member(self, rid: int, offset: int, file: str) -> str:
        place = self.regions[rid]
        type_ = ANY if place is None or place.kind != "object" else place.type
        for _ in range(_MAX_BEHIND):
            record = self.program.record(type_.name, file) if isinstance(type_, Record) else None
            if record is None:
                break
            below = [(at, t, n) for n, (at, t) in record.fields.items() if at <= offset]
            at, type_, name = max(below, key=lambda field: field[0], default=(0, ANY, ""))
            if at == offset and isinstance(type_, Integer):
                held = self.program.decoded_members(record.name, file)
                return f"{record.name}.{name}" if name in held else ""
            offset -= at
        return ""

    def decoded_by_view(self, record: str, offset: Any) -> str:
        """Return the member that bytes which are seen as a record have at an offset (that of an
        address of a member), as `decoded_member` does."""
        file = self.frame.function.file
        key = (record, offset, file)
        found = self._viewed.get(key)
        if found is None:
            found = self._viewed[key] = self._decoded_by_view(*key)
        return found

    def _decoded_by_view(self, record: str, offset: Any, file: str) -> str:
        held = self.program.decoded_members(record, file)
        if not held:
            return ""
        known = self.program.record(record, file)
        at = offset[2] if isinstance(offset, tuple) else offset
        fields = known.fields.items() if known is not None else ()
        names = [name for name, (place, _) in fields if place == at]
        if len(names) != 1:  # members of a union
            return ""
        return f"{record}.{names[0]}" if names[0] in held else ""

    def kind(self, rid: int) -> str:
        """Return the kind of a region."""
        place = self.regions[rid]
        return "temp" if place is None else place.kind

    def type_at(self, rid: int, offset: Any) -> Type:
        """Return the type of what is in a region, as far as its declaration says."""
        found = self._types.get((rid, offset))
        if found is None:
            found = self._types[rid, offset] = self._type_at(rid, offset)
        return found

    def _type_at(self, rid: int, offset: Any) -> Type:
        place = self.regions[rid]
        if place is None:
            return LONG
        type_ = place.type
        for _ in range(4):
            if isinstance(type_, Array):
                type_ = type_.inner
            elif isinstance(type_, Record) and isinstance(offset, (int, float)):
                record = self.program.record(type_.name, place.file)
                inner = [t for at, t in record.fields.values() if at == offset] if record else []
                if not inner:
                    return ANY
                return inner[0]
        return type_

    def region_state(self, state: AbstractState, rid: int) -> RegionState:
        """Return what is known about a region; made from its declaration when first asked for."""
        found = state.region_states.get(rid)
        if found is None:
            found = RegionState()
            place = self.regions[rid]
            if place is not None:
                if place.size and place.kind != "object":
                    found.low = found.high = place.size
                    found.flags = TIGHT
                found.fill = place.fill
            state.region_states[rid] = found
        return found

    def literal(self, data: bytes, unit: int) -> AbstractValue:
        """Return the address of a string literal."""
        key = ("string", data, unit)
        rid = self.find_region(key)
        if rid is None:
            size = (len(data) + 1) * unit
            type_ = array_of(CHAR if unit == 1 else INT, len(data) + 1)
            rid = self.region(key, Region("string", "", type_, size, UNKNOWN_FILL, (0, 0), ""))
            self._functions.pop(rid, None)
        return pointer(rid)

    def literal_reg(self, state: AbstractState, rid: int) -> RegionState:
        """Return what is known about a string literal's region."""
        found = state.region_states.get(rid)
        if found is None:
            found = self.region_state(state, rid)
            for key, number in self._ids.items():
                if number == rid and key[0] == "string":
                    data, unit = key[1], key[2]
                    cut = data.find(b"\0")
                    length = (len(data) if cut < 0 or unit != 1 else cut) * unit
                    found.min_length = found.max_length = length
                    found.text = data if cut < 0 else data[:cut]
                    break
        return found

    def global_pointer(self, state: AbstractState, name: str) -> AbstractValue:
        """Return the address of a variable of file scope; its content is put in when first met."""
        known = self._globals.get((name, self.frame.function.file))
        if known is None:
            known = self._global(name, self.frame.function.file)
        rid, variable, where = known
        if rid not in state.memory:
            state.memory[rid] = {}
            place = self.regions[rid]
            if place is not None and isinstance(place.type, (Array, Record)):
                self.region_state(state, rid)
            set_once = place is not None and place.fill == ZEROED
            if set_once and variable is not None and variable.init:
                self._initialise(state, rid, variable)
        return where

    def _global(self, name: str, file: str) -> tuple[int, GlobalIR | None, AbstractValue]:
        declared = self._variables.get((name, file))
        if declared is None:
            declared = self._variables[(name, file)] = self._declaration(name, file)
        key, variable, fill, shown = declared
        rid = self.find_region(key)
        if rid is None:
            type_ = variable.type if variable is not None else ANY
            size = self.size_in_file(type_)
            rid = self.region(key, Region("global", shown, type_, size, fill, (0, 0), file))
        self.met.setdefault(name, set()).add(rid)
        found = self._globals[(name, file)] = rid, variable, pointer(rid)
        return found

    def _declaration(self, name: str, file: str) -> tuple[Any, GlobalIR | None, int, str]:
        """Return what `_variables` holds of a variable of file scope."""
        variable = self.program.variable(name, file)
        static = variable is not None and variable.static
        changes = (
            variable is None
            or variable.extern
            or variable.init == ()
            or (variable.init is None and not variable.static)  # what sets it may be generated
            or _is_set_unseen(variable)
            or (not variable.constant and self.program.is_written(name, file))
        )
        key = ("global", name, file if static or variable is None else "")
        return key, variable, UNKNOWN_FILL if changes else ZEROED, _SHAPE.sub(r"\1", name)

    def _initialise(self, state: AbstractState, rid: int, variable: GlobalIR) -> None:
        known = self._initials.get(id(variable))
        if known is not None:
            _, state.memory[rid], reg = known
            if reg is not None:
                state.region_states[rid] = reg
            return
        self.silent += 1
        for instr in variable.init or ():
            if isinstance(instr, Eval):
                self.evaluate(state, instr.value)
        self.silent -= 1
        cells = state.memory[rid]
        if _is_table(variable):
            self._initials[id(variable)] = variable, cells, state.region_states.get(rid)

    def function_pointer(self, name: str) -> AbstractValue:
        """Return a function as a value."""
        rid = self.region(
            ("function", name, self.frame.function.file),
            Region("function", name, ANY, 0, UNKNOWN_FILL, (0, 0), self.frame.function.file),
        )
        return pointer(rid)

    def returns(self, function: FunctionIR, depth: int = 0) -> bool:
        """Return whether some way through a function comes back to its caller."""
        key = (function.file, function.name)
        known = self._returning.get(key)
        if known is None:
            if depth > _MAX_BEHIND:
                return True
            self._returning[key] = True  # while it is examined: recursion may return
            known = self._returning[key] = self._comes_back(function, depth)
        return known

    def _comes_back(self, function: FunctionIR, depth: int) -> bool:
        space = function.name.split("::")[:-1]
        if not space and self.program.comes_back(function.name, function.file):
            return True
        if self.program.stops(function.name, function.file):
            return False
        seen, work = {0}, [0]
        while work:
            instrs, end = function.blocks[work.pop()]
            if any(self._ends(i, function, space, depth) for i in instrs):
                continue
            if isinstance(end, Return):
                return True
            for target in targets(end):
                if target not in seen:
                    seen.add(target)
                    work.append(target)
        return False

    def leaves_loop(self, target: int | None = None) -> bool:
        """Return whether a branch to a block, by default the one that is examined, is the end of a
        loop."""
        function = self.frame.function
        known = self._behind.get(id(function))
        if known is None:
            behind = frozenset(tail + 1 for _, tail in loops(function))
            known = self._behind[id(function)] = function, behind
        return (self.going if target is None else target) in known[1]

    def ends_at(self, block: int) -> bool:
        """Return whether a block of the current function calls what ends the program."""
        function = self.frame.function
        known = self._ending.get(id(function))
        if known is None:
            known = self._ending[id(function)] = {}
        found = known.get(block)
        if found is None:
            space = self.frame.space
            found = known[block] = any(
                self._ends(instr, function, space, 0) for instr in function.blocks[block][0]
            )
        return found

    def _ends(self, instr: Instruction, function: FunctionIR, space: list[str], depth: int) -> bool:
        """Return whether an instruction calls a function that does not come back."""
        if not isinstance(instr, CallFunction):
            return False
        name = instr.target
        if not isinstance(name, str) or (
            not space and self.program.comes_back(name, function.file)
        ):
            return False
        callee = self.find_function(name, function.file, space)
        if callee is not None:
            return not self.returns(callee, depth + 1)
        short = name.rpartition("::")[2]
        return self.program.ends(short) or self.program.stops(short, function.file)

    def summary(self, function: FunctionIR) -> CallSummary | None:
        """Return the summary of a function: what it and those it calls may do, as far as that is
        known without following them."""
        key = (function.name, function.file)
        found = self._summaries.get(key)
        if found is None and key not in self._summaries:
            found = self._summaries[key] = self.program.summary(*key)
        return found

    def reads(self, function: FunctionIR) -> int:
        """Return what a function reads out of a stream of bytes: see `ir.byte_readers`."""
        key = (function.file, function.name, function.span)
        found = self._readings.get(key)
        if found is None:
            found = self._readings[key] = byte_readers.reads(function, self.definition)
        return found

    def definition(self, name: str, user: FunctionIR) -> FunctionIR | None:
        """Return the function that a name means in another function."""
        return self.find_function(name, user.file, user.name.split("::")[:-1])

    def find_overload(
        self, name: str, file: str, space: list[str], types: Sequence[Type]
    ) -> FunctionIR | None:
        """Return the definition that a call with arguments of these types means."""
        found = self.find_function(name, file, space)
        if found is None:
            return None
        several = self._several.get((found.file, found.name))
        if several is None:
            several = self.program.overloads(found.name, found.file)
            self._several[(found.file, found.name)] = several
        return overloads.best(several or [found], types) if several or found.record else found

    def find_function(self, name: str, file: str, space: list[str]) -> FunctionIR | None:
        """Return the definition a name means, namespaces around it tried from the inside out."""
        key = ("::".join((*space, name)) if space else name, file)
        found = self._found.get(key)
        if found is not None or key in self._found:
            return found
        for depth in range(len(space), -1, -1):
            found = self.program.function("::".join((*space[:depth], name)), file)
            if found is not None:
                self._loaded += found.size
                break
        self._found[key] = found
        return found

    def object_behind(
        self, state: AbstractState, rid: int, offset: Any, type_: Type
    ) -> AbstractValue:
        """Return a pointer from outside: what it leads to has a region of its own."""
        depth = self._depths.get(rid, 0)
        if depth >= _MAX_BEHIND or not isinstance(type_, (Pointer, Reference)):
            return unknown(type_)
        key = ("behind", rid, offset)
        behind = self.find_region(key)
        if behind is None:
            place = Region("object", "", type_.inner, 0, UNKNOWN_FILL, (0, 0), "")
            behind = self.region(key, place)
            self._depths[behind] = depth + 1
        null = NOT_NULL if isinstance(type_, Reference) else ANY_NULL
        value = AbstractValue(0, 0, TIGHT | OTHER * 0, None, ((behind, 0, 0, 0, None),), null)
        cells = state.memory.get(rid)
        if cells is None or offset not in cells:
            known = state.region_states.get(behind)
            if known is not None and known.status:  # what was freed is not what is there later
                del state.region_states[behind]
                state.memory.pop(behind, None)
            state.put(rid, offset, value)
        return value


def _is_set_unseen(variable: GlobalIR) -> bool:
    """Return whether a variable is a pointer that starts as null: something sets it, in a macro
    perhaps, or nobody would follow it.
    """
    if not isinstance(variable.type, Pointer) or variable.constant:
        return False
    stored = [instr.value for instr in variable.init or () if isinstance(instr, Eval)]
    return not stored or all(isinstance(store, Store) and _is_null(store.value) for store in stored)


def _is_null(value: Expr) -> bool:
    while isinstance(value, Cast):
        value = value.value
    return bool(isinstance(value, Null) or (isinstance(value, Const) and value.value == 0))


def _is_table(variable: GlobalIR) -> bool:
    """Return whether a variable starts as an array of numbers as they are written: then nothing is
    asked of the program for it.
    """
    type_ = variable.type
    if not isinstance(type_, Array) or not isinstance(type_.inner, (Integer, Float)):
        return False
    stored = (instr.value for instr in variable.init or () if isinstance(instr, Eval))
    return all(
        isinstance(store, Store)
        and isinstance(store.value, (Cast, Const))
        and (isinstance(store.value, Const) or isinstance(store.value.value, Const))
        for store in stored
    )
