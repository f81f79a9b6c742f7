"""Locks: which are held, and which go away while they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from jarvis_ls.jsec.flow.fault import TAKEN
from jarvis_ls.jsec.flow.ir import CALL, EVAL, TEMP, Number, Span
from jarvis_ls.jsec.flow.library.call import Call
from jarvis_ls.jsec.flow.state import State
from jarvis_ls.jsec.flow.values import NOT_NULL, OTHER, ZERO, Val

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.interpret import Analysis

_TAKES: Final = re.compile(r"(.*)(Acquire|acquire|Lock|lock|Take|take|Enter|enter)")
"""Names of functions that may take a lock."""
_GIVES: Final = {"acquire": ("release",), "lock": ("unlock",), "take": ("give", "release"),
          "enter": ("leave", "exit")}  # fmt: skip
_LOCKED: Final = re.compile(r"(?i)lock|mutex|critical_?section")
_GIVING: Final = re.compile(r"(?i)release|unlock|give|leave|exit|destroy|free|close|end|done")
_TRIES: Final = re.compile(r"try|timed", re.I)
"""Names of functions that do not wait for a lock for ever."""
_FAILED: Final = Val(1, 255, OTHER, None, (), NOT_NULL)
_OWN: Final = ("local", "heap")
_SHARED: Final = ("global", "object")
"""Kinds of regions that outlive a function, and locks in them."""


def unseen(an: Analysis, st: State, name: str, values: list[Val], args: Any, span: Span) -> None:
    """A function that is not seen may take or give back the lock it is given: that is told by
    its name, which speaks of a lock, or by that of its counterpart, which is declared beside it."""
    if not args:
        return
    rid = _place(an, st, values[0], args[0])
    if rid is None:
        return
    if _GIVING.search(name):
        _free(st, rid)
        return
    found = _TAKES.fullmatch(name)
    if found is None:
        return
    stem, word = found.groups()
    if _LOCKED.search(stem):  # `...LockAcquire`
        _hold(an, st, rid, span)
        return
    givers = (other if word.islower() else other.capitalize() for other in _GIVES[word.lower()])
    if any(an.program.prototype(stem + giver, an.frame.function.file) for giver in givers):
        _hold(an, st, rid, span)


def _place(an: Analysis, st: State, value: Val, arg: Any) -> int | None:
    """The region that stands for a lock: what is pointed to, or the variable that somebody who is
    not seen put it in."""
    if len(value.ptr) == 1 and an.kind(value.ptr[0][0]) in ("local", "heap"):
        return value.ptr[0][0]
    cell = an.cell(st, arg)
    reg = st.regs.get(cell[0]) if cell is not None else None
    return cell[0] if cell is not None and reg is not None and reg.escaped else None


def _lock(an: Analysis, st: State, call: Call, index: int, *, fails: bool = False) -> Any:
    value = call.arg(index)
    if value is None or len(value.ptr) != 1:
        return None
    rid, least, greatest = value.ptr[0][:3]
    kind = an.kind(rid)
    if kind not in _OWN and (kind not in _SHARED or least != greatest):
        return None
    if kind in _SHARED:  # where nobody looks whether it was taken, one way is enough
        fails = fails and _is_looked_at(an, call)
    failed = st.copy() if fails else None
    if not _TRIES.search(call.name):
        an.taken_under(st, rid, call.span)
    _hold(an, st, rid, call.span, least)
    call.value = ZERO
    return None if failed is None else (failed, _FAILED)


def _is_looked_at(an: Analysis, call: Call) -> bool:
    """Whether anything is done with the result of a call."""
    function = an.frame.function
    key = function.file, function.span
    looked_at = an.looked_at.get(key)
    if looked_at is None:
        temps: set[int] = set()
        calls: list[Any] = []
        for instrs, end in function.blocks:
            _temps_in(end, temps)
            for line in instrs:
                if line[0] != EVAL or line[1][0] != TEMP:  # else the result is dropped
                    _temps_in(line, temps)
                if line[0] == CALL:
                    calls.append(line)
        looked_at = an.looked_at[key] = {line[5] for line in calls if line[1] in temps}
    return call.span in looked_at


def _temps_in(part: Any, temps: set[int]) -> None:
    """Add the temporaries that a part of a function reads."""
    if not isinstance(part, tuple):
        return
    if len(part) == 2 and part[0] == TEMP and isinstance(part[1], int):
        temps.add(part[1])
    for one in part:
        _temps_in(one, temps)


def _try(an: Analysis, st: State, call: Call, index: int) -> Any:
    return _lock(an, st, call, index, fails=True)


def _wait(an: Analysis, st: State, call: Call, index: int) -> Any:
    """Windows: waiting for a mutex takes it; for anything else it does not."""
    value = call.arg(index)
    regs = [st.regs.get(target[0]) for target in value.ptr] if value is not None else []
    if len(regs) != 1 or regs[0] is None or regs[0].record != "mutex":
        return None
    return _lock(an, st, call, index, fails=True)


def _unlock(an: Analysis, st: State, call: Call, index: int) -> None:
    value = call.arg(index)
    if value is not None:
        _give_back(an, st, value)


def _give_back(an: Analysis, st: State, value: Val) -> None:
    for target in value.ptr:
        if an.kind(target[0]) in _SHARED:
            for frame in an.frame.around():
                key = target[0], target[1], frame
                (an.gave_back if key in an.took else an.found_held).add(key)
        _free(st, target[0], target[1])


def method(an: Analysis, st: State, where: Val, owner: str, name: str, span: Span) -> None:
    """What a method of a mutex of C++ does with it."""
    if not owner.endswith("mutex") or "recursive" in owner or len(where.ptr) != 1:
        return
    rid, least, greatest = where.ptr[0][:3]
    if name in ("unlock", "unlock_shared"):
        _give_back(an, st, where)
    elif name in ("lock", "lock_shared") and an.kind(rid) in _SHARED and least == greatest:
        an.taken_under(st, rid, span)
        _hold(an, st, rid, span, least)


def _destroy(an: Analysis, st: State, call: Call, index: int) -> None:
    """A lock that is held when it ends was never given back: told where it was taken, by the
    function that does both."""
    value = call.arg(index)
    for target in value.ptr if value is not None else ():
        reg = st.regs.get(target[0])
        if reg is None or reg.locked is None:
            continue
        around = an.frame.around()
        taking, at = reg.locked[4], reg.locked[1]
        while taking not in around:
            taking, at = taking.caller, taking.site
        an.fault(st, "lock-kept", at, certain=True, cause=reg.locked[:4], function=taking.function)
        _free(st, target[0])


def _mutex(an: Analysis, st: State, call: Call) -> None:
    """The handle that was just made is that of a mutex."""
    for target in call.value.ptr if call.value is not None else ():
        st.regs[target[0]] = an.reg(st, target[0]).but(record="mutex")


def _hold(an: Analysis, st: State, rid: int, span: Span, offset: Number = 0) -> None:
    function = an.frame.function
    an.locked = True
    if an.kind(rid) in _SHARED:
        an.took.update((rid, offset, frame) for frame in an.frame.around())
    taken = (function.file, span, TAKEN, (), an.frame, offset)
    st.regs[rid] = an.reg(st, rid).but(locked=taken)


def _free(st: State, rid: int, offset: Number | None = None) -> None:
    """No lock in a region is held; with `offset` not the one that lies there."""
    reg = st.regs.get(rid)
    if reg is not None and reg.locked is not None and offset in (None, reg.locked[5]):
        st.regs[rid] = reg.but(locked=None)


EFFECTS: Final[dict[str, Callable[..., Any]]] = {
    "lock": _lock, "try lock": _try, "wait": _wait, "unlock": _unlock,
    "mutex": _mutex, "destroy": _destroy,
}  # fmt: skip
