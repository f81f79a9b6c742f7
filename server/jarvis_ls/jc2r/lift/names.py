"""Functions, variables and fields in snake case, constants in capitals, as Rust has them; what C
knows by its name keeps it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.crate.keywords import KEYWORDS
from jarvis_ls.jc2r.equivalence.shared_libraries import FROM_C
from jarvis_ls.jc2r.lift.program import module_of
from jarvis_ls.jc2r.lift.rust import Say, Source, below, rewritten, variable_of
from jarvis_ls.jc2r.translate import names as spelled

_WORD = re.compile(rb"\w+")
_PLACE = re.compile(rb"(?:\A|\{)(\w+)")
"""What a format takes from a variable, and a field that is called like one."""
_NAMES = ("identifier", "type_identifier", "shorthand_field_identifier")
_OURS = frozenset(b"drop main main_0 sys types core std".split())
"""Names that the translation and passes mean something by."""
_CALLED_FROM_C = re.compile(rb"\b(\w+?)((?:_from_c)?\()")
"""A function in the line that says how C calls one."""


def snake(name: bytes) -> bytes:
    """Return a name in snake case, as rustc would write it."""
    return spelled.snake(name.decode()).encode()


def capitals(name: bytes) -> bytes:
    """Return the name of a constant, as rustc would write it."""
    return spelled.capitals(name.decode()).encode()


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
    snake case."""
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

    def rule(source: Source, node: Node) -> bytes | None:
        return new.get(source.text(node)) if node.type == "field_identifier" else None

    return _rename(sources, rule)


def items(sources: list[Source], excluded: Set[str]) -> dict[int, bytes]:
    """Return new texts by the index of their file, in which functions have names in snake case,
    variables and constants in capitals, but for those that C knows by their name and those in
    `excluded`."""
    new = {module_of(source): _item_names(source, excluded) for source in sources}

    def rule(source: Source, node: Node) -> bytes | None:
        if node.type == "identifier" and not _is_in_attribute(node):
            home = _home_of(source, node)
            return None if home is None else new.get(home, {}).get(source.text(node))
        if node.type == "line_comment" and source.text(node).startswith(FROM_C.encode()):
            own = new[module_of(source)]
            return _CALLED_FROM_C.sub(
                lambda word: own.get(word[1], word[1]) + word[2], source.text(node)
            )
        return None

    return _rename(sources, rule)


def _rename(
    sources: list[Source], rule: Callable[[Source, Node], bytes | None]
) -> dict[int, bytes]:
    """Return the texts that `rule` changes a node of, by the index of their file."""
    made = {}
    for number, source in enumerate(sources):
        root = source.root
        text = rewritten(source.data, root, lambda node, _, source=source: rule(source, node))  # type: ignore[misc]
        text = source.data[: root.start_byte] + text + source.data[root.end_byte :]
        if text != source.data:
            made[number] = text
    return made


def _item_names(source: Source, excluded: Set[str]) -> dict[bytes, bytes]:
    """Return the items of a file that get another name. Names that stand in texts or are short
    for a field of their name stay."""
    words = _OURS | {source.text(node) for node in below(source.root, *_NAMES)}
    kept = {name.encode() for name in excluded}
    kept |= {
        word
        for node in below(source.root, "string_literal", "shorthand_field_initializer")
        for word in _PLACE.findall(source.text(node))
    }
    functions, values = set(), set()
    for item in source.root.children:
        name = item.child_by_field_name("name")
        if name is None or _is_linked(source, item):
            continue
        if item.type in ("static_item", "const_item"):
            values.add(source.text(name))
        elif item.type == "function_item":
            functions.add(source.text(name))
    found = _choose(functions - kept, words)
    return found | _choose(values - kept, words | set(found.values()), capitals)


def _is_linked(source: Source, item: Node) -> bool:
    """Return whether the linker knows an item by its name in Rust."""
    before = item.prev_sibling
    while before is not None and before.type in ("attribute_item", "line_comment"):
        if before.type == "attribute_item" and b"no_mangle" in source.text(before):
            return True
        before = before.prev_sibling
    return False


def _is_in_attribute(node: Node) -> bool:
    around = node.parent
    while around is not None and around.type in ("token_tree", "attribute", "attribute_item"):
        if around.type != "token_tree":
            return True
        around = around.parent
    return False


def _home_of(source: Source, node: Node) -> str | None:
    """Return the module whose item a name means; None for labels, and fields in
    macros."""
    around = node.parent
    if around is not None and around.type in ("label", "lifetime"):
        return None
    if around is not None and around.type == "scoped_identifier":
        path = around.child_by_field_name("path")
        return None if path is None or path == node else _named_module(source, path)
    if around is not None and around.type == "use_list" and around.parent is not None:
        path = around.parent.child_by_field_name("path")
        return None if path is None else _named_module(source, path)
    before = node.prev_sibling
    if around is None or around.type != "token_tree" or before is None:
        return module_of(source)
    if before.type == "::":
        named = before.prev_sibling
        return None if named is None else _named_module(source, named)
    return None if before.type == "." else module_of(source)


def _named_module(source: Source, path: Node) -> str:
    last = source.text(path).rpartition(b"::")[2].decode("utf-8", "replace")
    return module_of(source) if last == "self" else last


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
