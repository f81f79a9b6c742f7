"""The functions of a crate by module and name: who calls them, and with what.

What changes a signature needs every caller: it looks only at functions that nobody names other
than to call them, and that C cannot call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.equivalence.shared import FROM_C
from jarvis_ls.jc2r.lift.rust import Source, bare, below, field, first, name_of

_ACTING = ("assignment_expression", "compound_assignment_expr", "macro_invocation",
           "reference_expression", "unsafe_block", "loop_expression",
           "while_expression")  # fmt: skip
"""What a function does that is more than working something out."""
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


def module_of(one: Source) -> str:
    """What other modules call it; a program's own name has a mark, since nobody can name it."""
    return f"bin/{one.path.stem}" if one.path.parent.name == "bin" else one.path.stem


def key_of(path: bytes, one: Source) -> Key:
    """Which function a path means in a file."""
    parts = path.decode("utf-8", "replace").split("::")
    return (parts[-2] if len(parts) > 1 else module_of(one), parts[-1])


def addresses(sources: list[Source]) -> set[Key]:
    """Functions that are named other than to be called."""
    taken = set()
    for one in sources:
        for whole, parent in _named(one):
            if parent.type == "function_item":
                continue
            if parent.type == "call_expression" and field(parent, "function") == whole:
                continue
            taken.add(key_of(one.text(whole), one))
    return taken


def own_functions(sources: list[Source]) -> list[Own]:
    """Functions as C has them (`extern "C"`) that only this crate calls, none by its address."""
    calls: dict[Key, list[tuple[int, Node]]] = {}
    for number, one in enumerate(sources):
        for whole, parent in _named(one):
            if parent.type == "call_expression" and field(parent, "function") == whole:
                calls.setdefault(key_of(one.text(whole), one), []).append((number, parent))
    taken = addresses(sources)
    found = []
    for number, one in enumerate(sources):
        for node in one.functions:
            key = (module_of(one), name_of(node))
            parameters = _parameters(one, node)
            if key in taken or parameters is None or not _is_own(one, node):
                continue
            result = field(node, "return_type")
            kind = b"" if result is None else one.text(result)
            found.append(Own(key, number, node, parameters, kind, calls.get(key, [])))
    return found


def remade(sources: list[Source], new: Callable[[int, Node], bytes]) -> dict[int, bytes]:
    """New texts by the index of their file, where each function becomes what `new` says of it."""
    made = {}
    for number, one in enumerate(sources):
        text = one.with_functions(lambda _, node, number=number: new(number, node))  # type: ignore[misc]
        if text != one.data:
            made[number] = text
    return made


def arguments_of(call: Node) -> list[Node]:
    """What a call hands over."""
    arguments = field(call, "arguments")
    return [] if arguments is None else list(arguments.named_children)


def head(one: Source, function: Own, parameters: list[bytes], result: bytes) -> bytes:
    """The line of a function with another signature."""
    shown = b"pub " if one.text(function.node).startswith(b"pub ") else b""
    arrow = b" -> " + result if result else b""
    name = function.key[1].encode()
    return shown + b"unsafe fn " + name + b"(" + b", ".join(parameters) + b")" + arrow + b" "


def from_c(function: Own, body: bytes) -> bytes:
    """The line that says how C would call it: `body` in a function of the old signature."""
    parameters = b", ".join(name + b": " + kind for name, kind in function.parameters)
    arrow = b" -> " + function.result if function.result else b""
    name = function.key[1].encode()
    return (FROM_C.encode() + b'unsafe extern "C" fn ' + name + b"_from_c(" + parameters + b")"
            + arrow + b" { " + body + b" }\n")  # fmt: skip


def lent_from_c(text: bytes, name: str, lent: dict[int, bytes]) -> bytes:
    """The text of a file where what C hands to the function `name`, should it have a line that says
    so, has what `lent` says before the argument of a place."""
    line = re.search(re.escape(FROM_C.encode()) + rb".* fn " + re.escape(name.encode())
                     + rb"_from_c\(.*", text)  # fmt: skip
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


