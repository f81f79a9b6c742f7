"""Calls in inner functions: of other inner ones, and of what copies memory in the C library."""

from __future__ import annotations

import re
from typing import Protocol

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jc2r.lift.layer_plan import Kind, Layer, Parameter, Refused
from jarvis_ls.jc2r.lift.pointer_regions import SIZES, Regions, is_null_value, is_star
from jarvis_ls.jc2r.lift.program import LITERAL, Key, arguments_of
from jarvis_ls.jc2r.lift.rust import Say, Source, bare, below, field, first

_ZERO = re.compile(rb"0(?:[iu]\w+)?\Z")


class Rewriter(Protocol):
    """What rewrites the function around a call."""

    source: Source
    regions: Regions
    converts: bool
    """Whether it rewrites more than calls."""
    references: dict[bytes, Parameter]
    raw_calls: set[Key]
    written: set[bytes]

    def element(self, root: bytes) -> bytes:
        """Return the type of the elements of a region."""

    def subscript(self, pointer: Node, say: Say) -> bytes:
        """Return the index of an element, as a `usize`."""

    def shown(self, name: bytes) -> bytes:
        """Return a reference that is there."""

    def mark(self, place: Node) -> None:
        """Note that a place is written to."""

    def mark_root(self, root: bytes) -> None:
        """Note that a region is written to."""

    def is_cell(self, root: bytes) -> bool:
        """Return whether the elements of a region are cells."""


def memory_call(text: Rewriter, call: Node, say: Say) -> bytes | None:
    """Return `memcpy` and the like, as a statement, on slices."""
    name, arguments = _words(text, field(call, "function")), arguments_of(call)
    if len(arguments) != 3 or name not in (b"sys::memcpy", b"sys::memmove", b"sys::memset"):
        return None
    to = text.regions.spot(arguments[0])
    if to is None:
        return _cleared(text, arguments) if name == b"sys::memset" else None
    count = _count_said(text, arguments[2], say)
    if SIZES.get(text.element(to.root)) != 1:
        return _wide_call(text, name, arguments, say)
    text.mark_root(to.root)
    begin = text.subscript(arguments[0], say)
    part = to.root + (b"" if begin == b"0" else b"[" + begin + b"..]") + b"[.." + count + b"]"
    cell = text.is_cell(to.root)
    if name == b"sys::memset":
        value = b"(" + say(arguments[1]) + b") as " + text.element(to.root)
        if cell:
            return b"for __to in &" + part + b" { __to.set(" + value + b"); }"
        return part + b".fill(" + value + b");"
    source = text.regions.spot(arguments[1])
    if source is None:
        raise Refused(to.root)
    if text.element(source.root) != text.element(to.root):
        return _converting_copy(text, arguments, say)
    start = text.subscript(arguments[1], say)
    if source.root == to.root and not cell:
        return (
            b"{ let (__to, __from) = ("
            + begin
            + b", "
            + start
            + b"); "
            + to.root
            + b".copy_within(__from..__from.wrapping_add("
            + count
            + b"), __to); }"
        )
    other = source.root + b"[" + start + b"..][.." + count + b"]"
    if not cell and not text.is_cell(source.root):
        return part + b".copy_from_slice(&" + other + b");"
    if not cell or not text.is_cell(source.root) or name == b"sys::memmove":
        raise Refused(to.root)  # of the two, which comes first matters
    loop = b"for (__to, __from) in " + part + b".iter().zip(&" + other + b") "
    return loop + b"{ __to.set(__from.get()); }"


def _cleared(text: Rewriter, arguments: list[Node]) -> bytes | None:
    """Return `memset` of all that a reference shows to zero; None when it is something else."""
    pointer = bare(arguments[0])
    while pointer is not None and pointer.type == "type_cast_expression":
        pointer = bare(field(pointer, "value"))
    name = b"" if pointer is None else _words(text, pointer)
    parameter, size = text.references.get(name), text.regions.number(arguments[2])
    zero = _ZERO.match(_words(text, bare(arguments[1])))
    if parameter is None or parameter.cell or size is None or not zero:
        return None
    text.written.add(name)
    kind = parameter.element
    sure = b"const { assert!(core::mem::size_of::<%b>() == %d) };" % (kind, size)
    made = b"unsafe { core::mem::zeroed::<%b>() }" % kind
    return sure + b" *" + text.shown(name) + b" = " + made + b";"


