"""What the source calls the pointer that a fault is about."""

from __future__ import annotations

import re
from dataclasses import replace

from jarvis_ls.codeintel.source import Source
from jarvis_ls.jsec.flow.fault import Fault

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
_ASSIGNED = re.compile(rb"\s{0,4}[-+*/|&^]?=[^=].*", re.DOTALL)  # fmt: skip
_RELEASES = frozenset({"double-free", "double-close", "free-not-start", "free-non-heap"})
_USES = frozenset({"use-after-free", "use-after-close", "null-dereference", "null-from-allocation"})
_LONGEST = 160
"""Bytes of a place that are looked at."""


def named(fault: Fault, source: Source) -> Fault:
    """The fault with the name of what is released or used, where its place says it plainly."""
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
