"""Locks: which are held, and which go away while they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState
from jarvis_ls.jsec.flow.domain.abstract_value import NOT_NULL, OTHER, ZERO, AbstractValue
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.fault import TAKEN
from jarvis_ls.jsec.flow.ir.instructions import CallFunction, Eval
from jarvis_ls.jsec.flow.ir.nodes import Expr, Number, Span, Temp
from jarvis_ls.jsec.flow.ir.operands import of_end, of_instruction
from jarvis_ls.jsec.flow.models.call import Call

_TAKES: Final = re.compile(r"(.*)(Acquire|acquire|Lock|lock|Take|take|Enter|enter)")
"""Names of functions that may take a lock."""
_GIVES: Final = {
    "acquire": ("release",),
    "lock": ("unlock",),
    "take": ("give", "release"),
    "enter": ("leave", "exit"),
}
_LOCKED: Final = re.compile(r"(?i)lock|mutex|critical_?section")
_GIVING: Final = re.compile(r"(?i)release|unlock|give|leave|exit|destroy|free|close|end|done")
_TRIES: Final = re.compile(r"try|timed", re.I)
"""Names of functions that do not wait for a lock for ever."""
_FAILED: Final = AbstractValue(1, 255, OTHER, None, (), NOT_NULL)
_OWN: Final = ("local", "heap")
_SHARED: Final = ("global", "object")
"""Kinds of regions that outlive a function, and locks in them."""


def unseen(
    engine: Engine,
    state: AbstractState,
    name: str,
    values: list[AbstractValue],
    args: Sequence[Expr],
    span: Span,
) -> None:
    """Take or return the lock that an unknown function is given, by its name, which speaks of a
    lock, or by that of its counterpart, which is declared beside it."""
    if not args:
        return
    rid = _place(engine, state, values[0], args[0])
    if rid is None:
        return
    if _GIVING.search(name):
        _free(state, rid)
        return
    found = _TAKES.fullmatch(name)
    if found is None:
        return
    stem, word = found.groups()
    if _LOCKED.search(stem):  # `...LockAcquire`
        _hold(engine, state, rid, span)
        return
    givers = (other if word.islower() else other.capitalize() for other in _GIVES[word.lower()])
    if any(engine.program.prototype(stem + giver, engine.frame.function.file) for giver in givers):
        _hold(engine, state, rid, span)


def _place(engine: Engine, state: AbstractState, value: AbstractValue, arg: Any) -> int | None:
    """Return the region that represents a lock: what is pointed to, or the variable that somebody
    who is not seen put it in.
    """
    if len(value.targets) == 1 and engine.kind(value.targets[0][0]) in ("local", "heap"):
        return value.targets[0][0]
    cell = engine.cell(state, arg)
    reg = state.region_states.get(cell[0]) if cell is not None else None
    return cell[0] if cell is not None and reg is not None and reg.escaped else None


def _lock(
    engine: Engine, state: AbstractState, call: Call, index: int, *, fails: bool = False
) -> Any:
    value = call.arg(index)
    if value is None or len(value.targets) != 1:
        return None
    rid, least, greatest = value.targets[0][:3]
    kind = engine.kind(rid)
    if kind not in _OWN and (kind not in _SHARED or least != greatest):
        return None
    if kind in _SHARED:  # where no one looks whether it was taken, one way is enough
        fails = fails and _is_looked_at(engine, call)
    failed = state.copy() if fails else None
    if not _TRIES.search(call.name):
        engine.taken_under(state, rid, call.span)
    _hold(engine, state, rid, call.span, least)
    call.value = ZERO
    return None if failed is None else (failed, _FAILED)


def _is_looked_at(engine: Engine, call: Call) -> bool:
    """Return whether anything is done with the result of a call."""
    function = engine.frame.function
    key = function.file, function.span
    looked_at = engine.looked_at.get(key)
    if looked_at is None:
        temps: set[int] = set()
        calls: list[CallFunction] = []
        for instrs, end in function.blocks:
            for part in of_end(end):
                _temps_in(part, temps)
            for instr in instrs:
                if not isinstance(instr, Eval) or not isinstance(
                    instr.value, Temp
                ):  # the result is dropped
                    for part in of_instruction(instr):
                        _temps_in(part, temps)
                if isinstance(instr, CallFunction):
                    calls.append(instr)
        looked_at = engine.looked_at[key] = {made.span for made in calls if made.temp in temps}
    return call.span in looked_at


def _temps_in(e: Expr, temps: set[int]) -> None:
    """Add the temporaries that an expression reads."""
    if isinstance(e, Temp):
        temps.add(e.number)
    for operand in e.operands():
        _temps_in(operand, temps)


def _try(engine: Engine, state: AbstractState, call: Call, index: int) -> Any:
    return _lock(engine, state, call, index, fails=True)


def _wait(engine: Engine, state: AbstractState, call: Call, index: int) -> Any:
    """Windows: waiting for a mutex takes it; for anything else it does not."""
    value = call.arg(index)
    regs = (
        [state.region_states.get(target[0]) for target in value.targets]
        if value is not None
        else []
    )
    if len(regs) != 1 or regs[0] is None or regs[0].record != "mutex":
        return None
    return _lock(engine, state, call, index, fails=True)


def _unlock(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is not None:
        _give_back(engine, state, value)


def _give_back(engine: Engine, state: AbstractState, value: AbstractValue) -> None:
    for target in value.targets:
        if engine.kind(target[0]) in _SHARED:
            for frame in engine.frame.around():
                key = target[0], target[1], frame
                (engine.gave_back if key in engine.took else engine.found_held).add(key)
        _free(state, target[0], target[1])


def method(
    engine: Engine, state: AbstractState, where: AbstractValue, owner: str, name: str, span: Span
) -> None:
    """Apply a method of a mutex of C++."""
    if not owner.endswith("mutex") or "recursive" in owner or len(where.targets) != 1:
        return
    rid, least, greatest = where.targets[0][:3]
    if name in ("unlock", "unlock_shared"):
        _give_back(engine, state, where)
    elif name in ("lock", "lock_shared") and engine.kind(rid) in _SHARED and least == greatest:
        engine.taken_under(state, rid, span)
        _hold(engine, state, rid, span, least)


def _destroy(engine: Engine, state: AbstractState, call: Call, index: int) -> None:
    """Note that a lock that is held when it ends was never returned: where it was taken, in the
    function that does both."""
    value = call.arg(index)
    for target in value.targets if value is not None else ():
        reg = state.region_states.get(target[0])
        if reg is None or reg.locked is None:
            continue
        around = engine.frame.around()
        taking, at = reg.locked[4], reg.locked[1]
        while taking not in around:
            taking, at = taking.caller, taking.site
        engine.fault_in(
            taking.function, state, "lock-kept", at, certain=True, causes=(reg.locked[:4],)
        )
        _free(state, target[0])


def _mutex(engine: Engine, state: AbstractState, call: Call) -> None:
    """Make the handle that was just returned that of a mutex."""
    for target in call.value.targets if call.value is not None else ():
        state.region_states[target[0]] = engine.region_state(state, target[0]).but(record="mutex")


def _hold(engine: Engine, state: AbstractState, rid: int, span: Span, offset: Number = 0) -> None:
    function = engine.frame.function
    engine.locked = True
    if engine.kind(rid) in _SHARED:
        engine.took.update((rid, offset, frame) for frame in engine.frame.around())
    taken = (function.file, span, TAKEN, (), engine.frame, offset)
    state.region_states[rid] = engine.region_state(state, rid).but(locked=taken)


def _free(state: AbstractState, rid: int, offset: Number | None = None) -> None:
    """No lock in a region is held; with `offset` not the one that is there."""
    reg = state.region_states.get(rid)
    if reg is not None and reg.locked is not None and offset in (None, reg.locked[5]):
        state.region_states[rid] = reg.but(locked=None)


EFFECTS: Final[dict[str, Callable[..., Any]]] = {
    "lock": _lock,
    "try lock": _try,
    "wait": _wait,
    "unlock": _unlock,
    "mutex": _mutex,
    "destroy": _destroy,
}
