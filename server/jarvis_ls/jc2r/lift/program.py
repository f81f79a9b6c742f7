"""The functions of a crate by module and name: who calls them, and with what.

What changes a signature needs every caller: it looks only at functions that no one names other
than to call them, and that C cannot call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.equivalence.shared_libraries import FROM_C
from jarvis_ls.jc2r.lift.rust import Source, bare, below, field, first, name_of

_ACTING = (
    "assignment_expression",
    "compound_assignment_expr",
    "macro_invocation",
    "reference_expression",
    "unsafe_block",
    "loop_expression",
    "while_expression",
)
"""What a function does that is more than working something out."""
_EXPORTING = re.compile(rb"\b(?:no_mangle|export_name)\b")
Key = tuple[str, str]
"""Module and function."""
LITERAL = re.compile(rb"(\d+)(?:[iu]\w+)?\Z")
"""A whole number as it is written, perhaps with its type."""


@dataclass(frozen=True, slots=True)
class Own:
    """A function that only this crate calls."""

    key: Key
    source: int
    """Index of its file."""
    node: Node
    parameters: list[tuple[bytes, bytes]]
    """Name and type of each."""
    result: bytes
    """Its type, empty when there is none."""
    calls: list[tuple[int, Node]]
    """Every call: index of the file, and the expression."""


def module_of(source: Source) -> str:
    """Return what other modules call it; a program's own name has a mark, since no one can name
    it.
    """
    return f"bin/{source.path.stem}" if source.path.parent.name == "bin" else source.path.stem


def key_of(path: bytes, source: Source) -> Key:
    """Return which function a path means in a file."""
    parts = path.decode("utf-8", "replace").split("::")
    return (parts[-2] if len(parts) > 1 else module_of(source), parts[-1])


def addresses(sources: list[Source]) -> set[Key]:
    """Functions that are named other than to be called."""
    taken = set()
    for source in sources:
        for whole, parent in _name_nodes(source):
            if parent.type == "function_item":
                continue
            if parent.type == "call_expression" and field(parent, "function") == whole:
                continue
            taken.add(key_of(source.text(whole), source))
    return taken


def is_exported(source: Source, function: Node) -> bool:
    """Return whether C knows a function by a name of its own."""
    before = function.prev_sibling
    while before is not None and before.type in ("attribute_item", "line_comment"):
        if before.type == "attribute_item" and _EXPORTING.search(source.text(before)):
            return True
        before = before.prev_sibling
    return False


def own_functions(sources: list[Source]) -> list[Own]:
    """Functions as C has them (`extern "C"`) that only this crate calls, none by its address."""
    calls: dict[Key, list[tuple[int, Node]]] = {}
    for number, source in enumerate(sources):
        for whole, parent in _name_nodes(source):
            if parent.type == "call_expression" and field(parent, "function") == whole:
                calls.setdefault(key_of(source.text(whole), source), []).append((number, parent))
    taken = addresses(sources)
    found = []
    for number, source in enumerate(sources):
        for node in source.functions:
            key = (module_of(source), name_of(node))
            parameters = parameters_of(source, node)
            if key in taken or parameters is None or not _is_own(source, node):
                continue
            result = field(node, "return_type")
            kind = b"" if result is None else source.text(result)
            found.append(Own(key, number, node, parameters, kind, calls.get(key, [])))
    return found


def remade(sources: list[Source], new: Callable[[int, Node], bytes]) -> dict[int, bytes]:
    """Return new texts by the index of their file, where `new` rewrites each function."""
    made = {}
    for number, source in enumerate(sources):
        text = source.with_functions(lambda _, node, number=number: new(number, node))  # type: ignore[misc]
        if text != source.data:
            made[number] = text
    return made


def arguments_of(call: Node) -> list[Node]:
    """Return the arguments of a call."""
    arguments = field(call, "arguments")
    return [] if arguments is None else list(arguments.named_children)


def head(source: Source, function: Own, parameters: list[bytes], result: bytes) -> bytes:
    """Return the line of a function with another signature."""
    shown = b"pub " if source.text(function.node).startswith(b"pub ") else b""
    arrow = b" -> " + result if result else b""
    name = function.key[1].encode()
    return shown + b"unsafe fn " + name + b"(" + b", ".join(parameters) + b")" + arrow + b" "


def from_c(function: Own, body: bytes) -> bytes:
    """Return the line that says how C would call it: `body` in a function of the old signature."""
    parameters = b", ".join(name + b": " + kind for name, kind in function.parameters)
    arrow = b" -> " + function.result if function.result else b""
    name = function.key[1].encode()
    return (
        FROM_C.encode()
        + b'unsafe extern "C" fn '
        + name
        + b"_from_c("
        + parameters
        + b")"
        + arrow
        + b" { "
        + body
        + b" }\n"
    )


def lent_from_c(text: bytes, name: str, lent: dict[int, bytes]) -> bytes:
    """Return the text of a file where what C hands to the function `name`, should it have a line
    that says so, has what `lent` says before the argument of a place.
    """
    line = re.search(
        re.escape(FROM_C.encode()) + rb".* fn " + re.escape(name.encode()) + rb"_from_c\(.*", text
    )
    call = None if line is None else line[0].find(name.encode() + b"(", line[0].find(b" { "))
    if line is None or call is None or call < 0:
        return text
    begin = line.start() + call + len(name) + 1
    parts, depth, place, at = [text[:begin]], 0, 0, begin
    for end in range(begin, line.end()):
        sign = text[end : end + 1]
        if depth == 0 and sign in b",)":
            argument = text[at:end].strip()
            parts += [lent.get(place, b"") + argument, b", " if sign == b"," else b""]
            place, at = place + 1, end + 1
            if sign == b")":
                return b"".join([*parts, text[end:]])
        depth += (sign in b"([{") - (sign in b")]}")
    return text


def idle_functions(source: Source) -> set[bytes]:
    """Functions of a file that only work out a number from numbers, as many macros did."""
    found = set()
    for function in source.functions:
        parameters, body = parameters_of(source, function), field(function, "body")
        if (
            parameters is None
            or body is None
            or any(b"*" in kind or b"&" in kind for _, kind in parameters)
        ):
            continue
        own = {name for name, _ in parameters}
        calls = [field(call, "function") for call in below(body, "call_expression")]
        plain = all(call is not None and call.type == "field_expression" for call in calls)
        named = all(source.text(node) in own for node in below(body, "identifier"))
        if plain and named and not any(True for _ in below(body, *_ACTING)):
            found.add(name_of(function).encode())
    return found


def places(source: Source, body: Node, name: bytes) -> list[Node]:
    """Return the nodes of a name in a body."""
    return [node for node in below(body, "identifier") if source.text(node) == name]


def is_named_anew(source: Source, body: Node, name: bytes) -> bool:
    """Return whether something else in the body has the same name."""
    return any(
        source.text(pattern) == name
        for node in below(body, "let_declaration", "for_expression", "closure_parameters")
        for pattern in (field(node, "pattern"),)
        if pattern is not None
    )


def is_changed(source: Source, body: Node, name: bytes) -> bool:
    """Return whether a variable is given another value, or its address is taken."""
    for node in below(
        body, "assignment_expression", "compound_assignment_expr", "reference_expression"
    ):
        place = field(node, "value" if node.type == "reference_expression" else "left")
        inner = bare(place)
        if inner is not None and source.text(inner) == name:
            return True
    return False


def outermost(node: Node) -> Node:
    """Return a node with the parentheses around it."""
    while node.parent is not None and node.parent.type == "parenthesized_expression":
        node = node.parent
    return node


def is_looked_through(node: Node) -> bool:
    """Return whether it is as `*node`, and no reference is made of that."""
    star = outermost(node).parent
    if star is None or star.type != "unary_expression" or star.children[0].type != "*":
        return False
    around = outermost(star).parent
    return around is None or around.type != "reference_expression"


def element_of(source: Source, node: Node) -> Node | None:
    """Return the index where a pointer is as `*node.offset(index as isize)`; None elsewhere."""
    method = outermost(node).parent
    if method is None or method.type != "field_expression":
        return None
    name, call = field(method, "field"), method.parent
    if (
        name is None
        or source.text(name) != b"offset"
        or call is None
        or (call.type != "call_expression" or not is_looked_through(call))
    ):
        return None
    cast = bare(arguments_of(call)[0]) if len(arguments_of(call)) == 1 else None
    if cast is not None and cast.type == "integer_literal":
        return cast
    if cast is None or cast.type != "type_cast_expression":
        return None
    kind = field(cast, "type")
    return field(cast, "value") if kind is not None and source.text(kind) == b"isize" else None


def _name_nodes(source: Source) -> Iterator[tuple[Node, Node]]:
    """Every name with its path, and what it is in."""
    for node in below(source.root, "identifier"):
        whole = node
        while whole.parent is not None and whole.parent.type == "scoped_identifier":
            whole = whole.parent
        if whole.parent is not None:
            yield whole, whole.parent


def _is_own(source: Source, node: Node) -> bool:
    """Return whether it has the interface of C and C has no name for it."""
    before = node.prev_sibling
    exported = before is not None and before.type == "attribute_item"
    modifiers = next((c for c in node.children if c.type == "function_modifiers"), None)
    return not exported and modifiers is not None and b'unsafe extern "C"' in source.text(modifiers)


def parameters_of(source: Source, node: Node) -> list[tuple[bytes, bytes]] | None:
    """Name and type of each parameter; None when one is a pattern or there is no end of them."""
    parameters = field(node, "parameters")
    found = []
    for parameter in () if parameters is None else parameters.named_children:
        pattern, kind = field(parameter, "pattern"), field(parameter, "type")
        if parameter.type != "parameter" or pattern is None or kind is None:
            return None
        inner = first(pattern) if pattern.type == "mut_pattern" else pattern
        if inner is None or inner.type != "identifier":
            return None
        found.append((source.text(inner), source.text(kind)))
    return found
