"""A pointer with its length becomes a slice.

Of a function that only this crate calls, `p: *const T, n: i32` becomes `p: &[T]` when all that is
done with `p` is `*p.offset(i as isize)` with the index of a `for i in A..n` around it, so that no
element is outside; when one such loop from 0 on goes through all elements on every way through
the function, so that there are as many; and when nothing else can write to them meanwhile: a slice
is read while nothing is written but local variables and other slices of another type, it is
written while it is the only pointer at all. A length that is only the end of loops goes too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.program import (
    LITERAL,
    Own,
    arguments_of,
    element_of,
    from_c,
    head,
    idle_functions,
    is_changed,
    is_named_anew,
    outermost,
    own_functions,
    places,
    remade,
)
from jarvis_ls.jc2r.lift.rust import Say, Source, bare, below, field, first, rewritten

HELPER = b"""
/// The elements behind a pointer of C; none for null and for a negative number.
#[inline]
pub unsafe fn elements<'a, T>(first: *const T, count: i64) -> &'a [T] {
    if count <= 0 || first.is_null() { return &[]; }
    core::slice::from_raw_parts(first, count as usize)
}

/// The same to be written.
#[inline]
pub unsafe fn elements_mut<'a, T>(first: *mut T, count: i64) -> &'a mut [T] {
    if count <= 0 || first.is_null() { return &mut []; }
    core::slice::from_raw_parts_mut(first, count as usize)
}
"""
"""Goes into `sys.rs` when something needs it."""
_NUMBER = re.compile(rb"[iu](?:8|16|32|64|size)\Z")
_ZERO = re.compile(rb"0(?:[iu]\w+)?\Z")
_BYTES = (b"u8", b"i8")
_ARRAY = re.compile(rb"\(*(\w+)\.as_(?:mut_)?ptr\(\)\)*(?: as \*const \w+)?\)*\Z")
_LEAVING = ("return_expression", "break_expression", "continue_expression")


@dataclass(frozen=True, slots=True)
class _Slices:
    """What becomes of one function."""

    function: Own
    pointers: tuple[int, ...]
    """Places of the pointers."""
    length: int
    """Place of their length."""
    gone: bool
    """Whether the length is handed over by the slices alone."""
    written: frozenset[int]
    """Places of the pointers that are written to."""


def slices(sources: list[Source], excluded: set[str]) -> dict[int, bytes]:
    """Return new texts by the index of their file; functions whose names are `excluded` stay."""
    numbers = {source.path.stem: at for at, source in enumerate(sources)}
    shared = {
        source.text(name)
        for source in sources
        for item in source.root.children
        if item.type == "static_item" and (name := field(item, "name")) is not None
    }
    idle = [idle_functions(source) for source in sources]
    chosen: dict[int, _Slices] = {}
    for function in own_functions(sources):
        if (
            function.key[1] not in excluded
            and function.calls
            and "sys" in numbers
            and (
                found := _find_slices(
                    sources[function.source], function, shared, idle[function.source]
                )
            )
            is not None
        ):
            chosen[function.node.id] = found
    if not chosen:
        return {}
    calls = {
        (file, call.start_byte, call.end_byte): own
        for own in chosen.values()
        for file, call in own.function.calls
    }
    made = remade(
        sources,
        lambda number, node: _text(sources[number], number, node, chosen.get(node.id), calls),
    )
    system = numbers["sys"]
    text = made.get(system, sources[system].data)
    if made and b"fn elements<" not in text:
        made[system] = text + HELPER
    return made


def _find_slices(
    source: Source, function: Own, shared: set[bytes], idle: set[bytes]
) -> _Slices | None:
    """Return the slices of a function, with the first length that has some."""
    body = field(function.node, "body")
    if body is None:
        return None
    for at, (name, kind) in enumerate(function.parameters):
        if (
            not _NUMBER.match(kind)
            or is_changed(source, body, name)
            or is_named_anew(source, body, name)
        ):
            continue
        pointers = tuple(
            place
            for place in range(at)
            if _is_slice(source, body, function.parameters[place], name)
        )
        if not pointers or not _are_alone(source, body, function, pointers, shared, idle):
            continue
        ends = all(_is_end(node) for node in places(source, body, name))
        written = frozenset(
            place for place in pointers if _is_written(source, body, function.parameters[place][0])
        )
        return _Slices(function, pointers, at, ends or kind.startswith(b"u"), written)
    return None


def _is_slice(source: Source, body: Node, parameter: tuple[bytes, bytes], length: bytes) -> bool:
    name, kind = parameter
    if not kind.startswith((b"*mut ", b"*const ")) or kind.endswith(b"c_void"):
        return False
    if is_named_anew(source, body, name):
        return False
    used = places(source, body, name)
    for node in used:
        index = bare(element_of(source, node))
        if (
            index is None
            or index.type != "identifier"
            or _loop(source, node, index, length) is None
        ):
            return False
    return any(_goes_through(source, body, node, length) for node in used)


def _loop(source: Source, node: Node, index: Node, length: bytes) -> Node | None:
    """Return the `for index in A..length` around an element, where A is a number."""
    around = node.parent
    while around is not None and around.type != "function_item":
        if around.type in ("let_declaration", "closure_expression"):
            return None
        if around.type == "for_expression":
            pattern, span = field(around, "pattern"), field(around, "value")
            if pattern is not None and source.text(pattern) == source.text(index):
                ends = [] if span is None else [source.text(child) for child in span.named_children]
                plain = (
                    span is not None
                    and span.type == "range_expression"
                    and (b"..=" not in source.text(span))
                )
                right = (
                    plain
                    and len(ends) == 2
                    and ends[1] == length
                    and (LITERAL.match(ends[0]) is not None)
                )
                return around if right else None
        around = around.parent
    return None


def _goes_through(source: Source, body: Node, node: Node, length: bytes) -> bool:
    """Return whether every way through the function comes by this element with every index."""
    index = element_of(source, node)
    inner = bare(index)
    loop = None if inner is None else _loop(source, node, inner, length)
    if loop is None or any(True for _ in below(loop, *_LEAVING)):
        return False
    span = field(loop, "value")
    start = None if span is None else first(span)
    if start is None or not _ZERO.match(source.text(start)):
        return False
    statement = loop if loop.parent == body else loop.parent
    if statement is None or statement.parent != body:
        return False
    for before in body.named_children:
        if before == statement:
            break
        if any(True for _ in below(before, *_LEAVING)):
            return False
    return _at_once(node, loop)


def _at_once(node: Node, loop: Node) -> bool:
    """Return whether each turn of the loop evaluates it."""
    block = field(loop, "body")
    while node.parent is not None and node != block:
        parent = node.parent
        if parent.type in ("match_arm", "for_expression", "while_expression") and parent != loop:
            return False
        if parent.type == "if_expression" and field(parent, "condition") != node:
            return False
        if parent.type == "binary_expression" and field(parent, "right") == node:
            sign = field(parent, "operator")
            if sign is not None and sign.type in ("&&", "||"):
                return False
        node = parent
    return node == block


def _are_alone(
    source: Source,
    body: Node,
    function: Own,
    pointers: tuple[int, ...],
    shared: set[bytes],
    idle: set[bytes],
) -> bool:
    """Return whether nothing writes to what a slice shows, or sees what is written to one."""
    if not all(_is_harmless(source, call, idle) for call in below(body, "call_expression")):
        return False
    written = {name for name, _ in function.parameters if _is_written(source, body, name)}
    others = [
        kind
        for at, (_, kind) in enumerate(function.parameters)
        if at not in pointers and kind[:1] in b"*&"
    ]
    used = {source.text(node) for node in below(body, "identifier")}
    if others and any(_is_member(node) for node in below(body, "field_expression")):
        return False  # what is behind a structure is not known
    if any(
        source.text(typed).startswith(b"*")
        for node in below(body, "let_declaration")
        if (typed := field(node, "type")) is not None
    ):
        return False  # nor what another pointer points to
    if any(_is_written(source, body, name) for name in shared & used):
        return False
    kinds = [
        (name in written, kind.split(b" ", 1)[1])
        for name, kind in function.parameters
        if kind.startswith(b"*")
    ]
    for at, (writes, kind) in enumerate(kinds):
        for other, (_, its) in enumerate(kinds):
            if at != other and writes and (kind == its or kind in _BYTES or its in _BYTES):
                return False
    return not (written and (used & shared or any(kind.startswith(b"&") for kind in others)))


def _is_member(node: Node) -> bool:
    """Return whether it is a member of a structure, and no method."""
    call = node.parent
    return call is None or call.type != "call_expression" or field(call, "function") != node


def _is_harmless(source: Source, call: Node, idle: set[bytes]) -> bool:
    """Return whether a call is arithmetic of a number, or an element of a pointer."""
    method = field(call, "function")
    if method is not None and source.text(method) in idle:
        return True
    name = None if method is None or method.type != "field_expression" else field(method, "field")
    text = b"" if name is None else source.text(name)
    return text == b"offset" or text.startswith(b"wrapping_") or text in (b"is_null", b"as_ptr")


def _is_written(source: Source, body: Node, name: bytes) -> bool:
    """Return whether something is assigned to it, or to what it points to."""
    for node in below(
        body, "assignment_expression", "compound_assignment_expr", "reference_expression"
    ):
        place = field(node, "value" if node.type == "reference_expression" else "left")
        if place is None:
            continue
        if any(
            source.text(inner) == name and not _is_index(inner, place)
            for inner in below(place, "identifier")
        ):
            return True
    return False


def _is_index(node: Node, place: Node) -> bool:
    """Return whether a name in a place only says which element is meant."""
    while node != place and node.parent is not None:
        parent = node.parent
        if parent.type == "arguments":
            return True
        if parent.type == "index_expression" and first(parent) != node:
            return True
        node = parent
    return False


def _is_end(node: Node) -> bool:
    whole = outermost(node)
    span = whole.parent
    return (
        span is not None and span.type == "range_expression" and (span.named_children[-1] == whole)
    )


def _text(
    source: Source,
    number: int,
    node: Node,
    own: _Slices | None,
    calls: dict[tuple[int, int, int], _Slices],
) -> bytes:
    names: set[bytes] = set()
    if own is not None:
        names = {own.function.parameters[place][0] for place in own.pointers}

    def rule(inner: Node, say: Say) -> bytes | None:
        called = calls.get((number, inner.start_byte, inner.end_byte))
        if called is not None and inner.type == "call_expression":
            return _call(source, inner, called, say)
        if not names or inner.type not in ("unary_expression", "parenthesized_expression"):
            return None
        star = bare(inner)
        call = None if star is None or star.type != "unary_expression" else bare(first(star))
        method = None if call is None else field(call, "function")
        pointer = None if method is None else bare(field(method, "value"))
        if call is None or pointer is None or source.text(pointer) not in names:
            return None
        index = bare(element_of(source, pointer))
        return None if index is None else source.text(pointer) + b"[" + say(index) + b" as usize]"

    body = field(node, "body")
    if own is None or body is None:
        return rewritten(source.data, node, rule)
    said = rewritten(source.data, body, rule)
    if own.gone:
        name, kind = own.function.parameters[own.length]
        measured = own.function.parameters[own.pointers[0]][0]
        said = (
            b"{\nlet "
            + name
            + b": "
            + kind
            + b" = "
            + measured
            + b".len() as "
            + kind
            + (b";")
            + said[1:]
        )
    parameters = []
    for at, (name, kind) in enumerate(own.function.parameters):
        if at in own.pointers:
            element = kind.split(b" ", 1)[1]
            head_of = b": &mut [" if at in own.written else b": &["
            parameters.append(name + head_of + element + b"]")
        elif at != own.length or not own.gone:
            parameters.append(b"mut " + name + b": " + kind)
    handed = _new_arguments(own, [name for name, _ in own.function.parameters])
    to_c = own.function.key[1].encode() + b"(" + b", ".join(handed) + b")"
    return (
        from_c(own.function, to_c)
        + head(source, own.function, parameters, own.function.result)
        + said
    )


def _call(source: Source, node: Node, own: _Slices, say: Say) -> bytes:
    function = field(node, "function")
    said = [say(argument) for argument in arguments_of(node)]
    name = b"" if function is None else source.text(function)
    return name + b"(" + b", ".join(_new_arguments(own, said)) + b")"


def _new_arguments(own: _Slices, said: list[bytes]) -> list[bytes]:
    """Arguments in the new form, from those in the old."""
    found = []
    for at, text in enumerate(said):
        if at in own.pointers:
            found.append(_slice(own, at, text, said[own.length]))
        elif at != own.length or not own.gone:
            found.append(text)
    return found


def _slice(own: _Slices, at: int, pointer: bytes, length: bytes) -> bytes:
    """Return a slice from pointer and length; of an array that is known to have so many, its
    part.
    """
    changing = at in own.written
    array, number = _ARRAY.match(pointer), LITERAL.match(length)
    if array is not None and number is not None:
        return (b"&mut " if changing else b"&") + array[1] + b"[.." + number[1] + b"]"
    maker = b"sys::elements_mut(" if changing else b"sys::elements("
    return maker + pointer + b", (" + length + b") as i64)"
