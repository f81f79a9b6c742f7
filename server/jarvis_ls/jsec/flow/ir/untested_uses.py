"""What a function tests before it uses it, and what it uses untested.

Asked of pointers that a call returns or a member holds: whether a way leads from there to a place
that follows the pointer, past all tests of it. And of numbers that a call returns: whether they
reach an index, or are dropped. Blocks are visited once, in order, so what a later round of a loop
brings is not seen; it is linear in the size of the function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.cfg import targets
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR, RecordIR
from jarvis_ls.jsec.flow.ir.instructions import (
    Branch,
    CallFunction,
    CallMethod,
    Instruction,
    SetTemp,
    Switch,
)
from jarvis_ls.jsec.flow.ir.nodes import Expr, Span
from jarvis_ls.jsec.flow.ir.operands import bare, of_end, of_instruction
from jarvis_ls.jsec.flow.ir.types import Integer, Pointer, Record, Reference

RESULT: Final = "result "
"""Begins the key of a pointer that a function returns; its name follows."""
INDEX: Final = "index "
"""Begins the key of a number that a function returns and that is used as an index."""
DROPPED: Final = "dropped "
"""Begins the key of a number or pointer that a function returns and nothing looks at."""
MEMBER: Final = "member "
"""Begins the key of a pointer in a member, as `record.member`."""
_LARGEST: Final = 5000
"""Instructions of a function that is examined."""
_MOST: Final = 100
"""Values that are followed at once."""
Holder = nodes.Local | nodes.Temp
"""A variable or temporary that holds a value."""
Records = Callable[[str], "RecordIR | None"]
"""Gives the record of a name."""


@dataclass(frozen=True, slots=True)
class Use:
    """What becomes of a value."""

    key: str
    """Where it comes from: see `RESULT`, `INDEX`, `DROPPED`, `MEMBER`."""
    tested: bool
    span: Span
    """Of the place that uses it untested."""
    came: Span
    """Of the call, or of the place itself."""


def uses(function: FunctionIR, records: Records) -> list[Use]:
    """Return what becomes of the results and members that a function uses, one of each value."""
    if function.size > _LARGEST or function.cut:
        return []
    return _Uses(function, records).run()


class _State:
    """What is untested at a point, by holder, and which members were tested or set."""

    def __init__(self, held: dict[Holder, int], known: set[tuple[int, str]]) -> None:
        self.held = held
        """Which value each holds."""
        self.known = known
        """Variable and member."""

    def copy(self) -> _State:
        return _State(dict(self.held), set(self.known))

    def join(self, other: _State) -> None:
        for holder, value in other.held.items():
            mine = self.held.setdefault(holder, value)
            if mine != value:
                del self.held[holder]
        self.known &= other.known


class _Uses:
    """One function."""

    def __init__(self, function: FunctionIR, records: Records) -> None:
        self.function = function
        self.records = records
        self.keys: list[str] = []
        """Of each value that is followed."""
        self.came: list[Span] = []
        self.tested: set[int] = set()
        self.used: dict[int, Span] = {}
        self.members: dict[tuple[int, str], tuple[bool, Span]] = {}
        self.many = False
        """Whether too many members are used to follow them."""
        self.given: dict[int, list[Expr]] = {}
        """What the call that gave a temporary was handed."""
        self.names: dict[tuple[str, object], str] = {}
        self.mentioned: set[int] = set()
        """Temporaries that something looks at."""
        self.called: list[tuple[int, str, Span, int]] = []
        """Temporary, name, place and value of each call."""

    def run(self) -> list[Use]:
        """Follow the blocks in their order; return what was found."""
        blocks = self.function.blocks
        entries: dict[int, _State] = {0: _State({}, set())}
        for index in range(len(blocks)):
            state = entries.pop(index, None)
            if state is None:
                continue
            instrs, end = blocks[index]
            for instr in instrs:
                self._instruction(instr, state)
            for e in of_end(end):
                self._visit(e, state)
            if isinstance(end, (Branch, Switch)):
                for e in of_end(end):
                    self._test(e, state)
            for target in targets(end):
                if target > index:
                    known = entries.get(target)
                    if known is None:
                        entries[target] = state.copy()
                    else:
                        known.join(state)
        found = []
        for value, key in enumerate(self.keys):
            if value in self.used:
                found.append(Use(key, False, self.used[value], self.came[value]))
            elif value in self.tested:
                found.append(Use(key, True, self.came[value], self.came[value]))
        for temp, name, span, value in self.called:
            if temp not in self.mentioned:
                found.append(Use(DROPPED + name, False, span, span))
            elif value in self.tested:
                found.append(Use(DROPPED + name, True, span, span))
        for (_, name), (tested, span) in self.members.items() if not self.many else ():
            found.append(Use(MEMBER + name, tested, span, span))
        return found

    def _instruction(self, instr: Instruction, state: _State) -> None:
        for e in of_instruction(instr):
            self._visit(e, state)
        if isinstance(instr, SetTemp):
            self._hold(nodes.Temp(instr.temp), instr.value, state)
        elif isinstance(instr, (CallFunction, CallMethod)):
            self._call(instr, state)

    def _call(self, call: CallFunction | CallMethod, state: _State) -> None:
        if isinstance(call, CallMethod):
            target: str | Expr = f"{call.owner}::{call.name}"
        else:
            target = call.target
        macro = not isinstance(target, str) or target.startswith(nodes.MACRO)
        for argument in call.arguments:
            value = bare(argument)
            if isinstance(value, nodes.Local):  # it may be set there
                self._forget(value, state)
            elif macro:
                self._settle(value, state)
        if call.arguments:
            self.given[call.temp] = list(call.arguments)
        if macro or not isinstance(target, str) or len(state.held) > _MOST:
            return
        if isinstance(call.result, (Pointer, Integer)):
            self.keys.append((RESULT if isinstance(call.result, Pointer) else INDEX) + target)
            self.came.append(call.span)
            number = len(self.keys) - 1
            state.held[nodes.Temp(call.temp)] = number
            self.called.append((call.temp, target, call.span, number))

    def _forget(self, local: nodes.Local, state: _State) -> None:
        state.held.pop(local, None)
        slot = local.slot
        if any(of == slot for of, _ in state.known):
            state.known = {pair for pair in state.known if pair[0] != slot}

    def _know(self, member: tuple[int, str], state: _State) -> None:
        """Note a member that was tested, set or used; of so many none is followed."""
        self.many = self.many or len(state.known) >= _MOST
        if not self.many:
            state.known.add(member)

    def _hold(self, holder: Holder, value: Expr, state: _State) -> None:
        """Note what a variable or temporary holds from here on."""
        source = bare(value)
        kept: int | None = None
        if isinstance(source, nodes.Temp):
            kept = state.held.get(source)
        elif isinstance(source, (nodes.Load, nodes.Store)) and isinstance(
            source.address, nodes.Local
        ):
            kept = state.held.get(source.address)
        if isinstance(holder, nodes.Local):
            self._forget(holder, state)
        if kept is not None and len(state.held) <= _MOST:
            state.held[holder] = kept

    def _settle(self, value: Expr, state: _State, *, tested: bool = False) -> None:
        """Stop following what an expression holds: it was tested, or may have been."""
        value = bare(value)
        holder: Holder | None = None
        if isinstance(value, nodes.Temp):
            holder = value
        elif isinstance(value, (nodes.Load, nodes.Store, nodes.Step)) and isinstance(
            value.address, nodes.Local
        ):
            holder = value.address
        elif isinstance(value, nodes.Load):
            member = self._member(value.address)
            if member is not None:
                self._know(member, state)
        if holder is None:
            return
        known = state.held.get(holder)
        if known is None:
            return
        if tested:
            self.tested.add(known)
        for other in [other for other, held in state.held.items() if held == known]:
            del state.held[other]

    def _test(self, condition: Expr, state: _State) -> None:
        """Take a condition that decides on a branch as a test of what it is about."""
        waiting = [condition]
        while waiting:
            part = bare(waiting.pop())
            if isinstance(part, nodes.Temp) and part.number in self.given:
                for argument in self.given[part.number]:
                    self._settle(argument, state)
            self._settle(part, state, tested=True)
            if isinstance(part, (nodes.Not, nodes.BitAnd, nodes.Compare, nodes.Else)):
                waiting += part.operands()
            elif isinstance(part, nodes.Binary):
                waiting += [part.left, part.right]

    def _visit(self, e: Expr, state: _State) -> None:
        """Follow an expression in the order of its parts."""
        if isinstance(e, nodes.Temp):
            self.mentioned.add(e.number)
        for part in e.operands():
            if not isinstance(part, nodes.Local):
                self._visit(part, state)
        if isinstance(e, (nodes.Load, nodes.Store, nodes.Step)):
            if not isinstance(e.address, nodes.Local):
                self._follow(e.address, e.span, state)
                if isinstance(e, nodes.Store):
                    member = self._member(e.address)
                    if member is not None:
                        self._know(member, state)
            elif isinstance(e, nodes.Store):
                self._hold(e.address, e.value, state)
        elif isinstance(e, (nodes.Compare, nodes.Not)):
            self._test(e, state)
        elif isinstance(e, nodes.Index):
            index = bare(e.index)
            self._use(index, INDEX, e.span, state)

    def _follow(self, address: Expr, span: Span, state: _State) -> None:
        """Look at the pointer that leads to what is read or written."""
        while isinstance(address, (nodes.Field, nodes.Index, nodes.Decay)):
            address = address.base
        pointer = bare(address)
        self._use(pointer, RESULT, span, state)
        if (
            isinstance(pointer, nodes.Load)
            and isinstance(pointer.type, Pointer)
            and isinstance(pointer.address, nodes.Field)
        ):
            member = self._member(pointer.address)
            if member is not None:
                tested = member in state.known
                before = self.members.get(member)
                if before is None or (before[0] and not tested):
                    self.members[member] = tested, span
                self._know(member, state)

    def _use(self, value: Expr, kind: str, span: Span, state: _State) -> None:
        holder: Holder | None = None
        if isinstance(value, nodes.Temp):
            holder = value
        elif isinstance(value, (nodes.Load, nodes.Store)) and isinstance(
            value.address, nodes.Local
        ):
            holder = value.address
        known = state.held.get(holder) if holder is not None else None
        if known is not None and self.keys[known].startswith(kind):
            self.used.setdefault(known, span)
            self._settle(value, state)

    def _member(self, address: Expr) -> tuple[int, str] | None:
        """Return the variable and the member behind it that an address leads to."""
        if not isinstance(address, nodes.Field):
            return None
        base, offset, type_ = address.base, address.offset, address.type
        if (
            not isinstance(base, nodes.Load)
            or not isinstance(base.type, (Pointer, Reference))
            or not isinstance(base.address, nodes.Local)
        ):
            return None
        around, slot = base.type.inner, base.address.slot
        if isinstance(offset, tuple):
            return slot, f"{offset[0]}.{offset[1]}"
        if around is None or not isinstance(around, Record):
            return None
        key = around.name, (offset, type_)
        name = self.names.get(key)
        if name is None:
            record = self.records(around.name)
            fields = record.fields.items() if record is not None else ()
            name = next((name for name, held in fields if held == (offset, type_)), "")
            self.names[key] = name
        return (slot, f"{around.name}.{name}") if name else None
