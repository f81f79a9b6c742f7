"""What each function of a crate still needs `unsafe` for, counted in its text.

The counts are of the text alone, so that they are the same on every machine and two of them can be
compared line by line: a dereference is of what no reference or box is known to be, a call is of a
function that is declared unsafe in the crate or belongs to the system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.program import key_of, module_of
from jarvis_ls.jc2r.lift.rust import Source, bare, below, field, first, name_of
from jarvis_ls.jc2r.lift.safety import unsafe_word
from jarvis_ls.jc2r.lift.unsafe_operations import MOVING, declaration_of

_OWNING = ("reference_type", "generic_type")
"""Types of what `*` may look through in safe code."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What one function needs."""

    unsafe: bool
    """Whether it is an `unsafe fn`."""
    blocks: int
    """`unsafe` blocks in it."""
    derefs: int
    """Dereferences of raw pointers."""
    offsets: int
    """Raw pointers moved."""
    calls: int
    """Calls of unsafe functions."""
    statics: int
    """Uses of `static mut`."""
    unions: int
    """Members of unions that are named."""
    signature: int
    """Raw pointer types in its signature."""


def inventory(sources: Sequence[Source]) -> dict[str, dict[str, int]]:
    """Return what every function needs, by module and name, in order."""
    unsafe = {
        (module_of(source), name_of(function))
        for source in sources
        for function in source.functions
        if unsafe_word(function) is not None
    }
    statics = {
        name_of(item).encode()
        for source in sources
        for item in below(source.root, "static_item")
        if any(child.type == "mutable_specifier" for child in item.children)
    }
    members, others = _member_names(sources)
    found = {}
    for source in sources:
        for function in source.functions:
            key = f"{module_of(source)}::{name_of(function)}"
            needs = _needs_of(source, function, unsafe, statics, members - others)
            found[key] = {name: int(number) for name, number in asdict(needs).items()}
    return dict(sorted(found.items()))


def _needs_of(
    source: Source,
    function: Node,
    unsafe: set[tuple[str, str]],
    statics: set[bytes],
    members: set[bytes],
) -> Needs:
    body = field(function, "body")
    inside = function if body is None else body
    calls = offsets = 0
    for call in below(inside, "call_expression"):
        called = field(call, "function")
        if called is None:
            continue
        if called.type == "field_expression":
            name = field(called, "field")
            offsets += name is not None and source.text(name).decode() in MOVING
        elif called.type in ("identifier", "scoped_identifier", "generic_function"):
            key = key_of(source.text(called).partition(b"::<")[0], source)
            calls += key in unsafe or key[0] == "sys"
    signature = sum(
        1
        for part in (field(function, "parameters"), field(function, "return_type"))
        if part is not None
        for _ in below(part, "pointer_type")
    )
    return Needs(
        unsafe=unsafe_word(function) is not None,
        blocks=sum(1 for _ in below(inside, "unsafe_block")),
        derefs=sum(_is_raw(source, node) for node in below(inside, "unary_expression")),
        offsets=offsets,
        calls=calls,
        statics=sum(source.text(node) in statics for node in below(inside, "identifier")),
        unions=sum(
            source.text(name) in members
            for node in below(inside, "field_expression")
            if (name := field(node, "field")) is not None
        ),
        signature=signature,
    )


def _is_raw(source: Source, node: Node) -> bool:
    """Return whether it is `*p` of what no reference or box is known to be."""
    if node.children[0].type != "*":
        return False
    pointer = bare(first(node))
    if pointer is None or pointer.type == "string_literal":
        return False
    declared = declaration_of(source, pointer) if pointer.type == "identifier" else None
    kind = None if declared is None else field(declared, "type")
    return kind is None or kind.type not in _OWNING


def _member_names(sources: Sequence[Source]) -> tuple[set[bytes], set[bytes]]:
    """Return the names of members of unions, and those of fields of structures."""
    found: dict[str, set[bytes]] = {"union_item": set(), "struct_item": set()}
    for source in sources:
        for item in below(source.root, *found):
            for member in below(item, "field_declaration"):
                if (name := field(member, "name")) is not None:
                    found[item.type].add(source.text(name))
    return found["union_item"], found["struct_item"]
