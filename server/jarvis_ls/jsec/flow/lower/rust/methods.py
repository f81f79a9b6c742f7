"""Methods of Rust's numbers, raw pointers, vectors, arrays and slices."""

from __future__ import annotations

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY, BOOL
from jarvis_ls.jsec.flow.ir.nodes import Expr
from jarvis_ls.jsec.flow.ir.rust_types import UNIT, USIZE, shape, width
from jarvis_ls.jsec.flow.ir.types import (
    Array,
    Derived,
    Integer,
    Option,
    Pointer,
    Slice,
    Type,
    Uninit,
    Vector,
    integer,
    pointer_to,
    reference_to,
    wrapped,
)
from jarvis_ls.jsec.flow.lower.rust.context import FunctionBuilder, Typed

_INT = integer(4, True)
_WRAPPING = {"add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "shl": "<<", "shr": ">>"}
_UNSURE = frozenset({"checked", "overflowing"})
_RESULTS = {
    "malloc": pointer_to(ANY),
    "calloc": pointer_to(ANY),
    "realloc": pointer_to(ANY),
    "free": UNIT,
    "strdup": pointer_to(integer(1, True)),
    "getenv": pointer_to(integer(1, True)),
}


class Methods:
    """Such methods in one function."""

    def __init__(self, body: FunctionBuilder) -> None:
        self.body = body

    def of_pointer(
        self,
        name: str,
        value: Expr,
        type_: Pointer,
        given: list[Node],
        generic: Type,
        span: nodes.Span,
    ) -> Typed:
        """Return a method of a raw pointer."""
        body = self.body
        target = type_.inner
        size = width(target)
        if name == "is_null":
            return nodes.Compare("==", value, nodes.Null(), pointer_to(ANY), (0, 0)), BOOL
        if name in ("cast", "cast_mut", "cast_const", "as_ptr", "byte_add"):
            if name == "byte_add":
                return nodes.Index(value, body.of.value(given[0], USIZE)[0], 1, (0, 0)), type_
            return value, pointer_to(generic if generic is not ANY or name == "cast" else target)
        if name in ("add", "offset", "sub", "wrapping_add", "wrapping_sub", "wrapping_offset"):
            number, _ = body.of.value(given[0] if given else None, USIZE)
            if name.endswith("sub"):
                number = nodes.Negate(number, integer(8, True), (0, 0))
            return nodes.Index(value, number, size, (0, 0)), type_
        if name in ("read", "read_unaligned", "read_volatile"):
            return body.load(value, target, span), target
        if name in ("write", "write_unaligned", "write_volatile", "replace"):
            held, _ = body.of.move(given[0], target) if given else (nodes.Unknown(ANY), ANY)
            body.store(value, held, target, span)
            return nodes.Const(0, _INT), UNIT
        if name in ("as_ref", "as_mut"):
            found: Type = wrapped(Option, reference_to(target))
            return body.call("@optional", [value], found, (0, 0), ((), 0, 0, 0)), found
        values = [body.of.move(argument, ANY)[0] for argument in given]
        copied = {
            "copy_to": (0, 1),
            "copy_to_nonoverlapping": (0, 1),
            "copy_from": (1, 0),
            "copy_from_nonoverlapping": (1, 0),
        }.get(name)
        if copied is not None:
            body.call("@copy", [value, *values], UNIT, span, (*copied, (), 0, size, 0))
            return nodes.Const(0, _INT), UNIT
        if name == "write_bytes":
            body.call("@set", [value, *values], UNIT, span, ((), 0, size, 0))
            return nodes.Const(0, _INT), UNIT
        if name == "drop_in_place":
            body.call("@drop in place", [value], UNIT, span, ((), 0, size, 0))
            return nodes.Const(0, _INT), UNIT
        return nodes.Unknown(ANY), ANY

    def of_number(
        self, name: str, address: Expr, type_: Type, given: list[Node], span: nodes.Span
    ) -> Typed:
        """Return a method of a number."""
        body = self.body
        value = body.load(address, type_)
        values = [body.of.value(argument, type_) for argument in given]
        other = body.of.as_type(values[0][0], values[0][1], type_) if values else None
        how, _, operation = name.partition("_")
        stored = shape(type_)
        if operation in _WRAPPING and other is not None and isinstance(stored, Integer):
            operator = _WRAPPING[operation]
            if operator in ("/", "%"):
                return nodes.Unknown(stored), wrapped(Option, type_) if how in _UNSURE else type_
            if how == "wrapping":
                return nodes.Binary(operator, value, other, stored, (0, 0)), type_
            if how == "checked":
                found: Type = wrapped(Option, type_)
                return body.call(
                    "@checked math", [value, other], found, (0, 0), (operator, stored)
                ), found
            if how == "saturating":
                return body.call(
                    "@saturated", [value, other], type_, (0, 0), (operator, stored)
                ), type_
        if name in ("min", "max") and other is not None and isinstance(stored, Integer):
            return body.call(f"@{name}", [value, other], type_, (0, 0)), type_
        if name == "clamp" and len(values) == 2 and isinstance(stored, Integer):
            low = body.call("@max", [value, other or value], type_, (0, 0))
            high = body.of.as_type(values[1][0], values[1][1], type_)
            return body.call("@min", [low, high], type_, (0, 0)), type_
        if name in ("clone", "to_owned", "swap_bytes", "to_be", "to_le", "abs", "pow"):
            return (
                (value, type_) if name in ("clone", "to_owned") else (nodes.Unknown(stored), type_)
            )
        if name in ("into", "try_into", "cmp", "partial_cmp", "to_string") or how in _UNSURE:
            return body.call("@mix", [value], ANY, (0, 0)), ANY
        return nodes.Unknown(ANY), ANY

    def of_elements(
        self, name: str, address: Expr, type_: Derived, given: list[Node], span: nodes.Span
    ) -> Typed | None:
        """Return a method of a vector, an array or a slice; None for others."""
        body = self.body
        element = type_.inner
        size = width(element)
        pointer, length = body.of.elements(address, type_)
        if name == "len":
            return length, USIZE
        if name == "is_empty":
            zero = nodes.Const(0, USIZE)
            return nodes.Compare("==", length, zero, USIZE, (0, 0)), BOOL
        if name in ("as_ptr", "as_mut_ptr", "as_ptr_range"):
            return pointer, pointer_to(element)
        if name in ("get_unchecked", "get_unchecked_mut") and given[0].type != "range_expression":
            at, _ = body.of.value(given[0], USIZE)
            return body.call(
                "@unchecked", [pointer, at, length], pointer_to(ANY), span, (size, name)
            ), reference_to(element)
        values = [body.of.move(argument, element) for argument in given]
        if name in ("as_slice", "as_mut_slice", "iter", "iter_mut", "as_ref", "as_mut"):
            found: Type = reference_to(wrapped(Slice, element))
            return body.call("@slice", [pointer, length], found, (0, 0)), found
        if name in ("first", "last", "get", "get_mut", "pop", "swap_remove", "remove"):
            if isinstance(type_, Vector) and name not in ("first", "last", "get", "get_mut"):
                body.call("@resized", [address], ANY, (0, 0))
            return body.call("@like", [address], ANY, (0, 0)), ANY
        if not isinstance(type_, Vector):
            if name in ("copy_from_slice", "fill", "clone_from_slice"):
                body.call("@fill all", [pointer, *(v for v, _ in values)], ANY, (0, 0))
                return nodes.Const(0, _INT), UNIT
            return None
        if name == "push" and values:
            body.call("@push", [address, values[0][0]], UNIT, (0, 0), (size,))
        elif name == "set_len" and values:
            body.call("@set length", [address, values[0][0]], UNIT, span, (size,))
        elif name in (
            "clear",
            "truncate",
            "resize",
            "extend",
            "extend_from_slice",
            "reserve",
            "append",
            "insert",
            "shrink_to_fit",
            "drain",
            "resize_with",
        ):
            args = [v for v, _ in values]
            body.call("@resized", [address, *args], ANY, (0, 0), (name, size))
        elif name == "capacity":
            return nodes.Unknown(USIZE), USIZE
        elif name == "clone":
            return body.call("@vector", [], type_, span, ((), 0, 0, 0)), type_
        elif name in ("into_boxed_slice", "leak", "into_iter"):
            body.call("@escape", [pointer], ANY, (0, 0))
            body.mark_moved(address, type_)
            return nodes.Unknown(ANY), ANY
        else:
            return None
        return nodes.Const(0, _INT), UNIT

    def of_uninit(
        self,
        name: str,
        address: Expr,
        type_: Uninit,
        given: list[Node],
        wanted: Type,
        span: nodes.Span,
    ) -> Typed | None:
        """Return a method of `MaybeUninit`; None for others."""
        body = self.body
        inner = wanted if type_.inner is ANY else type_.inner
        if name in ("as_mut_ptr", "as_ptr"):
            body.of.borrow(address)
            return address, pointer_to(inner)
        if name == "write" and given:
            value, _ = body.of.move(given[0], inner)
            body.store(address, value, inner)
            return address, reference_to(inner)
        if name in ("assume_init", "assume_init_read", "assume_init_ref", "assume_init_mut"):
            element = inner.inner if isinstance(inner, Array) else inner
            if isinstance(element, Uninit) or element is ANY:  # of what needs no value itself
                return nodes.Unknown(ANY), inner
            found = body.call("@assume", [address], inner, span)
            referred = name.endswith(("ref", "mut"))
            return (address, reference_to(inner)) if referred else (found, inner)
        return None
