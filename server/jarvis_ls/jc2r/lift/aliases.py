"""What may be the same place under two names: of two references, none may change what the other
shows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as data_field

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.program import Key, key_of
from jarvis_ls.jc2r.lift.rust import Source, bare, below, field, first


@dataclass
class ReferenceCandidate:
    """A function that may take references."""

    file: int
    node: Node
    parameters: list[str]
    """Names, in order; empty for patterns."""
    types: list[bytes]
    pointed: set[int] = data_field(default_factory=set)
    """Places of parameters that may become references."""


def part(sources: list[Source], known: Mapping[Key, ReferenceCandidate]) -> None:
    """Take from `pointed` of each function what may be the same place as something else in it: two
    pointers to one type of which one is written through, or a variable at file level that the
    function, or what it calls, names, and whose address somebody takes."""
    shared = _shared_variables(sources)
    seen = _seen_names(sources, known, frozenset(shared))
    for key, function in known.items():
        outside = {shared[name] for name in seen[key]}
        for place in sorted(function.pointed):
            its = _target(function.types[place])
            twins = [
                kind
                for at, kind in enumerate(function.types)
                if at != place and kind.startswith(b"*") and _target(kind) == its
            ]
            changing = any(kind.startswith(b"*mut") for kind in (function.types[place], *twins))
            if its in outside or (twins and changing):
                function.pointed.discard(place)


def _target(kind: bytes) -> bytes:
    return kind.partition(b" ")[2]


def _shared_variables(sources: list[Source]) -> dict[bytes, bytes]:
    """Types of variables of all functions whose address is taken, by name; of arrays, elements."""
    kinds = {}
    for source in sources:
        for item in source.root.children:
            name, kind = field(item, "name"), field(item, "type")
            if item.type == "static_item" and name is not None and kind is not None:
                kinds[source.text(name)] = re.sub(rb"\A\[+|(?:; \w+\])+\Z", b"", source.text(kind))
    taken = set()
    for source in sources:
        for node in below(source.root, "reference_expression"):
            place = bare(field(node, "value"))
            while place is not None and place.type in ("index_expression", "field_expression"):
                place = bare(first(place))
            if place is not None:
                taken.add(source.text(place).rpartition(b":")[2])
    return {name: kind for name, kind in kinds.items() if name in taken}


def _seen_names(
    sources: list[Source], known: Mapping[Key, ReferenceCandidate], names: frozenset[bytes]
) -> dict[Key, set[bytes]]:
    """Return which of these variables each function names, itself or by what it calls."""
    found: dict[Key, set[bytes]] = {}
    called: dict[Key, set[Key]] = {}
    for key, caller in known.items():
        text = sources[caller.file]
        found[key] = {
            word for node in below(caller.node, "identifier") if (word := text.text(node)) in names
        }
        called[key] = {
            name
            for call in below(caller.node, "call_expression")
            if (function := field(call, "function")) is not None
            and (name := key_of(text.text(function), text)) in known
        }
    changed = True
    while changed:
        changed = False
        for key, names_of in found.items():
            more = set().union(*(found[other] for other in called[key])) - names_of
            if more:
                names_of |= more
                changed = True
    return found
