"""A function with members of its objects as variables of their own, for what follows variables.

`s->pos` and `r->end`, reached through a pointer that keeps its value, become variables; a call that
may write them gives them an unknown value. Small functions that only test such members and tell
of it by what they return (`if (!need(s, n)) return -1;`) are put in as their condition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR, RecordIR
from jarvis_ls.jsec.flow.ir.instructions import (
    Block,
    Branch,
    CallFunction,
    CallMethod,
    CallRust,
    End,
    Eval,
    Instruction,
    Jump,
    Return,
    SetTemp,
    Switch,
)
from jarvis_ls.jsec.flow.ir.nodes import Expr, Number
from jarvis_ls.jsec.flow.ir.operands import bare, of_end, of_instruction
from jarvis_ls.jsec.flow.ir.rooms import member_of
from jarvis_ls.jsec.flow.ir.types import Integer, Pointer, Record, Reference, Type, pointer_to

_SMALL: Final = 40
"""Instructions of a function that is put in, or known not to write."""
_DEEPEST: Final = 3
"""Calls inside of calls that are examined for what they write."""
_MOST: Final = 24
"""Members of a function that become variables."""
Definition = Callable[[str], "FunctionIR | None"]
"""Gives the function of a name."""
Records = Callable[[str], "RecordIR | None"]
"""Gives the record of a name."""
WithMembers = tuple[FunctionIR, dict[int, tuple[int, str]]]
Answer = tuple[Expr, int, int]
"""A condition, and what stands for it where it holds and where not."""
_Path = tuple[int, tuple[object, ...]]
"""A variable, and the offsets of the members that lead on from what it points to or is."""


def with_members(
    function: FunctionIR, definition: Definition, record: Records
) -> WithMembers | None:
    """Return a function with the members that its comparisons are about as variables, and which
    variable and member, as `record.member`, each is; None when they are about none."""
    if not _reads_elements(function):
        return None
    change = _Change(function, definition, record)
    return (change.result(), change.members) if change.slots else None


def _reads_elements(function: FunctionIR) -> bool:
    """Return whether a function tests anything but for null, and goes to elements through a member,
    or is one that calls what may."""
    tested = False
    for _, end in function.blocks:
        if isinstance(end, Branch):
            e = end.condition
            while isinstance(e, (nodes.Not, nodes.Cast)):
                e = e.value
            if isinstance(e, nodes.Temp) or (
                isinstance(e, nodes.Compare) and not isinstance(e.right, nodes.Null)
            ):
                tested = True
                break
    return tested and any(_is_element(e) for e in _all(function))


def _is_element(e: Expr) -> bool:
    """Return whether some part of an expression is an element behind a member."""
    if isinstance(e, (nodes.Load, nodes.Store)):
        place = e.address
        while isinstance(place, nodes.Field):
            place = place.base
        if isinstance(place, nodes.Index):
            place = place.base
        place = bare(place)
        if isinstance(place, (nodes.Load, nodes.Step)) and isinstance(
            place.address, (nodes.Field, nodes.Temp)
        ):
            return True
    return any(map(_is_element, e.operands()))


def condition_of(function: FunctionIR) -> Answer | None:
    """Return the condition that a small function tests, and what it returns where that holds and
    where not; None when it does more than one comparison of what it is given."""
    if function.size > _SMALL or function.cut or function.heads:
        return None
    at = 0
    for _ in range(8):
        instrs, end = function.blocks[at]
        if instrs:
            return None
        if isinstance(end, Return):
            return (end.value, 1, 0) if end.value is not None and _is_test(end.value) else None
        if isinstance(end, Branch):
            yes, no = _result(function, end.yes), _result(function, end.no)
            return None if yes is None or no is None or yes == no else (end.condition, yes, no)
        if not isinstance(end, Jump):
            return None
        at = end.block
    return None


def _is_test(value: Expr | None) -> bool:
    while value is not None and isinstance(value, (nodes.Cast, nodes.Not)):
        value = value.value
    return value is not None and isinstance(value, nodes.Compare)


def _result(function: FunctionIR, at: int) -> int | None:
    """Return the number that a function returns from a block on, which writes nothing it is given;
    None when that is not known."""
    for _ in range(6):
        instrs, end = function.blocks[at]
        for instr in instrs:
            if any(_writes(e) for e in of_instruction(instr)):
                return None
        if isinstance(end, Return) and end.value is not None:
            value = end.value
            while isinstance(value, nodes.Cast):
                value = value.value
            return int(value.value) if isinstance(value, nodes.Const) else None
        if not isinstance(end, Jump):
            return None
        at = end.block
    return None


def _writes(e: Expr) -> bool:
    """Return whether an expression writes anything but a variable, or a constant."""
    if isinstance(e, (nodes.Store, nodes.Step)) and not isinstance(e.address, nodes.Local):
        return bool(isinstance(e, nodes.Step) or not isinstance(e.value, nodes.Const))
    return any(map(_writes, e.operands()))


class _Change:
    """The change of one function."""

    def __init__(self, function: FunctionIR, definition: Definition, record: Records) -> None:
        self.function = function
        self.definition = definition
        self.record = record
        self.slots: dict[_Path, int] = {}
        self.new: list[tuple[str, Type]] = []
        self.members: dict[int, tuple[int, str]] = {}
        self.conditions: dict[int, Answer] = {}
        """Of calls that are put in, by the temporary of their result."""
        self.results: dict[int, int] = {}
        """Temporaries that variables hold, in the block that is being changed."""
        self.addresses: dict[int, Expr] = {}
        """Of members that temporaries lead to."""
        for instrs, _ in function.blocks:
            for instr in instrs:
                if isinstance(instr, SetTemp) and isinstance(instr.value, nodes.Field):
                    self.addresses[instr.temp] = instr.value
        self.fixed = self._keeping_variables()
        self._put_in()
        self._choose()

    def result(self) -> FunctionIR:
        """Return the function with members as variables."""
        blocks: list[Block] = []
        for instrs, end in self.function.blocks:
            kept: list[Instruction] = []
            self.results.clear()
            for instr in instrs:
                if isinstance(instr, Eval) and isinstance(instr.value, nodes.Store):
                    self._keep(instr.value)
                kept.append(self._instruction(instr))
                if isinstance(instr, (CallFunction, CallMethod, CallRust)):
                    kept += self._forgetting(instr)
            blocks.append((tuple(kept), self._end(end)))
        slots = (*self.function.slots, *self.new)
        return replace(self.function, blocks=tuple(blocks), slots=slots)

    def _keep(self, store: nodes.Store) -> None:
        """Note which result of a call that is put in a variable holds."""
        address, value = store.address, store.value
        while isinstance(value, nodes.Cast):
            value = value.value
        if isinstance(address, nodes.Local):
            self.results[address.slot] = value.number if isinstance(value, nodes.Temp) else -1

    def _keeping_variables(self) -> set[int]:
        """Return the variables that keep their value: they are given one at most once, as
        parameters never, and their address is not taken."""
        writes: dict[int, int] = dict.fromkeys(self.function.params, 1)
        taken: set[int] = set()
        waiting = _all(self.function)
        while waiting:
            part = waiting.pop()
            operands = part.operands()
            if isinstance(part, (nodes.Load, nodes.Store, nodes.Step)):
                inner = part.address
                while isinstance(inner, nodes.Field):
                    inner = inner.base
                if not isinstance(inner, nodes.Local):
                    waiting.append(inner)
                operands = operands[1:]
            waiting += operands
            if isinstance(part, nodes.Local):
                taken.add(part.slot)
            elif isinstance(part, (nodes.Store, nodes.Step)) and isinstance(
                part.address, nodes.Local
            ):
                slot = part.address.slot
                writes[slot] = writes.get(slot, 0) + 1
        slots = range(len(self.function.slots))
        return {slot for slot in slots if writes.get(slot, 0) <= 1 and slot not in taken}

    def _put_in(self) -> None:
        """Note the conditions of calls that only test what they are given."""
        for instrs, end in self.function.blocks:
            if not isinstance(end, Branch):
                continue
            for instr in instrs[-2:]:  # the call, and where its result is kept
                if isinstance(instr, CallFunction) and isinstance(instr.target, str):
                    found = self.definition(instr.target)
                    if found is None or len(found.params) != len(instr.arguments):
                        continue
                    answer = condition_of(found)
                    if answer is not None:
                        given = dict(zip(found.params, instr.arguments, strict=True))
                        put = _substitute(answer[0], given)
                        if put is not None:
                            self.conditions[instr.temp] = put, answer[1], answer[2]

    def _choose(self) -> None:
        """Choose the members that become variables, where comparisons are about some."""
        put_in = [answer[0] for answer in self.conditions.values()]
        compared = list(put_in)
        for instrs, end in self.function.blocks:
            compared += of_end(end) if isinstance(end, Branch) else ()
            compared += [
                instr.value.value
                for instr in instrs
                if isinstance(instr, Eval) and isinstance(instr.value, nodes.Store)
            ]
        if not any(self._has_member(e) for e in compared):
            return
        waiting = [*_all(self.function), *put_in]
        addresses = {*self.addresses.values()}
        named: dict[object, int] = {}
        mixed: set[object] = set()
        while waiting:
            part = waiting.pop()
            address = part
            if isinstance(part, (nodes.Load, nodes.Store, nodes.Step)):
                address = self._address(part.address)
            if part is not address and isinstance(address, nodes.Field):
                path, last, type_ = self._path(address), address.offset, address.type
                if path is None:
                    mixed.add(last)
                elif _is_followed(type_) and path not in self.slots and len(self.new) < _MOST:
                    if named.setdefault(last, path[0]) != path[0]:
                        mixed.add(last)
                    self.slots[path] = len(self.function.slots) + len(self.new)
                    self.new.append((self._name(path), type_))
                    member = member_of(address, self.function, self.record)
                    if member is not None:
                        self.members[self.slots[path]] = member
                waiting.append(address.base)
                waiting += [part.value] if isinstance(part, nodes.Store) else []
                continue
            if isinstance(part, nodes.Field) and _is_followed(part.type) and part not in addresses:
                mixed.add(part.offset)  # its address is taken
            waiting += part.operands()
        for path in [path for path in self.slots if path[1][-1] in mixed]:
            del self.slots[path]  # two objects of a kind may be one

    def _address(self, e: Expr) -> Expr:
        return self.addresses.get(e.number, e) if isinstance(e, nodes.Temp) else e

    def _has_member(self, e: Expr) -> bool:
        if (
            isinstance(e, nodes.Load)
            and isinstance(e.address, nodes.Field)
            and _is_followed(e.address.type)
        ):
            return True
        return any(map(self._has_member, e.operands()))

    def _path(self, address: Expr) -> _Path | None:
        offsets: list[object] = []
        while isinstance(address, nodes.Field):
            offsets.append(address.offset)
            address = address.base
        if isinstance(address, nodes.Load) and isinstance(address.address, nodes.Local):
            slot = address.address.slot
        elif isinstance(address, nodes.Local):
            slot = address.slot
        else:
            return None
        return (slot, tuple(reversed(offsets))) if slot in self.fixed else None

    def _name(self, path: _Path) -> str:
        """Return how a member is written."""
        base, type_ = self.function.slots[path[0]]
        name, around = base, type_
        for offset in path[1]:
            name += "->" if isinstance(around, (Pointer, Reference)) else "."
            around = around.inner if isinstance(around, (Pointer, Reference)) else around
            record = self.record(around.name) if isinstance(around, Record) else None
            if isinstance(offset, tuple):
                member: str = offset[1]
            else:
                fields = record.fields.items() if record is not None else ()
                member = next((name for name, held in fields if held[0] == offset), "")
            if not member:
                return ""
            name += member
            around = record.fields[member][1] if record and member in record.fields else ANY
        return name

    def _instruction(self, instr: Instruction) -> Instruction:
        if isinstance(instr, CallFunction):
            if instr.temp in self.conditions:
                return SetTemp(instr.temp, nodes.Unknown(instr.result))
            target = instr.target
            return CallFunction(
                instr.temp,
                target if isinstance(target, str) else self._expression(target),
                tuple(map(self._expression, instr.arguments)),
                instr.result,
                instr.span,
                instr.types,
            )
        if isinstance(instr, Eval):
            return Eval(self._expression(instr.value))
        if isinstance(instr, SetTemp):
            value = instr.value
            if isinstance(value, nodes.Field) and self._path(value) in self.slots:
                return SetTemp(instr.temp, nodes.Unknown(pointer_to(value.type)))
            return SetTemp(instr.temp, self._expression(value))
        return instr

    def _end(self, end: End) -> End:
        if isinstance(end, Branch):
            condition = self._expression(self._tested_condition(end.condition))
            return Branch(condition, end.yes, end.no, end.span, end.defensive)
        if isinstance(end, Switch):
            return Switch(self._expression(end.value), end.cases, end.default, end.span)
        if isinstance(end, Return) and end.value is not None:
            return Return(self._expression(end.value), end.span)
        return end

    def _expression(self, e: Expr) -> Expr:
        if isinstance(e, (nodes.Load, nodes.Store, nodes.Step)):
            address = self._address(e.address)
            path = self._path(address) if isinstance(address, nodes.Field) else None
            slot = self.slots.get(path) if path is not None else None
            if slot is not None:
                others = map(self._expression, e.operands()[1:])
                return e.with_operands((nodes.Local(slot), *others))
        return e.with_operands(list(map(self._expression, e.operands())))

    def _tested_condition(self, condition: Expr) -> Expr:
        """Return a condition on what a function returns that is put in as the condition that it
        tests."""
        if isinstance(condition, nodes.Not):
            inner = self._tested_condition(condition.value)
            return condition if inner is condition.value else nodes.Not(inner)
        tested, op = condition, "!="
        other: Number = 0
        if isinstance(condition, nodes.Compare) and isinstance(condition.right, nodes.Const):
            tested, op, other = condition.left, condition.operator, condition.right.value
        temp = -1
        if isinstance(tested, nodes.Temp):
            temp = tested.number
        elif isinstance(tested, (nodes.Load, nodes.Store)) and isinstance(
            tested.address, nodes.Local
        ):
            if isinstance(tested, nodes.Store):
                self._keep(tested)
            temp = self.results.get(tested.address.slot, -1)
        answer = self.conditions.get(temp)
        if answer is None:
            return condition
        yes, no = _holds(op, answer[1], other), _holds(op, answer[2], other)
        if yes == no:
            return condition
        return answer[0] if yes else nodes.Not(answer[0])

    def _forgetting(self, call: CallFunction | CallMethod | CallRust) -> list[Instruction]:
        """Return what gives members an unknown value that a call may write."""
        if call.temp in self.conditions:
            return []
        target = call.target if isinstance(call, CallFunction) else ""
        if isinstance(target, str) and target and self._only_reads(target, _DEEPEST):
            return []
        return [
            Eval(nodes.Store(nodes.Local(slot), nodes.Unknown(type_), type_, call.span))
            for slot, (_, type_) in enumerate(self.new, len(self.function.slots))
        ]

    def _only_reads(self, name: str, depth: int) -> bool:
        """Return whether a function writes nothing but its own variables."""
        found = self.definition(name)
        if found is None:
            return name in _READERS
        if found.size > _SMALL or found.cut or not depth:
            return False
        for instrs, end in found.blocks:
            if any(_writes(e) for e in of_end(end)):
                return False
            for instr in instrs:
                if any(_writes(e) for e in of_instruction(instr)):
                    return False
                if isinstance(instr, (CallMethod, CallRust)):
                    return False
                if isinstance(instr, CallFunction) and not (
                    isinstance(instr.target, str) and self._only_reads(instr.target, depth - 1)
                ):
                    return False
        return True


_READERS: Final = frozenset(
    "memcmp memchr strlen strncmp strcmp memcpy memset memmove malloc calloc free ntohl ntohs htonl"
    " htons isdigit isspace isalpha tolower toupper printf fprintf abort".split()
)
"""Functions of the C library that write no member which they are not given as their target."""


def _is_followed(type_: Type) -> bool:
    """Return whether a member may be a cursor, an end or a length."""
    if isinstance(type_, Integer):
        return type_.size >= 2
    return isinstance(type_, Pointer) and isinstance(type_.inner, (Integer, Pointer, Record))


def _all(function: FunctionIR) -> list[Expr]:
    """Return the expressions of a function."""
    found = [e for _, end in function.blocks for e in of_end(end)]
    for instrs, _ in function.blocks:
        for instr in instrs:
            found += of_instruction(instr)
    return found


def _holds(op: str, left: int, right: Number) -> bool:
    """Return how two numbers compare."""
    if op in ("==", "!="):
        return (left == right) == (op == "==")
    less = left < right if op in ("<", ">=") else left <= right
    return less == (op in ("<", "<="))


def _substitute(e: Expr, given: dict[int, Expr]) -> Expr | None:
    """Return an expression of a function with what a call gives for its parameters; None when it is
    about more than these."""
    if isinstance(e, nodes.Load) and isinstance(e.address, nodes.Local):
        return given.get(e.address.slot)
    if isinstance(e, (nodes.Local, nodes.Temp, nodes.Store, nodes.Step)):
        return None
    operands: list[Expr] = []
    for operand in e.operands():
        part = _substitute(operand, given)
        if part is None:
            return None
        operands.append(part)
    return e.with_operands(operands)
