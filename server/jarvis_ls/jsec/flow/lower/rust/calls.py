"""Calls of Rust functions and methods."""

from __future__ import annotations

from typing import Any

from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY, BOOL
from jarvis_ls.jsec.flow.ir.instructions import CallFunction, SetTemp, Stop
from jarvis_ls.jsec.flow.ir.nodes import Expr
from jarvis_ls.jsec.flow.ir.rust_types import (
    FIRST,
    HELD,
    NAMED,
    NEVER,
    NUMBERS,
    STRING,
    UNIT,
    WANTED,
    inner_of,
    is_pointer,
    is_scalar,
    shape,
    width,
)
from jarvis_ls.jsec.flow.ir.types import (
    Adt,
    Array,
    Box,
    Derived,
    Float,
    Integer,
    Option,
    Pointer,
    Reference,
    Result,
    Slice,
    Type,
    Uninit,
    Vector,
    adt,
    integer,
    pointer_to,
    reference_to,
    wrapped,
)
from jarvis_ls.jsec.flow.library.rust_functions import FUNCTIONS, METHODS, TESTS, Entry
from jarvis_ls.jsec.flow.lower.rust.context import FunctionBuilder, Signature, Typed
from jarvis_ls.jsec.flow.lower.rust.methods import Methods

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