def _wide_call(text: Rewriter, name: bytes, arguments: list[Node], say: Say) -> bytes | None:
    """Return `memcpy` or `memset` on elements of more than a byte; None when it is neither."""
    to = text.regions.spot(arguments[0])
    assert to is not None
    if name != b"sys::memset":
        return _converting_copy(text, arguments, say)
    value = _words(text, bare(arguments[1]))
    if text.is_cell(to.root) or not _ZERO.match(value):
        raise Refused(to.root)
    zero = b"0.0" if text.element(to.root).startswith(b"f") else b"0"
    text.mark_root(to.root)
    return _part(text, arguments[0], arguments[2], say) + b".fill(" + zero + b");"


def _converting_copy(text: Rewriter, arguments: list[Node], say: Say) -> bytes:
    """Return `memcpy` between two arrays of numbers, where one of them may be of bytes. Raises
    `Refused`."""
    to, source = text.regions.spot(arguments[0]), text.regions.spot(arguments[1])
    assert to is not None
    if source is None or source.root == to.root:
        raise Refused(to.root)
    kind, other = text.element(to.root), text.element(source.root)
    if text.is_cell(to.root) or text.is_cell(source.root):
        raise Refused(to.root if text.is_cell(to.root) else source.root)
    text.mark_root(to.root)
    part = _part(text, arguments[0], arguments[2], say)
    taken = _part(text, arguments[1], arguments[2], say)
    if kind == other:
        return part + b".copy_from_slice(&" + taken + b");"
    if SIZES[kind] == SIZES[other] and b"f" not in kind[:1] + other[:1]:
        loop = b"for (__to, __from) in " + part + b".iter_mut().zip(&" + taken + b") "
        return loop + b"{ *__to = *__from as " + kind + b"; }"
    if other == b"u8":
        loop = b"for (__to, __from) in %b.iter_mut().zip(%b.chunks_exact(%d)) " % (
            part,
            taken,
            SIZES[kind],
        )
        return loop + b"{ *__to = %b::from_ne_bytes(__from.try_into().unwrap()); }" % kind
    if kind == b"u8":
        loop = b"for (__to, __from) in %b.chunks_exact_mut(%d).zip(&%b) " % (
            part,
            SIZES[other],
            taken,
        )
        return loop + b"{ __to.copy_from_slice(&__from.to_ne_bytes()); }"
    raise Refused(to.root)


def _count_said(text: Rewriter, count: Node, say: Say) -> bytes:
    """Return a number of elements, as a `usize`."""
    number = LITERAL.match(_words(text, bare(count)))
    return number[1] if number is not None else b"(" + say(count) + b") as usize"


