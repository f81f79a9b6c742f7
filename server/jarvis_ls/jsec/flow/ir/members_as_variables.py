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
from jarvis_ls.jsec.flow.ir.nodes import Expr, Type
from jarvis_ls.jsec.flow.ir.operands import INNER, of_end, of_instruction
from jarvis_ls.jsec.flow.ir.rooms import member_of

_SMALL: Final = 40
"""Instructions of a function that is put in, or known not to write."""
_DEEPEST: Final = 3
"""Calls inside of calls that are examined for what they write."""
_MOST: Final = 24
"""Members of a function that become variables."""
Definition = Callable[[str], "FunctionIR | None"]
"""Gives the function of a name."""
Record = Callable[[str], "RecordIR | None"]
"""Gives the record of a name."""
WithMembers = tuple[FunctionIR, dict[int, tuple[int, str]]]
Answer = tuple[Expr, int, int]
"""A condition, and what stands for it where it holds and where not."""
_Path = tuple[int, tuple[object, ...]]
"""A variable, and the offsets of the members that lead on from what it points to or is."""


def with_members(
    function: FunctionIR, definition: Definition, record: Record
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
            while e[0] in (nodes.NOT, nodes.CAST):
                e = e[1]
            if e[0] == nodes.TEMP or (e[0] == nodes.CMP and e[3][0] != nodes.NULL):
                tested = True
                break
    return tested and any(_is_element(e) for e in _all(function))


def _is_element(e: Expr) -> bool:
    """Return whether some part of an expression is an element behind a member."""
    kind = e[0]
    if kind in (nodes.LOAD, nodes.STORE):
        place = e[1]
        while place[0] == nodes.FIELD:
            place = place[1]
        if place[0] == nodes.INDEX:
            place = place[1]
        while place[0] in (nodes.CAST, nodes.DECAY):
            place = place[1]
        if place[0] in (nodes.LOAD, nodes.STEP) and place[1][0] in (nodes.FIELD, nodes.TEMP):
            return True
    return any(e[at] is not None and _is_element(e[at]) for at in INNER[kind])


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
    while value is not None and value[0] in (nodes.CAST, nodes.NOT):
        value = value[1]
    return value is not None and value[0] == nodes.CMP


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
            while value[0] == nodes.CAST:
                value = value[1]
            return int(value[1]) if value[0] == nodes.CONST else None
        if not isinstance(end, Jump):
            return None
        at = end.block
    return None


def _writes(e: Expr) -> bool:
    """Return whether an expression writes anything but a variable, or a constant."""
    if e[0] in (nodes.STORE, nodes.STEP) and e[1][0] != nodes.LOCAL:
        return bool(e[0] == nodes.STEP or e[2][0] != nodes.CONST)
    return any(e[at] is not None and _writes(e[at]) for at in INNER[e[0]])


class _Change:
    """The change of one function."""

    def __init__(self, function: FunctionIR, definition: Definition, record: Record) -> None:
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
                if isinstance(instr, SetTemp) and instr.value[0] == nodes.FIELD:
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
                if isinstance(instr, Eval) and instr.value[0] == nodes.STORE:
                    self._keep(instr.value)
                kept.append(self._instruction(instr))
                if isinstance(instr, (CallFunction, CallMethod, CallRust)):
                    kept += self._forgetting(instr)
            blocks.append((tuple(kept), self._end(end)))
        slots = (*self.function.slots, *self.new)
        return replace(self.function, blocks=tuple(blocks), slots=slots)

    def _keep(self, store: Expr) -> None:
        """Note which result of a call that is put in a variable holds."""
        _, address, value, *_ = store
        while value[0] == nodes.CAST:
            value = value[1]
        if address[0] == nodes.LOCAL:
            self.results[address[1]] = value[1] if value[0] == nodes.TEMP else -1

    def _keeping_variables(self) -> set[int]:
        """Return the variables that keep their value: they are given one at most once, as
        parameters never, and their address is not taken."""
        writes: dict[int, int] = dict.fromkeys(self.function.params, 1)
        taken: set[int] = set()
        waiting = _all(self.function)
        while waiting:
            part = waiting.pop()
            accessed = part[0] in (nodes.LOAD, nodes.STORE, nodes.STEP)
            inner = part[1] if accessed else None
            while inner is not None and inner[0] == nodes.FIELD:
                inner = inner[1]
            for at in INNER[part[0]]:
                if accessed and at == 1:
                    if inner is not None and inner[0] != nodes.LOCAL:
                        waiting.append(inner)
                elif part[at] is not None:
                    waiting.append(part[at])
            if part[0] == nodes.LOCAL:
                taken.add(part[1])
            elif accessed and part[0] != nodes.LOAD and part[1][0] == nodes.LOCAL:
                writes[part[1][1]] = writes.get(part[1][1], 0) + 1
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
                instr.value[2]
                for instr in instrs
                if isinstance(instr, Eval) and instr.value[0] == nodes.STORE
            ]
        if not any(self._has_member(e) for e in compared):
            return
        waiting = [*_all(self.function), *put_in]
        addresses = {*self.addresses.values()}
        named: dict[object, int] = {}
        mixed: set[object] = set()
        while waiting:
            part = waiting.pop()
            accessed = part[0] in (nodes.LOAD, nodes.STORE, nodes.STEP)
            address = self._address(part[1]) if accessed else part
            if accessed and address[0] == nodes.FIELD:
                path, (_, inner, last, type_) = self._path(address), address
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
                waiting.append(inner)
                waiting += [part[2]] if part[0] == nodes.STORE else []
                continue
            if part[0] == nodes.FIELD and _is_followed(part[3]) and part not in addresses:
                mixed.add(part[2])  # its address is taken
            waiting += [part[at] for at in INNER[part[0]] if part[at] is not None]
        for path in [path for path in self.slots if path[1][-1] in mixed]:
            del self.slots[path]  # two objects of a kind may be one

    def _address(self, e: Expr) -> Expr:
        return self.addresses.get(e[1], e) if e[0] == nodes.TEMP else e

    def _has_member(self, e: Expr) -> bool:
        if e[0] == nodes.LOAD and e[1][0] == nodes.FIELD and _is_followed(e[1][3]):
            return True
        return any(e[at] is not None and self._has_member(e[at]) for at in INNER[e[0]])

    def _path(self, address: Expr) -> _Path | None:
        offsets: list[object] = []
        while address[0] == nodes.FIELD:
            offsets.append(address[2])
            address = address[1]
        if address[0] == nodes.LOAD and address[1][0] == nodes.LOCAL:
            slot = address[1][1]
        elif address[0] == nodes.LOCAL:
            slot = address[1]
        else:
            return None
        return (slot, tuple(reversed(offsets))) if slot in self.fixed else None

    def _name(self, path: _Path) -> str:
        """Return how a member is written."""
        base, type_ = self.function.slots[path[0]]
        name, around = base, type_
        for offset in path[1]:
            name += "->" if around[0] in ("p", "&") else "."
            around = around[1] if around[0] in ("p", "&") else around
            record = self.record(around[1]) if around[0] == "r" else None
            if isinstance(offset, tuple):
                member: str = offset[1]
            else:
                fields = record.fields.items() if record is not None else ()
                member = next((name for name, held in fields if held[0] == offset), "")
            if not member:
                return ""
            name += member
            around = record.fields[member][1] if record and member in record.fields else ("?",)
        return name

    def _instruction(self, instr: Instruction) -> Instruction:
        if isinstance(instr, CallFunction):
            if instr.temp in self.conditions:
                return SetTemp(instr.temp, (nodes.UNKNOWN, instr.result))
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
            if instr.temp in self.addresses and self._path(instr.value) in self.slots:
                return SetTemp(instr.temp, (nodes.UNKNOWN, ("p", instr.value[3])))
            return SetTemp(instr.temp, self._expression(instr.value))
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
        if e[0] in (nodes.LOAD, nodes.STORE, nodes.STEP):
            address = self._address(e[1])
            path = self._path(address) if address[0] == nodes.FIELD else None
            slot = self.slots.get(path) if path is not None else None
            if slot is not None:
                rest = list(e[2:])
                if e[0] == nodes.STORE:
                    rest[0] = self._expression(e[2])
                return (e[0], (nodes.LOCAL, slot), *rest)
        inner = INNER[e[0]]
        if not inner:
            return e
        return tuple(
            self._expression(part) if at in inner and part is not None else part
            for at, part in enumerate(e)
        )

    def _tested_condition(self, condition: Expr) -> Expr:
        """Return a condition on what a function returns that is put in as the condition that it
        tests."""
        if condition[0] == nodes.NOT:
            inner = self._tested_condition(condition[1])
            return condition if inner is condition[1] else (nodes.NOT, inner)
        tested, op, other = condition, "!=", 0
        if condition[0] == nodes.CMP and condition[3][0] == nodes.CONST:
            tested, op, other = condition[2], condition[1], condition[3][1]
        temp = -1
        if tested[0] == nodes.TEMP:
            temp = tested[1]
        elif tested[0] in (nodes.LOAD, nodes.STORE) and tested[1][0] == nodes.LOCAL:
            if tested[0] == nodes.STORE:
                self._keep(tested)
            temp = self.results.get(tested[1][1], -1)
        answer = self.conditions.get(temp)
        if answer is None:
            return condition
        yes, no = _holds(op, answer[1], other), _holds(op, answer[2], other)
        if yes == no:
            return condition
        return answer[0] if yes else (nodes.NOT, answer[0])

    def _forgetting(self, call: CallFunction | CallMethod | CallRust) -> list[Instruction]:
        """Return what gives members an unknown value that a call may write."""
        if call.temp in self.conditions:
            return []
        target = call.target if isinstance(call, CallFunction) else ""
        if isinstance(target, str) and target and self._only_reads(target, _DEEPEST):
            return []
        return [
            Eval((nodes.STORE, (nodes.LOCAL, slot), (nodes.UNKNOWN, type_), type_, call.span))
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
    if type_[0] == "i":
        return bool(type_[1] >= 2)
    return bool(type_[0] == "p" and isinstance(type_[1], tuple) and type_[1][0] in ("i", "p", "r"))


def _all(function: FunctionIR) -> list[Expr]:
    """Return the expressions of a function."""
    found = [e for _, end in function.blocks for e in of_end(end)]
    for instrs, _ in function.blocks:
        for instr in instrs:
            found += of_instruction(instr)
    return found


def _holds(op: str, left: int, right: int) -> bool:
    """Return how two numbers compare."""
    if op in ("==", "!="):
        return (left == right) == (op == "==")
    less = left < right if op in ("<", ">=") else left <= right
    return less == (op in ("<", "<="))


def _substitute(e: Expr, given: dict[int, Expr]) -> Expr | None:
    """Return an expression of a function with what a call gives for its parameters; None when it is
    about more than these."""
    if e[0] == nodes.LOAD and e[1][0] == nodes.LOCAL:
        return given.get(e[1][1])
    if e[0] in (nodes.LOCAL, nodes.TEMP, nodes.STORE, nodes.STEP):
        return None
    parts = list(e)
    for at in INNER[e[0]]:
        if e[at] is not None:
            part = _substitute(e[at], given)
            if part is None:
                return None
            parts[at] = part
    return tuple(parts)