class Calls:
    """The calls of one function."""

    def __init__(self, body: FunctionBuilder) -> None:
        self.body = body
        self.methods = Methods(body)

    def value(self, node: Node, wanted: Type) -> Typed:
        """Return the value of a call."""
        called = node.child_by_field_name("function")
        listed = node.child_by_field_name("arguments")
        given = [
            c
            for c in (listed.named_children if listed is not None else ())
            if "comment" not in c.type and c.type != "attribute_item"
        ]
        generic: Type = ANY
        if called is not None and called.type == "generic_function":
            types = called.child_by_field_name("type_arguments")
            if types is not None and types.named_child_count:
                generic = self.body.types.of(types.named_children[0], self.body.record)
            called = called.child_by_field_name("function")
        if called is None:
            return nodes.Unknown(ANY), ANY
        if called.type == "field_expression":
            return self._method(node, called, given, generic, wanted)
        inner = called
        while inner.type == "parenthesized_expression" and inner.named_child_count:
            inner = inner.named_children[0]
        if inner.type == "closure_expression":
            values = [self.body.of.move(argument, ANY) for argument in given]
            return self.body.control.inline(inner, values)
        if called.type in ("identifier", "scoped_identifier"):
            return self._call_by_name(node, called, given, generic, wanted)
        self.body.of.value(called)
        self._arguments(given, ())
        return nodes.Unknown(ANY), ANY

    def _call_by_name(
        self, node: Node, called: Node, given: list[Node], generic: Type, wanted: Type
    ) -> Typed:
        body = self.body
        path = called.child_by_field_name("path")
        if path is not None and path.type in ("generic_type", "bracketed_type"):
            listed = path.child_by_field_name("type_arguments")
            if listed is not None and listed.named_child_count:
                generic = body.types.of(listed.named_children[0], body.record)
            path = path.child_by_field_name("type")
        owner = text(path).rpartition("::")[2].partition("<")[0]
        name = text(called.child_by_field_name("name")) if path is not None else text(called)
        owner = body.record if owner == "Self" else owner
        if path is None and body.scopes.find(name) is not None:  # a closure
            self._arguments(given, ())
            return nodes.Unknown(ANY), ANY
        span = body.span(node)
        full = f"{owner}::{name}" if owner[:1].isupper() else name
        signature = body.outer.signatures.get(full)
        foreign = name in body.outer.foreign and not owner[:1].isupper()
        if foreign or owner == "libc":
            return self._foreign(name, given, wanted, span)
        if signature is None and self._is_made(name, owner):
            return self._variant(name, owner, given, wanted)
        entry = (
            None if signature is not None else FUNCTIONS.get(f"{owner}::{name}" if owner else name)
        )
        if entry is not None:
            hint = generic if generic is not ANY else ANY
            moved = [body.of.move(argument, ANY) for argument in given]
            return self.call_library(entry, moved, hint, wanted, span)
        if signature is None and owner in NUMBERS and name in ("from", "try_from"):
            return self._conversion(given, NUMBERS[owner], name)
        if full in body.outer.several:
            self._arguments(given, ())
            return nodes.Unknown(ANY), ANY
        values = self._arguments(given, signature)
        result = signature.result if signature is not None else wanted
        found = body.function(full, values, result if signature is not None else ANY, span)
        if result is NEVER and signature is not None:
            body.blocks.end(Stop())
        return found, result

    def _is_made(self, name: str, owner: str) -> bool:
        """Return whether a name is that of a variant or struct that is put together: functions of C
        may begin with a capital too, as in `ffi::SHA1_Init(p)`.
        """
        if not name[:1].isupper() or name.isupper():
            return False
        of_module = bool(owner) and not owner[:1].isupper()
        return name in self.body.outer.structs or not ("_" in name or of_module)

    def _arguments(self, given: list[Node], signature: Signature | tuple[()] | None) -> list[Expr]:
        wanted = signature.params if signature else ()
        if signature and signature.has_self and len(given) == len(wanted) + 1:
            wanted = (ANY, *wanted)
        found = []
        for index, argument in enumerate(given):
            hint = wanted[index] if index < len(wanted) else ANY
            value, type_ = self.body.of.move(argument, hint)
            found.append(self.body.of.coerce(value, type_, hint))
        return found

    def _foreign(self, name: str, given: list[Node], wanted: Type, span: nodes.Span) -> Typed:
        """Return a function of C, which may be one of this program."""
        body = self.body
        values = [body.of.move(argument, ANY) for argument in given]
        signature = body.outer.signatures.get(name)
        result = signature.result if signature is not None else _RESULTS.get(name, wanted)
        temp = body.blocks.temp()
        body.calls.add(name)
        body.blocks.add(
            CallFunction(
                temp,
                name,
                tuple(value for value, _ in values),
                shape(result),
                span,
                tuple(shape(type_) for _, type_ in values),
            )
        )
        return nodes.Temp(temp), result

    def _variant(self, name: str, owner: str, given: list[Node], wanted: Type) -> Typed:
        values = []
        type_: Type = adt(owner if owner[:1].isupper() else name)
        hint = inner_of(wanted) if name in ("Some", "Ok") else ANY
        plain = name in self.body.outer.structs
        for index, argument in enumerate(given):
            expected = self.body.outer.member(name, str(index)) if plain else hint
            value, found = self.body.of.move(argument, expected)
            values.append((str(index), self.body.of.coerce(value, found, expected)))
            if name in ("Some", "Ok"):
                held = expected if expected is not ANY else found
                type_ = wrapped(Option if name == "Some" else Result, held)
        if name == "Err":
            type_ = wanted if isinstance(wanted, Result) else wrapped(Result, ANY)
        return self.body.of.values.make("" if plain else name, values, type_)

    def _conversion(self, given: list[Node], to: Type, name: str) -> Typed:
        value, from_ = self.body.of.value(given[0] if given else None)
        if name == "from":
            return self.body.of.as_type(value, from_, to), to
        found: Type = wrapped(Result, to)
        return self.body.call("@fitting", [value], found, (0, 0), (shape(to),)), found

    def call_library(
        self, entry: Entry, values: list[Typed], generic: Type, wanted: Type, span: nodes.Span
    ) -> Typed:
        """Return a function of the library."""
        types = [type_ for _, type_ in values]
        result = resolve(entry[0], types, generic, wanted)
        extra = (
            *entry[2:],
            tuple(shape(t) for t in types),
            width(inner_of(result)),
            width(inner_of(types[0])) if types else 0,
            width(generic),
        )
        found = self.body.call(entry[1], [value for value, _ in values], result, span, extra)
        if entry[1] == "@stop":
            self.body.blocks.end(Stop())
            return found, NEVER
        return found, result

    # methods

    def _method(
        self, node: Node, called: Node, given: list[Node], generic: Type, wanted: Type
    ) -> Typed:
        body = self.body
        receiver = called.child_by_field_name("value")
        name = text(called.child_by_field_name("field"))
        span = body.span(node)
        if receiver is None:
            return nodes.Unknown(ANY), ANY
        at, type_ = body.of.passing(receiver, wanted if name in ("unwrap", "expect") else ANY)
        body.of.borrow(at)
        if not body.blocks.live:
            return nodes.Unknown(ANY), NEVER
        while isinstance(type_, Reference) and is_pointer(type_.inner):
            at, type_ = body.load(at, type_), type_.inner
        owner = type_
        if isinstance(type_, Pointer):
            return self.methods.of_pointer(name, body.load(at, type_), type_, given, generic, span)
        if isinstance(type_, Box) and name in ("into_raw", "as_ptr"):
            return self._of_box(name, at, type_)
        address, owner = body.of.dereference(at, type_)
        known = self._own(owner, name)
        if known is not None:
            return self._enter(known, address, given, span)
        found = self._of_value(name, address, owner, given, wanted, span)
        if found is not None:
            return found
        return self._of_library(name, address, owner, given, generic, wanted, span)

    def _own(self, type_: Type, name: str) -> str | None:
        """Return the full name of a method that this program defines."""
        outer = self.body.outer
        if isinstance(type_, Adt):
            full = f"{type_.name}::{name}"
            if full in outer.several:
                return None
            return full if full in outer.signatures or name not in METHODS else None
        owners = outer.methods.get(name, set())
        if type_ is ANY and len(owners) == 1 and name not in METHODS and name not in TESTS:
            full = f"{next(iter(owners))}::{name}"
            return None if full in outer.several else full
        return None

    def _enter(self, full: str, address: Expr, given: list[Node], span: nodes.Span) -> Typed:
        signature = self.body.outer.signatures.get(full)
        values = self._arguments(given, signature)
        result = signature.result if signature is not None else ANY
        return self.body.function(full, [address, *values], result, span), result

    def _of_box(self, name: str, at: Expr, type_: Box) -> Typed:
        body = self.body
        value = body.load(at, type_)
        if name == "as_ptr":
            return value, pointer_to(type_.inner)
        temp = body.blocks.temp()
        body.blocks.add(SetTemp(temp, value))
        body.passing = [place for place in body.passing if place != at]
        body.mark_moved(at, type_)
        return body.call(
            "@release", [nodes.Temp(temp)], pointer_to(type_.inner), (0, 0)
        ), pointer_to(type_.inner)

    def _of_value(
        self,
        name: str,
        address: Expr,
        type_: Type,
        given: list[Node],
        wanted: Type,
        span: nodes.Span,
    ) -> Typed | None:
        """Return a method of numbers, vectors, arrays and such; None for any other."""
        if isinstance(type_, (Integer, Float)):
            return self.methods.of_number(name, address, type_, given, span)
        if name in TESTS and (isinstance(type_, (Option, Result)) or type_ is ANY):
            tag = nodes.Load(nodes.Field(address, 0, _INT), _INT, (0, 0))
            operator = "==" if name in ("is_some", "is_ok") else "!="
            true = nodes.Const(1, _INT)
            return nodes.Compare(operator, tag, true, _INT, (0, 0)), BOOL
        if isinstance(type_, (Vector, Slice, Array)):
            return self.methods.of_elements(name, address, type_, given, span)
        if isinstance(type_, Uninit):
            return self.methods.of_uninit(name, address, type_, given, wanted, span)
        if name == "clone":
            return self.body.call("@whole", [address], type_, (0, 0)), type_
        if isinstance(type_, (Option, Result)) and name in ("as_ref", "as_mut"):
            return self.body.call("@unknown", [], ANY, (0, 0)), ANY
        if isinstance(type_, Option) and name in ("take", "replace"):
            return self.body.call("@takes", [address], type_, (0, 0)), type_
        return None

    def _of_library(
        self,
        name: str,
        address: Expr,
        type_: Type,
        given: list[Node],
        generic: Type,
        wanted: Type,
        span: nodes.Span,
    ) -> Typed:
        body = self.body
        entry: Any = METHODS.get(name)
        if entry is not None and name in ("push", "extend") and type_ not in (STRING, ANY):
            entry = None
        values = [body.of.move(argument, ANY) for argument in given]
        if entry is None:
            args = [address, *(value for value, _ in values)]
            return body.call("@unseen", args, ANY, span, (name,)), ANY
        hint = generic
        if hint is ANY and name == "parse":
            hint = wanted.inner if isinstance(wanted, (Result, Option)) else wanted
        receiver: Typed = (address, type_)
        found, result = self.call_library(
            (
                *entry[:2],
                *(str(part).format(name) if isinstance(part, str) else part for part in entry[2:]),
            ),
            [receiver, *values],
            hint,
            wanted,
            span,
        )
        if name in ("unwrap", "expect", "unwrap_unchecked") and is_scalar(type_) is False:
            body.mark_moved(address, type_)
            body.passing = [place for place in body.passing if place != address]
        return found, result


def resolve(spec: Type, types: list[Type], generic: Type, wanted: Type) -> Type:
    """Return a result of the table with types in the places that represent them."""
    if spec is FIRST:
        return types[0] if types else ANY
    if spec is HELD:
        return inner_of(types[0]) if types else ANY
    if spec is NAMED:
        return inner_of(wanted) if generic is ANY else generic
    if spec is WANTED:
        return wanted
    if not isinstance(spec, Derived) or isinstance(spec, Array):
        return spec
    inner = resolve(spec.inner, types, generic, wanted)
    if isinstance(spec, Pointer):
        return pointer_to(inner)
    return reference_to(inner) if isinstance(spec, Reference) else wrapped(type(spec), inner)
