"""What the source calls the pointer that a fault is about, and where it was freed before."""

from __future__ import annotations

import functools
import re
from dataclasses import replace

from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.source import Source
from jarvis_ls.jsec.findings.extents import Extents
from jarvis_ls.jsec.flow.domain.fault import RELEASED, TAKEN, Fault
from jarvis_ls.jsec.flow.ir.nodes import Span

_PATH = rb"([A-Za-z_]\w*(?:(?:->|\.)\w+){0,8})"
_RELEASED = re.compile(
    rb"\w+\s{0,4}\(\s{0,4}(?:\(\w+\s{0,4}\*\)\s{0,4})?" + _PATH + rb"\s{0,4}\)"
    rb"|delete\s{0,4}(?:\[\s{0,4}\]\s{0,4})?" + _PATH
)
_USED = re.compile(
    _PATH
    + rb"\s{0,4}\[[^\[\]]*\]|"
    + _PATH
    + rb"->\w+|\*\s{0,4}"
    + _PATH
    + rb"|\w+\s{0,4}\(\s{0,4}"
    + _PATH
    + rb"\s{0,4}\)"
)
_LOCKED = re.compile(
    rb"(\w+)\s{0,4}\(\s{0,4}&?\s{0,4}" + _PATH + rb"\s{0,4}\)|" + _PATH + rb"(?:->|\.)(\w+)\(\)"
)
_ASSIGNED = re.compile(rb"\s{0,4}[-+*/|&^]?=[^=].*", re.DOTALL)
_RELEASES = frozenset({"double-free", "double-close", "free-not-start", "free-non-heap"})
_USES = frozenset({"use-after-free", "use-after-close", "null-dereference", "null-from-allocation"})
_LONGEST = 160
"""Bytes of a place that are examined."""


def add_name(fault: Fault, source: Source) -> Fault:
    """Return the fault with the name of what is released or used, where its place says it
    plainly.
    """
    if fault.kind == "lock-left":
        return _with_lock(fault, source)
    pattern = _RELEASED if fault.kind in _RELEASES else _USED if fault.kind in _USES else None
    start, end = fault.span
    if pattern is None or end - start > _LONGEST or any(key == "name" for key, _ in fault.args):
        return fault
    written = source.data[start:end].strip()
    match = pattern.match(written)
    rest = written[match.end() :] if match is not None else b""
    if match is None or (rest and (pattern is _RELEASED or not _ASSIGNED.fullmatch(rest))):
        return fault
    path = next(group for group in match.groups() if group is not None).decode()
    return replace(fault, args=(*fault.args, ("name", path)))


def _with_lock(fault: Fault, source: Source) -> Fault:
    """Return the fault with the lock, and the function that took it, as a call in the same file
    names them.
    """
    taken = next((step for step in fault.steps if step.message == TAKEN), None)
    if taken is None or taken.file != fault.file or taken.span[1] - taken.span[0] > _LONGEST:
        return fault
    match = _LOCKED.fullmatch(source.data[taken.span[0] : taken.span[1]].strip())
    if match is None:
        return fault
    by, path, receiver, method = match.groups()
    lock, taking = (path or receiver).decode(), (by or method).decode()
    return replace(fault, args=(*fault.args, ("lock", lock), ("taking", taking)))


_FREES = re.compile(
    rb"(?:free[ \t]*\([ \t]*" + _PATH + rb"[ \t]*\)|delete[ \t]*(?:\[\][ \t]*)?" + _PATH + rb")"
)
"""What may be given a null pointer: nothing happens then."""
_CONSTANT = re.compile(rb"\bconst[ \t]+([A-Za-z_]\w*)")


def freed_before(fault: Fault, source: Source, language: LanguageName, functions: Extents) -> Fault:
    """Return the fault with the statement that freed first what it frees again, and with `null`,
    what the language calls a pointer to nothing, and the `indent` of its line.

    Only a statement on a line of its own, in a block, counts: another can be behind it.
    """
    if fault.kind != "double-free":
        return fault
    steps = [step for step in fault.steps if step.message == RELEASED]
    around = _extent(fault.span, functions)
    name = _freed_name(source, fault.span)
    if len(steps) != 1 or around is None or not name:
        return fault
    (step,) = steps
    if step.file != fault.file or _extent(step.span, functions) != around:
        return fault
    end = _end_of_statement(source.data, step.span)
    if _freed_name(source, step.span) != name or end is None:
        return fault
    if name in _constants(source.data, around):
        return fault
    null = "nullptr" if language == "cpp" else "NULL"
    indent = source.data[source.data.rfind(b"\n", 0, step.span[0]) + 1 : step.span[0]].decode()
    args = (*fault.args, ("null", null), ("indent", indent))
    return replace(fault, released=(step.span[0], end), args=args)


def _freed_name(source: Source, place: Span) -> bytes:
    """Return the variable or member that is freed by nothing but `free` or `delete`; empty for
    others.
    """
    start, end = place
    match = _FREES.fullmatch(source.data[start:end].strip()) if end - start <= _LONGEST else None
    return next(group for group in match.groups() if group is not None) if match else b""


_ENDS = re.compile(rb";(?:[ \t]*(?://.*|/\*[^*]*\*/))?")
"""What may follow a call that ends a line."""


def _end_of_statement(data: bytes, place: Span) -> int | None:
    """Return where the line of a call ends that is a statement in a block, with nothing else but a
    comment on its line.
    """
    line = data.rfind(b"\n", 0, place[0]) + 1
    before = data[max(0, line - _LONGEST) : line].rstrip()
    after = data[place[1] :].partition(b"\n")[0].rstrip()
    if (
        data[line : place[0]].strip()
        or not _ENDS.fullmatch(after)
        or before[-1:] not in (b"{", b"}", b";", b":")
    ):
        return None
    return place[1] + len(after)


def _extent(place: Span, functions: Extents) -> Span | None:
    around = functions.around(place[0])
    return around[0][1:] if around else None


@functools.lru_cache(maxsize=64)
def _constants(data: bytes, function: Span) -> frozenset[bytes]:
    """Return the names that a function declares as constants."""
    return frozenset(_CONSTANT.findall(data, *function))
