"""Who owns memory and other resources: allocation, release, loss."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.jsec.flow.checks import arithmetic
from jarvis_ls.jsec.flow.domain.abstract_state import AbstractState, Region
from jarvis_ls.jsec.flow.domain.abstract_value import (
    ARITH,
    AS_REGION,
    MAYBE_NULL,
    NOT_NULL,
    NULL,
    OTHER,
    TIGHT,
    UNSURE,
    AbstractValue,
    is_decoded,
)
from jarvis_ls.jsec.flow.domain.engine import Engine
from jarvis_ls.jsec.flow.domain.fault import CLOSED, RELEASED
from jarvis_ls.jsec.flow.domain.memory_regions import Frame
from jarvis_ls.jsec.flow.domain.region_state import (
    ENDLESS,
    FREED,
    LIVE,
    MAYBE_FREED,
    UNINITIALISED,
    ZEROED,
    RegionState,
)
from jarvis_ls.jsec.flow.ir.c_types import ANY, UNIT
from jarvis_ls.jsec.flow.ir.declarations import FunctionIR
from jarvis_ls.jsec.flow.ir.instructions import CallFunction, Eval, Jump, Return, SetTemp
from jarvis_ls.jsec.flow.ir.nodes import Number, Span
from jarvis_ls.jsec.flow.ir.types import Array, Container, Float, Integer, Record, Type, integer

_MEMORY: Final = frozenset(
    "malloc new new[] alloca kmalloc HeapAlloc LocalAlloc GlobalAlloc CoTaskMemAlloc "
    "OPENSSL_malloc sqlite3_malloc g_aligned_alloc g_slice_alloc".split()
)
_CLOSED: Final = frozenset({"fopen", "popen", "opendir", "open"})
"""Families of handles: their release is a close."""
_OPENED: Final = "Opened by {name}."
_ALLOCATED: Final = "Memory is allocated by {name}."
_ALLOCATED_BYTES: Final = "{name} allocates {bytes} bytes."
_LARGE: Final = 1 << 20
_BLOCKS: Final = 20
"""Blocks that one place allocates which are distinguished."""
_RELEASING: Final = re.compile(
    r"free|close|destroy|release|dispose|delete|unref|drop", re.IGNORECASE
)
"""Who has such a name and leaves something knows why."""
_LARGEST: Final = 2**62
"""What sizes are set to that overflowed is more: no such block can be had."""
_EXCESS: Final = 10_000
_MODEST: Final = 1 << 17
"""Bytes that most programs can spare each time: a length of 16 bits is limit enough."""


@dataclass(frozen=True, slots=True)
class Allocation:
    """A block that is allocated, or another resource that is opened."""

    family: str
    """What allocates it, which tells what releases it."""
    span: Span
    sizes: list[AbstractValue]
    """Their product times `size` is how many bytes it has."""
    size: int = 1
    """0 for what has no size."""
    fails: bool = False
    """Whether null may come instead."""
    fill: int = UNINITIALISED
    type: Type = ANY
    by: str = ""
    """Function that opens it."""
    called: str = ""
    """Function that allocates it; empty for the one its family is named after."""


def allocate(engine: Engine, state: AbstractState, block: Allocation) -> AbstractValue:
    """Return a pointer to a fresh region."""
    family, span, sizes, size = block.family, block.span, block.sizes, block.size
    fill, type_, by = block.fill, block.type, block.by
    lo: Number = size or 0
    hi: Number = size or ENDLESS
    flags, known = TIGHT if size else 0, True
    for number in sizes:
        size_checks(engine, state, number, size, family, span)
        lo, hi = lo * max(number.low, 0), hi * max(number.high, 0)
        if not number.flags & TIGHT or number.flags & UNSURE:
            flags, known = 0, False
    engine.allocated = True
    function = engine.frame.function
    kind = "alloca" if family == "alloca" else "heap"
    place = Region(kind, "", type_, 0, fill, span, function.file)
    rid = _block(engine, state, ("heap", engine.frame.base, span, family), place)
    reg = RegionState()
    reg.low, reg.high = (lo, hi) if known or hi < ENDLESS else (lo, ENDLESS)
    reg.flags = flags
    sym = sizes[0].symbol if len(sizes) == 1 == size else None
    if sym is not None and sym[0] == "len" and sym[3] == 1:
        reg.extent = sym
    reg.family = "" if family == "alloca" else family
    reg.fill = fill
    reg.nullness = MAYBE_NULL if block.fails else NOT_NULL
    named: tuple[tuple[str, str], ...]
    caller = by or block.called
    named = (("name", f"{caller}()" if caller else _function_of_family(family)),)
    exact = not by and known and 0 < lo == hi < ENDLESS and lo % UNIT != 0
    if exact:
        named = (*named, ("bytes", str(int(lo))))
    message = _OPENED if by else _ALLOCATED_BYTES if exact else _ALLOCATED
    reg.site = (function.file, span, message, named, state.trail)
    if fill == ZEROED:
        reg.min_length, reg.max_length, reg.text = 0, 0, b""
    if isinstance(type_, Record):
        reg.record = type_.name
    if state.memory.get(rid):  # the place was passed before: what that block led to is out of sight
        for other in _led_to(
            state, [t[0] for cell in state.memory[rid].values() for t in cell.targets]
        ):
            held = state.region_states.get(other)
            if held is not None and held.family:
                state.region_states[other] = held.but(escaped=True)
    state.region_states[rid] = reg
    state.memory[rid] = {}
    null = AS_REGION if block.fails else NOT_NULL
    return AbstractValue(0, 0, TIGHT, None, ((rid, 0, 0, TIGHT, None),), null)


def _block(engine: Engine, state: AbstractState, key: tuple[Any, ...], place: Region) -> int:
    """Return the region of what is allocated at a place: another one in each round of a loop in
    which everything is known, when what was allocated there before is in an array or container.
    """
    rid = engine.region(key, place)
    if not engine.exact or rid not in state.region_states:
        return rid
    kept = {
        target[0]
        for holder, cells in state.memory.items()
        if _holds_many(engine.regions[holder]) and holder != rid
        for cell in cells.values()
        for target in cell.targets
    }
    for number in range(1, _BLOCKS):
        reg = state.region_states.get(rid)
        if rid not in kept or reg is None or reg.status != LIVE:
            break
        rid = engine.region((*key, number), place)
    return rid


def _holds_many(place: Region | None) -> bool:
    return place is not None and (
        isinstance(place.type, (Array, Container)) or place.kind == "heap"
    )


def _function_of_family(family: str) -> str:
    return {"fopen": "fopen()", "open": "open()", "malloc": "malloc()"}.get(family, family)


def size_checks(
    engine: Engine, state: AbstractState, number: AbstractValue, size: int, family: str, span: Span
) -> None:
    """Check the size of an allocation."""
    if number.init or number.targets:
        return
    if number.flags & ARITH and not number.flags & TIGHT:
        engine.note_reached(state, "size-reached", span, source=number.taint)
    sym = number.symbol
    if (
        sym is not None
        and sym[0] == "sizeof"
        and number.low == number.high == 8
        and family in _MEMORY
    ):
        engine.fault(state, "sizeof-pointer", sym[1], certain=True)
    if sym is not None and sym[0] == "over":
        engine.fault(state, "overflow-to-allocation", span, certain=False, source=number.taint)
    arithmetic.wrapped_size(engine, state, number)
    signed_size(engine, state, number, span)
    if number.flags & ARITH and number.low == number.high and number.low * max(size, 1) >= 2**32:
        engine.fault(state, "overflow-to-allocation", span, certain=False)
    if size > 1 and number.taint is not None and number.high * size > 2**64:
        engine.fault(state, "overflow-to-allocation", span, certain=False, source=number.taint)
    decoded = number.taint is not None and is_decoded(number.taint)
    if number.taint is not None and not decoded and number.high * max(size, 1) > _EXCESS:
        modest = number.high * max(size, 1) <= _MODEST
        engine.fault(
            state,
            "excessive-allocation",
            span,
            certain=False,
            source=number.taint,
            doubtful=modest,
            most=str(int(number.high)),
        )
    elif (
        number.low * max(size, 1) > 2**31
        and number.low == number.high < _LARGEST
        and number.flags & TIGHT
    ):
        engine.fault(state, "excessive-allocation", span, certain=True, most=str(int(number.low)))


def signed_size(engine: Engine, state: AbstractState, number: AbstractValue, span: Span) -> None:
    """Check a number of bytes that is negative before it becomes unsigned."""
    sym = number.symbol
    from_: Any = None
    value = number
    if sym is not None and sym[0] == "negative":
        from_, value = sym[1], sym[2]
    elif number.low < 0:
        from_ = integer(4, True)
    if from_ is None or value.low >= 0:
        return
    if value.taint is None and not (value.flags & TIGHT and not value.flags & UNSURE):
        return
    kind = "sign-extension" if _narrow(engine, value, from_) else "signed-to-unsigned"
    engine.fault(
        state, kind, span, certain=value.high < 0, source=value.taint, low=str(int(value.low))
    )


def _narrow(engine: Engine, value: AbstractValue, from_: Integer | Float) -> bool:
    return from_.size < 4 or (value.low >= -(2**15) and value.taint is not None)


def release(
    engine: Engine, state: AbstractState, value: AbstractValue, family: str, span: Span
) -> None:
    """Release memory or another resource by a function of `family`."""
    if value.nullness == NULL and not value.targets:
        return
    function = engine.frame.function
    step = (function.file, span, CLOSED if family in _CLOSED else RELEASED, (), state.trail)
    sure = len(value.targets) == 1 and not value.flags & (OTHER | UNSURE)
    for rid, lo, hi, _, _ in value.targets:
        place = engine.regions[rid]
        if place is None:
            continue
        reg = engine.region_state(state, rid)
        if reg.nullness >= 2:
            continue
        if not sure:
            if reg.family:
                engine.released.add(reg.site[:2])
            state.region_states[rid] = reg.but(status=MAYBE_FREED, freed=step, nullness=0)
            continue
        if place.kind in ("local", "global", "alloca", "string", "function") and family in _MEMORY:
            if sure:
                engine.fault(
                    state, "free-non-heap", span, certain=sure, name=place.name, where=place
                )
            continue
        if reg.family and reg.family != family and not reg.escaped:
            kind = "mismatched-free" if family in _MEMORY else "wrong-close"
            engine.fault(
                state,
                kind,
                span,
                certain=True,
                causes=(reg.site,),
                allocator=_allocator(reg),
                release=releases(family),
            )
        elif reg.owner is not None and not reg.escaped:
            engine.fault(state, "double-free", span, certain=sure, causes=(reg.site, reg.owner))
        elif reg.status == FREED and not reg.escaped:
            kind = "double-free" if family in _MEMORY else "double-close"
            engine.fault(
                state,
                kind,
                span,
                certain=sure,
                causes=(reg.site, reg.freed),
                doubtful=came_round(reg, span),
            )
        elif (lo > 0 or hi > 0) and family in _MEMORY and place.kind == "heap":
            # an offset that is a range comes from a number that memory kept, and may be right
            engine.fault(
                state,
                "free-not-start",
                span,
                certain=lo > 0,
                causes=(reg.site,),
                doubtful=lo != hi,
            )
        elif lo > 0 and family in _MEMORY and place.kind == "object":
            engine.fault(state, "free-not-start", span, certain=False, doubtful=True)
        if reg.family:
            engine.released.add(reg.site[:2])
        state.region_states[rid] = reg.but(status=FREED, freed=step, nullness=0)


def note_release(engine: Engine, state: AbstractState, values: list[AbstractValue]) -> None:
    """Note that a function which releases, by its name, is given pointers, or their places."""
    for target in (target for value in values for target in value.targets):
        behind = [t for cell in state.memory.get(target[0], {}).values() for t in cell.targets]
        for rid in (target[0], *(t[0] for t in behind)):
            reg = state.region_states.get(rid)
            if reg is not None and reg.family:
                engine.released.add(reg.site[:2])


def came_round(reg: RegionState, span: Span) -> bool:
    """Return whether something whose allocation is not seen was released by a later statement of a
    loop: what the loop takes out of a list or container may well be another each time.
    """
    return not reg.family and reg.freed is not None and reg.freed[1][0] >= span[0]


def check_arguments(
    engine: Engine, state: AbstractState, values: list[AbstractValue], const: Any, span: Span
) -> None:
    """Check that no pointer given to a function that reads there leads to what was released."""
    if not engine.allocated:
        return
    for value, reads in zip(values, const, strict=False):
        for target in value.targets if reads else ():
            reg = state.region_states.get(target[0])
            if (
                reg is not None
                and reg.status == FREED
                and not reg.escaped
                and (reg.family in _MEMORY)
            ):
                engine.fault(
                    state,
                    "use-after-free",
                    span,
                    certain=True,
                    causes=(reg.site, reg.freed),
                    allocator=reg.family,
                )
                state.region_states[target[0]] = reg.but(escaped=True, status=LIVE)


def return_to_callers(engine: Engine, state: AbstractState, frame: Frame) -> None:
    """Note at the end of a function that what its callers gave it was in its hands."""
    if frame.caller is None or not engine.allocated:
        return
    function = frame.function
    first = 1 if len(function.const) < len(function.params) else 0
    reads = {
        frame.base + slot
        for slot, const in zip(function.params[first:], function.const, strict=False)
        if const
    }
    for rid in range(frame.base, frame.temps):
        if rid in reads:
            continue
        for cell in state.memory.get(rid, {}).values():
            for target in cell.targets:
                reg = state.region_states.get(target[0])
                if target[0] >= frame.base or reg is None or not reg.family:
                    continue
                touched = reg.touched
                if touched is None or touched[1] >= frame.entered:
                    touched = (function, engine.fuel, frame.site)
                elif _ends_with(function, touched[2]):  # who had it last had it for this one, too
                    touched = (touched[0], engine.fuel, frame.site)
                else:
                    touched = (function, engine.fuel, frame.site)
                state.region_states[target[0]] = reg.but(touched=touched)


def leaks(
    engine: Engine, state: AbstractState, frame: Frame, value: AbstractValue | None, span: Span
) -> None:
    """Note what nothing leads to any more when a function returns."""
    if not engine.allocated:
        return
    candidates = [
        rid
        for rid, reg in state.region_states.items()
        if reg.family
        and reg.status == LIVE
        and not reg.escaped
        and reg.nullness < 2
        and reg.owner is None
    ]
    if not candidates or frame.function.name == "main":
        return
    held = _reachable(engine, state, value)
    for rid in candidates:
        reg = state.region_states[rid]
        if rid in held:
            engine.released.add(reg.site[:2])
            continue
        kind = "leak" if reg.family in _MEMORY else "resource-leak"
        owner = frame.function
        if reg.touched is not None and _ends_with(frame.function, reg.touched[2]):
            owner = reg.touched[0]
        place = (
            reg.site[1]
            if owner is frame.function and reg.site[0] == owner.file
            else owner.name_span
        )
        inside = owner.span[0] <= place[0] < owner.span[1]
        released = reg.touched is not None and _RELEASING.search(reg.touched[0].name) is not None
        if frame.function.file != reg.site[0] or not inside:
            # made by another function, whose result may have said that there was nothing to make
            released = released or (state.choices > 0 and language_of(frame.function.file) == "cpp")
        if reg.touched is not None or state.choices > 1:
            key = kind, owner.file, place if inside else owner.name_span
            engine.losses[key] = reg.site[0], reg.site[1]
        engine.fault_in(
            owner,
            state,
            kind,
            place if inside else owner.name_span,
            certain=True,
            causes=(reg.site,),
            allocator=_allocator(reg),
            doubtful=released,
        )
        state.region_states[rid] = reg.but(escaped=True)


_RELEASES: Final = {
    "malloc": "free",
    "new": "delete",
    "new[]": "delete[]",
    "kmalloc": "kfree",
    "HeapAlloc": "HeapFree",
    "LocalAlloc": "LocalFree",
    "GlobalAlloc": "GlobalFree",
    "CoTaskMemAlloc": "CoTaskMemFree",
    "OPENSSL_malloc": "OPENSSL_free",
    "sqlite3_malloc": "sqlite3_free",
    "g_aligned_alloc": "g_aligned_free",
    "g_slice_alloc": "g_slice_free",
    "fopen": "fclose",
    "popen": "pclose",
    "opendir": "closedir",
    "open": "close",
    "CreateFile": "CloseHandle",
}


def is_memory(family: str) -> bool:
    """Return whether the resources of a family are memory."""
    return family in _MEMORY


def releases(family: str) -> str:
    """Return what releases the memory or other resources of a family, by its usual name."""
    return _RELEASES.get(family, family)


def _allocator(reg: RegionState) -> str:
    """Return the function that allocated a block, or what opens a resource of its kind."""
    if reg.family not in _MEMORY:
        return reg.family
    return next((name for key, name in reg.site[3] if key == "name"), reg.family).removesuffix("()")


def _ends_with(function: FunctionIR, call: Span) -> bool:
    """Return whether nothing but leaving the function comes after a call in it."""
    for instrs, end in function.blocks:
        at = next(
            (
                i
                for i, instr in enumerate(instrs)
                if isinstance(instr, CallFunction) and instr.span == call
            ),
            None,
        )
        if at is None:
            continue
        rest = instrs[at + 1 :]
        for _ in range(8):
            if not all(isinstance(instr, (Eval, SetTemp)) for instr in rest):
                return False
            if not isinstance(end, Jump):
                return isinstance(end, Return)
            rest, end = function.blocks[end.block]
        return False
    return False


def held_locks(
    engine: Engine, state: AbstractState, frame: Frame, value: AbstractValue | None, span: Span
) -> None:
    """Locks that are held when a function returns: they go away with it, or others may have to
    give them back."""
    held = [(rid, reg) for rid, reg in state.region_states.items() if reg.locked is not None]
    if not held:
        engine.returned_free(frame, value, span)
        return
    function = frame.function
    rest = state.copy()
    for rid in range(frame.base, frame.end):
        rest.memory.pop(rid, None)
    known = _reachable(engine, rest, value)
    for rid, reg in held:
        own = frame.base <= rid < frame.end and rid - frame.base not in function.params
        if not own and (rid in known or engine.kind(rid) != "heap"):
            engine.lock_left(state, frame, rid, reg.locked, value, span)
            continue
        file, place = reg.locked[0], reg.locked[1]
        inside = function.span[0] <= place[0] < function.span[1] and file == function.file
        at = place if inside else span if span != (0, 0) else function.name_span
        engine.fault(state, "lock-kept", at, certain=True, causes=(reg.locked[:4],))
        state.region_states[rid] = reg.but(locked=None)


def _reachable(engine: Engine, state: AbstractState, value: AbstractValue | None) -> set[int]:
    """Regions that something which outlives the frame leads to."""
    work: list[int] = []
    if value is not None:
        work.extend(t[0] for t in value.targets)
        for cell in (value.cells or {}).values():
            work.extend(t[0] for t in cell.targets)
    for rid, cells in state.memory.items():
        place = engine.regions[rid]
        reg = state.region_states.get(rid)
        if place is None or place.kind != "heap" or (reg and (reg.escaped or reg.owner)):
            for cell in cells.values():
                for target in cell.targets:
                    work.append(target[0])
    return _led_to(state, work)


def _led_to(state: AbstractState, work: list[int]) -> set[int]:
    """Regions, and all that pointers in them lead to; uses `work` up."""
    found: set[int] = set()
    while work:
        rid = work.pop()
        if rid in found:
            continue
        found.add(rid)
        for cell in state.memory.get(rid, {}).values():
            work.extend(t[0] for t in cell.targets)
    return found
