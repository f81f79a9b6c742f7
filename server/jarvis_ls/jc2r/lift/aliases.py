"""What may be the same place under two names: of two references, none may change what the other
shows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from jarvis_ls.jc2r.lift.program import Key, key_of
from jarvis_ls.jc2r.lift.rust import Source, bare, below, field, first

if TYPE_CHECKING:
    from jarvis_ls.jc2r.lift.references import Known


def part(sources: list[Source], known: Mapping[Key, Known]) -> None:
    """Take from `pointed` of each function what may be the same place as something else in it: two
    pointers to one type of which one is written through, or a variable at file level that the
    function, or what it calls, names, and whose address somebody takes."""
    shared = _shared(sources)
    seen = _seen(sources, known, frozenset(shared))
    for key, one in known.items():
        outside = {shared[name] for name in seen[key]}
        for place in sorted(one.pointed):
            its = _target(one.types[place])
            twins = [kind for at, kind in enumerate(one.types)
                     if at != place and kind.startswith(b"*") and _target(kind) == its]  # fmt: skip
            changing = any(kind.startswith(b"*mut") for kind in (one.types[place], *twins))
            if its in outside or (twins and changing):
                one.pointed.discard(place)


def _target(kind: bytes) -> bytes:
    return kind.partition(b" ")[2]


def _shared(sources: list[Source]) -> dict[bytes, bytes]:
    """Types of variables of all functions whose address is taken, by name; of arrays, elements."""
    kinds = {}
    for one in sources:
        for item in one.root.children:
            name, kind = field(item, "name"), field(item, "type")
            if item.type == "static_item" and name is not None and kind is not None:
                kinds[one.text(name)] = re.sub(rb"\A\[+|(?:; \w+\])+\Z", b"", one.text(kind))
    taken = set()
    for one in sources:
        for node in below(one.root, "reference_expression"):
            place = bare(field(node, "value"))
            while place is not None and place.type in ("index_expression", "field_expression"):
                place = bare(first(place))
            if place is not None:
                taken.add(one.text(place).rpartition(b":")[2])
    return {name: kind for name, kind in kinds.items() if name in taken}


def _seen(
    sources: list[Source], known: Mapping[Key, Known], names: frozenset[bytes]
) -> dict[Key, set[bytes]]:
    """Which of these variables each function names, itself or by what it calls."""
    found: dict[Key, set[bytes]] = {}
    called: dict[Key, set[Key]] = {}
    for key, one in known.items():
        text = sources[one.file]
        found[key] = {word for node in below(one.node, "identifier")
                      if (word := text.text(node)) in names}  # fmt: skip
        called[key] = {
            name for call in below(one.node, "call_expression")
            if (function := field(call, "function")) is not None
            and (name := key_of(text.text(function), text)) in known
        }  # fmt: skip
    changed = True
    while changed:
        changed = False
        for key, names_of in found.items():
            more = set().union(*(found[other] for other in called[key])) - names_of
            if more:
                names_of |= more
                changed = True
    return found
