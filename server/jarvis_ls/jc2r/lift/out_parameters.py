"""Parameters that only carry a value out become values that are returned.

A parameter `p: *mut T` of a function that only this crate calls goes when all that is done with it
is `*p`, `T` is a number, a flag or a pointer, and every caller hands over the address of a local
variable that nothing else points to: then no one sees the value before the function returns. Where
the function may leave without having written it, the compiler says so, and it stays as it is.
"""

from __future__ import annotations

import re

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.program import (
    Own,
    arguments_of,
    from_c,
    head,
    is_looked_through,
    is_named_anew,
    outermost,
    own_functions,
    places,
    remade,
)
from jarvis_ls.jc2r.lift.rust import (
    Say,
    Source,
    bare,
    below,
    field,
    first,
    rewritten,
    variable_of,
)

_VALUE = re.compile(rb"\*mut ((?:[iu](?:8|16|32|64|128|size)|f32|f64|bool|\*(?:mut|const) .+))\Z")
_OPEN = frozenset(
    {
        "if_expression",
        "match_expression",
        "block",
        "unsafe_block",
        "loop_expression",
        "while_expression",
        "for_expression",
    }
)


def outs(sources: list[Source], excluded: set[str]) -> dict[int, bytes]:
    """Return new texts by the index of their file; functions whose names are `excluded` stay."""
    chosen: dict[int, tuple[Own, int]] = {}
    calls: dict[tuple[int, int, int], tuple[Own, int]] = {}
    for function in own_functions(sources):
        if function.key[1] in excluded or not function.calls:
            continue
        place = next(
            (at for at in range(len(function.parameters)) if _is_out(sources, function, at)), None
        )
        if place is not None:
            chosen[function.node.id] = (function, place)
            for file, call in function.calls:
                calls[file, call.start_byte, call.end_byte] = (function, place)
    if not chosen:
        return {}
    return remade(
        sources,
        lambda number, node: _text(sources[number], number, node, chosen.get(node.id), calls),
    )


def _is_out(sources: list[Source], function: Own, at: int) -> bool:
    name, kind = function.parameters[at]
    source, body = sources[function.source], field(function.node, "body")
    if body is None or not _VALUE.match(kind) or is_named_anew(source, body, name):
        return False
    used = places(source, body, name)
    if not used or not all(is_looked_through(node) for node in used):
        return False
    if any(True for _ in below(body, "closure_expression")):
        return False  # its `return` is another
    return all(_local(sources[file], call, at) for file, call in function.calls)


def _local(source: Source, call: Node, at: int) -> bytes:
    """Return the local variable whose address a call hands over, when nothing else points to it."""
    arguments = arguments_of(call)
    taken = bare(arguments[at]) if at < len(arguments) else None
    if taken is None or taken.type != "reference_expression":
        return b""
    place = bare(field(taken, "value"))
    if place is None or place.type != "identifier":
        return b""
    name = source.text(place)
    around: Node | None = call
    while around is not None and around.type != "function_item":
        around = around.parent
    body = None if around is None else field(around, "body")
    if body is None:
        return b""
    declared = [
        node for node in below(body, "let_declaration") if variable_of(source, node) == name
    ]
    others = [
        node
        for node in below(body, "reference_expression")
        if any(source.text(inner) == name for inner in below(node, "identifier"))
    ]
    alone = all(_is_argument_of(source, node, call) or node == taken for node in others)
    return name if len(declared) == 1 and alone and others.count(taken) == 1 else b""


def _is_argument_of(source: Source, node: Node, call: Node) -> bool:
    """Return whether an address is handed to another call of the same function, and nowhere
    else.
    """
    arguments = outermost(node).parent
    other = None if arguments is None or arguments.type != "arguments" else arguments.parent
    if other is None or other == call:
        return False
    mine, its = field(call, "function"), field(other, "function")
    return mine is not None and its is not None and source.text(mine) == source.text(its)


def _text(
    source: Source,
    number: int,
    node: Node,
    own: tuple[Own, int] | None,
    calls: dict[tuple[int, int, int], tuple[Own, int]],
) -> bytes:
    """Return a function with its calls in the new form, and itself when it is one of the chosen."""
    name = b"" if own is None else own[0].parameters[own[1]][0]
    result = b"" if own is None else own[0].result
    body = field(node, "body")
    tail = None if own is None or body is None else _tail(body)

    def rule(inner: Node, say: Say) -> bytes | None:
        if own is not None and name:
            if inner.type == "unary_expression" and inner.children[0].type == "*":
                pointer = bare(first(inner))
                if pointer is not None and source.text(pointer) == name:
                    return name
            if inner.type == "return_expression":
                value = first(inner)
                return b"return " + _both(b"" if value is None else say(value), name)
            if tail is not None and inner == tail and result:
                return _both(_plain(inner, say), name)
        called = calls.get((number, inner.start_byte, inner.end_byte))
        if called is not None and inner.type == "call_expression":
            return _call(source, inner, *called, say)
        return None

    if own is None or body is None:
        return rewritten(source.data, node, rule)
    function, place = own
    match = _VALUE.match(function.parameters[place][1])
    kind = b"" if match is None else match[1]
    kept = [
        b"mut " + one_name + b": " + its
        for at, (one_name, its) in enumerate(function.parameters)
        if at != place
    ]
    said = rewritten(source.data, body, rule)
    if not result:
        said = (
            said.rstrip()[:-1]
            + (b";\n" if tail is not None and tail.type not in _OPEN else b"\n")
            + name
            + b"\n}"
        )
    said = b"{\nlet mut " + name + b": " + kind + b";" + said[1:]
    returned = b"(" + result + b", " + kind + b")" if result else kind
    names = b", ".join(
        one_name for at, (one_name, _) in enumerate(function.parameters) if at != place
    )
    call = function.key[1].encode() + b"(" + names + b")"
    to_c = (
        b"let (value, out) = " + call + b"; *" + name + b" = out; value"
        if result
        else b"*" + name + b" = " + call + b";"
    )
    return from_c(function, to_c) + head(source, function, kept, returned) + said


def _both(value: bytes, name: bytes) -> bytes:
    return b"(" + value + b", " + name + b")" if value else name


def _plain(node: Node, say: Say) -> bytes:
    """Return a node in the words of its children, since the rule is about the node itself."""
    parts, at = [], node.start_byte
    data = node.text or b""
    for child in node.children:
        parts += [data[at - node.start_byte : child.start_byte - node.start_byte], say(child)]
        at = child.end_byte
    return b"".join([*parts, data[at - node.start_byte :]])


def _tail(body: Node) -> Node | None:
    """Return the value of a block."""
    inside = [node for node in body.named_children if "comment" not in node.type]
    last = inside[-1] if inside else None
    if last is None or last.type in ("let_declaration", "expression_statement", "empty_statement"):
        return None
    return last


def _call(source: Source, node: Node, own: Own, place: int, say: Say) -> bytes:
    """Return a call that puts the value where its address was handed over."""
    function = field(node, "function")
    said = [say(argument) for at, argument in enumerate(arguments_of(node)) if at != place]
    call = (b"" if function is None else source.text(function)) + b"(" + b", ".join(said) + b")"
    target = _local(source, node, place)
    whole = outermost(node)
    around = whole.parent
    if not own.result:
        new = target + b" = " + call
        return (
            new
            if around is not None and around.type == "expression_statement"
            else (b"{ " + new + b" }")
        )
    if around is not None and around.type == "expression_statement":
        return b"(_, " + target + b") = " + call
    return b"{ let (__value, __out) = " + call + b"; " + target + b" = __out; __value }"
