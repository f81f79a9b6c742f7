"""`goto` as labelled blocks and loops, where labels are so that these suffice.

A label that is jumped to from before ends a block that is left; one that is jumped to from behind
begins a loop that is continued. What does not nest, or jumps into a block, is left to the machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.translate.names import Unsupported


@dataclass
class Span:
    """Children of a block, from one to another, that become a labelled block or loop."""

    first: int
    last: int
    name: str
    loops: bool

    @property
    def head(self) -> str:
        """Return how it begins."""
        return f"'{self.name}: loop {{" if self.loops else f"'{self.name}: {{"

    @property
    def tail(self) -> str:
        """Return how it ends."""
        return f"break '{self.name}; }}" if self.loops else "}"


@dataclass
class Jumps:
    """What becomes of the jumps of a function."""

    spans: dict[int, list[Span]] = field(default_factory=dict)
    """Those of a block (by hash), outer ones before inner ones."""
    goto: dict[int, str] = field(default_factory=dict)
    """The statement each `goto` (by hash) becomes."""


def structure_jumps(body: Any) -> Jumps | None:
    """Return the jumps of a function body as blocks and loops; None when that cannot be."""
    labels: dict[str, tuple[Any, int]] = {}
    """The block each label is in, and at which child."""
    gotos: list[tuple[Any, str, dict[int, int]]] = []
    if not _collect(body, {}, labels, gotos, is_switch=False):
        return None
    found = Jumps()
    spans: dict[tuple[str, bool], Span] = {}
    owners: dict[tuple[str, bool], int] = {}
    for cursor, label, inside in gotos:
        if label not in labels:
            return None
        block, at = labels[label]
        if block.hash not in inside:
            return None
        place = inside[block.hash]
        loops = place >= at
        key = (label, loops)
        name = f"{'again' if loops else 'to'}_{label}"
        if loops:
            span = spans.setdefault(key, Span(at, place, name, loops))
            span.last = max(span.last, place)
        else:
            span = spans.setdefault(key, Span(place, at - 1, name, loops))
            span.first = min(span.first, place)
        owners[key] = block.hash
        found.goto[cursor.hash] = f"{'continue' if loops else 'break'} '{name};"
    for key, span in spans.items():
        found.spans.setdefault(owners[key], []).append(span)
    for group in found.spans.values():
        if not _nest(group):
            return None
        group.sort(key=lambda region: (region.first, -region.last, region.loops))
    return found


def _collect(
    cursor: Any,
    inside: dict[int, int],
    labels: dict[str, tuple[Any, int]],
    gotos: list[tuple[Any, str, dict[int, int]]],
    *,
    is_switch: bool,
) -> bool:
    """Labels and jumps below a node; False when a label is where none can be reached."""
    name = cursor.kind.name
    if name == "GOTO_STMT":
        gotos.append((cursor, label_of(cursor), dict(inside)))
        return True
    if name == "LABEL_STMT":  # not directly in a block
        return False
    switch = name == "SWITCH_STMT"
    if name != "COMPOUND_STMT":
        return all(
            _collect(child, inside, labels, gotos, is_switch=switch)
            for child in clang.children(cursor)
        )
    for place, child in enumerate(clang.children(cursor)):
        within = {**inside, cursor.hash: place}
        while child.kind.name == "LABEL_STMT":
            if is_switch:
                return False
            labels[child.spelling] = (cursor, place)
            child = clang.children(child)[-1]
        if not _collect(child, within, labels, gotos, is_switch=False):
            return False
    return True


def _nest(spans: list[Span]) -> bool:
    """Widen spans until none overlaps another in part; False when that cannot be."""
    for _ in range(len(spans) ** 2 + 1):
        pair = next(_overlapping(spans), None)
        if pair is None:
            return True
        first, second = pair
        if not second.loops:
            second.first = first.first
        elif first.loops:
            first.last = second.last
        else:
            return False
    return False


def _overlapping(spans: list[Span]) -> Iterator[tuple[Span, Span]]:
    for span in spans:
        for other in spans:
            if span.first < other.first <= span.last < other.last:
                yield span, other


def label_of(cursor: Any) -> str:
    """Return the label a `goto` names."""
    labels = [child for child in clang.children(cursor) if child.kind.name == "LABEL_REF"]
    if len(labels) != 1:
        raise Unsupported("a jump without a label")
    return str(labels[0].spelling)