def _part(text: Rewriter, pointer: Node, count: Node, say: Say) -> bytes:
    """Return the elements from a pointer on that are so many bytes. Raises `Refused`."""
    spot = text.regions.spot(pointer)
    assert spot is not None
    size = SIZES.get(text.element(spot.root), 0)
    begin = text.subscript(pointer, say)
    part = spot.root + (b"" if begin == b"0" else b"[" + begin + b"..]")
    if size == 1:
        return part + b"[.." + _count_said(text, count, say) + b"]"
    number = text.regions.number(count)
    if not size or number is None or number % size:
        raise Refused(spot.root)
    return part + b"[..%d]" % (number // size)


def inner_call(text: Rewriter, called: Layer, node: Node, say: Say) -> bytes | None:
    """Return a call of the inner function; None when an argument is only a raw pointer."""
    arguments = arguments_of(node)
    if len(arguments) != len(called.parameters):
        return None
    said: list[bytes] = []
    for place, (parameter, argument) in enumerate(zip(called.parameters, arguments, strict=True)):
        if parameter.kind is Kind.RAW:
            if place not in called.gone:
                said.append(say(argument))
            continue
        lent = _lend(text, called, parameter, argument, arguments, say)
        if not lent:
            text.raw_calls.add(called.key)
            return None
        said.append(lent)
    path = _words(text, field(node, "function")).rpartition(b"::")
    return path[0] + path[1] + called.name + b"(" + b", ".join(said) + b")"


def _lend(
    text: Rewriter,
    called: Layer,
    parameter: Parameter,
    argument: Node,
    arguments: list[Node],
    say: Say,
) -> bytes:
    """Return what is handed over for a reference or slice; empty when it has no such form."""
    if parameter.kind is Kind.VECTOR:
        return b""  # where C hands over memory of unknown length
    if is_null_value(text.source, argument):
        return b"None" if parameter.optional else b""
    lent = (
        _lent_slice(text, called, parameter, argument, arguments, say)
        if parameter.kind is Kind.SLICE
        else _lent_reference(text, parameter, argument, say)
    )
    if not lent or not parameter.optional:
        return lent
    return lent if lent.startswith(b"None") else b"Some(" + lent + b")"


def _lent_reference(text: Rewriter, parameter: Parameter, argument: Node, say: Say) -> bytes:
    inner = bare(argument)
    head = b"&mut " if parameter.written and not parameter.cell else b"&"
    if inner is None:
        return b""
    if inner.type == "identifier":
        return _lent_name(text, parameter, inner, head)
    spot = text.regions.spot(inner) if text.converts else None
    if spot is not None:
        if text.is_cell(spot.root) != parameter.cell or (
            text.element(spot.root) != parameter.element
        ):
            return b""
        if parameter.written:
            text.mark_root(spot.root)
        return head + spot.root + b"[" + text.subscript(inner, say) + b"]"
    while inner is not None and inner.type == "type_cast_expression":
        inner = bare(field(inner, "value"))
    place = None
    if inner is not None and inner.type == "reference_expression":
        place = bare(field(inner, "value"))
    if place is None or _leads_through_pointer(text, place):
        return b""
    if parameter.written:
        text.mark(place)
    if parameter.cell:
        text.mark(place)
        return b"core::cell::Cell::from_mut(&mut " + say(place) + b")"
    return head + say(place)


def _lent_name(text: Rewriter, parameter: Parameter, name: Node, head: bytes) -> bytes:
    word = _words(text, name)
    own = text.references.get(word)
    if own is not None:
        if own.cell != parameter.cell or own.element != parameter.element:
            return b""
        if parameter.written:
            text.written.add(word)
        return (head + b"*" if head == b"&mut " else b"") + text.shown(word)
    declared = text.regions.declaration(name)
    kind = None if declared is None else field(declared, "type")
    if kind is None or kind.type != "reference_type" or parameter.cell:
        return b""
    if head == b"&mut " and not _words(text, kind).startswith(b"&mut "):
        return b""
    return head + b"*" + word


def _lent_slice(
    text: Rewriter,
    called: Layer,
    parameter: Parameter,
    argument: Node,
    arguments: list[Node],
    say: Say,
) -> bytes:
    spot = text.regions.spot(argument) if text.converts else None
    if spot is None or text.element(spot.root) != parameter.element:
        return b""
    cell = text.is_cell(spot.root)
    if cell and not parameter.cell:
        return b""
    if parameter.written or parameter.cell:
        text.mark_root(spot.root)
    begin = text.subscript(argument, say)
    part = spot.root + b"[" + (b"" if begin == b"0" else begin) + b"..]"
    if parameter.length in called.gone:
        part += b"[.." + _count_said(text, arguments[parameter.length], say) + b"]"
    if parameter.cell and not cell:
        return b"core::cell::Cell::from_mut(&mut " + part + b").as_slice_of_cells()"
    return (b"&mut " if parameter.written and not parameter.cell else b"&") + part


def _leads_through_pointer(text: Rewriter, place: Node) -> bool:
    """Return whether a place is behind a raw pointer that stays one."""
    for star in below(place, "unary_expression"):
        if not is_star(star):
            continue
        name = _words(text, bare(first(star)))
        spot = text.regions.spot(first(star)) if text.converts else None
        if spot is None and name not in text.references:
            return True
    return False


def _words(text: Rewriter, node: Node | None) -> bytes:
    return b"" if node is None else text.source.text(node)
