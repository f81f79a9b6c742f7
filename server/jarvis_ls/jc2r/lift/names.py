"""Variables and fields in snake case, constants in capitals, as Rust has them; what C knows by its
name keeps it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Set

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.crate.keywords import KEYWORDS
from jarvis_ls.jc2r.lift.rust import Say, Source, below, rewritten, variable_of

_HUMP = re.compile(rb"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(rb"\w+")


def snake(name: bytes) -> bytes:
    """Return a name in snake case, as rustc would write it."""
    return b"_".join(part.lower() for part in _HUMP.split(name))


def capitals(name: bytes) -> bytes:
    """Return the name of a constant, as rustc would write it."""
    return snake(name).upper()


def variables(source: Source, function: Node) -> bytes:
    """Give parameters and local variables names in snake case, unless the function uses such a name
    or an item of the file has it: a variable cannot hide a `static`."""
    taken = set(_WORD.findall(source.text(function))) | {
        source.text(name)
        for item in source.root.children
        if (name := item.child_by_field_name("name")) is not None
    }
    declared = {
        variable_of(source, node)
        for node in below(function, "let_declaration", "parameter", "for_expression")
    }
    lasting = {
        source.text(name)
        for item in below(function, "static_item", "const_item")
        if (name := item.child_by_field_name("name")) is not None and not _is_of_c(item)
    }
    new = _choose(declared - lasting, taken) | _choose(lasting - declared, taken, capitals)

    def rule(node: Node, _: Say) -> bytes | None:
        return new.get(source.text(node)) if node.type == "identifier" else None

    return rewritten(source.data, function, rule) if new else source.text(function)


def fields(sources: list[Source]) -> dict[int, bytes]:
    """Return new texts by the index of their file, in which the fields of structures have names in
    snake case and constants of the crate in capitals."""
    declared = {
        source.text(name)
        for source in sources
        for member in below(source.root, "field_declaration")
        if (name := member.child_by_field_name("name")) is not None
    }
    short = {
        source.text(node)
        for source in sources
        for node in below(source.root, "shorthand_field_identifier")
    }
    kept = {word for source in sources for word in _method_names(source)}
    new = _choose(declared - short, declared | short | kept)
    constants = _constants(sources)

    made = {}
    for number, source in enumerate(sources):
        text = _rename(source, new, constants)
        if text != source.data:
            made[number] = text
    return made


def _rename(source: Source, new: Mapping[bytes, bytes], constants: Mapping[bytes, bytes]) -> bytes:
    """Return a file with other names of fields and of constants."""

    def rule(node: Node, _: Say) -> bytes | None:
        if node.type == "field_identifier":
            return new.get(source.text(node))
        return constants.get(source.text(node)) if node.type == "identifier" else None

    root = source.root
    text = rewritten(source.data, root, rule)
    return source.data[: root.start_byte] + text + source.data[root.end_byte :]


def _constants(sources: list[Source]) -> dict[bytes, bytes]:
    """Return the constants that no one else has the name of, with their new names."""
    named: dict[bytes, int] = {}
    words: set[bytes] = set()
    declared: set[bytes] = set()
    for source in sources:
        words |= set(_WORD.findall(source.data))
        for item in source.root.children:
            name = item.child_by_field_name("name")
            if item.type == "const_item" and name is not None:
                named[source.text(name)] = named.get(source.text(name), 0) + 1
            elif name is not None:
                declared.add(source.text(name))
        declared |= {
            variable_of(source, node)
            for node in below(source.root, "let_declaration", "parameter", "for_expression")
        }
    once = {name for name, times in named.items() if times == 1}
    return _choose(once - declared, words, capitals)


def _method_names(source: Source) -> Iterable[bytes]:
    for call in below(source.root, "call_expression"):
        called = call.child_by_field_name("function")
        if called is not None and called.type == "field_expression":
            name = called.child_by_field_name("field")
            if name is not None:
                yield source.text(name)


def _is_of_c(item: Node) -> bool:
    """Return whether a variable is declared in `extern "C" { … }`."""
    around = item.parent
    return (
        around is not None
        and around.parent is not None
        and (around.parent.type == "foreign_mod_item")
    )


def _choose(
    names: Iterable[bytes], taken: Set[bytes], write: Callable[[bytes], bytes] = snake
) -> dict[bytes, bytes]:
    """Return the names that change, each with another one that nothing else has."""
    found: dict[bytes, bytes] = {}
    for name in sorted(names):
        better = write(name)
        free = better not in taken and better not in found.values()
        if better != name and free and better.decode() not in KEYWORDS:
            found[name] = better
    return found