def idle_functions(one: Source) -> set[bytes]:
    """Functions of a file that only work out a number from numbers, as many macros did."""
    found = set()
    for function in one.functions:
        parameters, body = _parameters(one, function), field(function, "body")
        if parameters is None or body is None or any(b"*" in kind or b"&" in kind
                                                     for _, kind in parameters):  # fmt: skip
            continue
        own = {name for name, _ in parameters}
        calls = [field(call, "function") for call in below(body, "call_expression")]
        plain = all(call is not None and call.type == "field_expression" for call in calls)
        named = all(one.text(node) in own for node in below(body, "identifier"))
        if plain and named and not any(True for _ in below(body, *_ACTING)):
            found.add(name_of(function).encode())
    return found


def places(one: Source, body: Node, name: bytes) -> list[Node]:
    """Where a name stands in a body."""
    return [node for node in below(body, "identifier") if one.text(node) == name]


def is_named_anew(one: Source, body: Node, name: bytes) -> bool:
    """Whether something else in the body has the same name."""
    return any(
        one.text(pattern) == name
        for node in below(body, "let_declaration", "for_expression", "closure_parameters")
        for pattern in (field(node, "pattern"),)
        if pattern is not None
    )


def is_changed(one: Source, body: Node, name: bytes) -> bool:
    """Whether a variable is given another value, or its address is taken."""
    for node in below(body, "assignment_expression", "compound_assignment_expr",
                      "reference_expression"):  # fmt: skip
        place = field(node, "value" if node.type == "reference_expression" else "left")
        inner = bare(place)
        if inner is not None and one.text(inner) == name:
            return True
    return False


def outermost(node: Node) -> Node:
    """A node with the parentheses around it."""
    while node.parent is not None and node.parent.type == "parenthesized_expression":
        node = node.parent
    return node


def is_looked_through(node: Node) -> bool:
    """Whether it stands as `*node`, and no reference is made of that."""
    star = outermost(node).parent
    if star is None or star.type != "unary_expression" or star.children[0].type != "*":
        return False
    around = outermost(star).parent
    return around is None or around.type != "reference_expression"


def element_of(one: Source, node: Node) -> Node | None:
    """The index where a pointer stands as `*node.offset(index as isize)`; None elsewhere."""
    method = outermost(node).parent
    if method is None or method.type != "field_expression":
        return None
    name, call = field(method, "field"), method.parent
    if name is None or one.text(name) != b"offset" or call is None or (
        call.type != "call_expression" or not is_looked_through(call)
    ):  # fmt: skip
        return None
    cast = bare(arguments_of(call)[0]) if len(arguments_of(call)) == 1 else None
    if cast is not None and cast.type == "integer_literal":
        return cast
    if cast is None or cast.type != "type_cast_expression":
        return None
    kind = field(cast, "type")
    return field(cast, "value") if kind is not None and one.text(kind) == b"isize" else None


def _named(one: Source) -> Iterator[tuple[Node, Node]]:
    """Every name with its path, and what it stands in."""
    for node in below(one.root, "identifier"):
        whole = node
        while whole.parent is not None and whole.parent.type == "scoped_identifier":
            whole = whole.parent
        if whole.parent is not None:
            yield whole, whole.parent


def _is_own(one: Source, node: Node) -> bool:
    """Whether it has the interface of C and C has no name for it."""
    before = node.prev_sibling
    exported = before is not None and before.type == "attribute_item"
    modifiers = next((c for c in node.children if c.type == "function_modifiers"), None)
    return not exported and modifiers is not None and b'unsafe extern "C"' in one.text(modifiers)


def _parameters(one: Source, node: Node) -> list[tuple[bytes, bytes]] | None:
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
        found.append((one.text(inner), one.text(kind)))
    return found
