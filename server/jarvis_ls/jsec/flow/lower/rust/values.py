"""Rust expressions that make a value: literals, and what has members."""

from __future__ import annotations

from typing import Final

from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY, BOOL, DOUBLE, UINT
from jarvis_ls.jsec.flow.ir.nodes import Expr
from jarvis_ls.jsec.flow.ir.rust_types import (
    LITERAL,
    NUMBERS,
    TEXT,
    USIZE,
    inner_of,
    join_types,
    place_of,
    shape,
    tag_of,
    width,
)
from jarvis_ls.jsec.flow.ir.types import (
    Float,
    Integer,
    Tuple,
    Type,
    adt,
    array_of,
    integer,
    opaque,
    reference_to,
    tuple_of,
)
from jarvis_ls.jsec.flow.lower.c.literals import unescape
from jarvis_ls.jsec.flow.lower.rust.context import FunctionBuilder, Typed, ValueLowering

_COMPARES = frozenset({"==", "!=", "<", ">", "<=", ">="})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"})
_INT = integer(4, True)


_RANGE: Final = opaque("range")


class Values(ValueLowering):
    """What makes values in one function."""

    def __init__(self, body: FunctionBuilder) -> None:
        self.body = body

    def integer(self, node: Node, wanted: Type) -> Typed:
        """Return a whole number."""
        written = text(node).replace("_", "")
        type_: Type = LITERAL
        for name in (
            "usize",
            "isize",
            "u128",
            "i128",
            "u64",
            "i64",
            "u32",
            "i32",
            "u16",
            "i16",
            "u8",
            "i8",
        ):
            if written.endswith(name) and not written.startswith("0x" + name):
                written, type_ = written.removesuffix(name), NUMBERS[name]
                break
        else:
            if isinstance(wanted, (Integer, Float)):
                type_ = wanted
        try:
            return nodes.Const(
                int(written, 0 if written[1:2] in "xob" else 10),
                shape(type_),
            ), type_
        except ValueError:
            return nodes.Unknown(shape(type_)), type_

    def floating(self, node: Node, wanted: Type) -> Typed:
        """Return a number with a fraction."""
        written = text(node).replace("_", "").removesuffix("f64").removesuffix("f32")
        try:
            return nodes.Const(float(written), DOUBLE), DOUBLE
        except ValueError:
            return nodes.Unknown(DOUBLE), DOUBLE

    def boolean(self, node: Node, wanted: Type) -> Typed:
        """Return `true` or `false`."""
        return nodes.Const(int(text(node) == "true"), BOOL), BOOL

    def character(self, node: Node, wanted: Type) -> Typed:
        """Return a character, or a byte."""
        inner = text(node)
        type_ = NUMBERS["u8"] if inner.startswith("b") else UINT
        data = unescape(inner[inner.find("'") + 1 : -1])
        return nodes.Const(data[0], type_) if len(data) == 1 else nodes.Unknown(type_), type_

    def string(self, node: Node, wanted: Type) -> Typed:
        """Return a text, or bytes."""
        written = text(node)
        start = written.find('"')
        raw = "r" in written[:start]
        inner = written[start + 1 : written.rfind('"')]
        data = inner.encode() if raw else unescape(inner)
        expr = nodes.StringLiteral(data, 1)
        if not written.startswith(("b", "br")):
            return expr, TEXT
        return expr, reference_to(array_of(NUMBERS["u8"], len(data)))

    def tuple_value(self, node: Node, wanted: Type) -> Typed:
        """Return a tuple."""
        hints = wanted.members if isinstance(wanted, Tuple) else ()
        found = [
            self.body.of.move(child, hints[i] if i < len(hints) else ANY)
            for i, child in enumerate(node.named_children)
        ]
        type_: Type = tuple_of(tuple(member_type for _, member_type in found))
        return self.make("", [(str(i), value) for i, (value, _) in enumerate(found)], type_)

    def struct(self, node: Node, wanted: Type) -> Typed:
        """Return a struct, or a variant with named members."""
        named = text(node.child_by_field_name("name")).rpartition("::")
        name = self.body.record if named[2] == "Self" else named[2].partition("<")[0]
        is_variant = bool(named[0]) and named[0].rpartition("::")[2][:1].isupper()
        owner = named[0].rpartition("::")[2] if is_variant else name
        owner = self.body.record if owner == "Self" else owner
        members: list[tuple[str, Expr]] = []
        listed = node.child_by_field_name("body")
        based = False
        for child in listed.named_children if listed is not None else ():
            if child.type == "shorthand_field_initializer":
                member, inner = text(child.named_children[-1]), child.named_children[-1]
            elif child.type == "field_initializer":
                member = text(child.child_by_field_name("field"))
                inner = child.child_by_field_name("value") or child
            else:
                based = based or child.type == "base_field_initializer"
                continue
            hint = ANY if is_variant else self.body.outer.member(owner, member)
            value, type_ = self.body.of.move(inner, hint)
            members.append((member, self.body.of.coerce(value, type_, hint)))
        if based:
            members.append(("", nodes.Unknown(ANY)))
        return self.make(name if is_variant else "", members, adt(owner))

    def array(self, node: Node, wanted: Type) -> Typed:
        """Return an array."""
        element = inner_of(wanted)
        length = node.child_by_field_name("length")
        parts = [c for c in node.named_children if c != length and "comment" not in c.type]
        if length is not None:
            value, type_ = self.body.of.value(parts[0] if parts else None, element)
            count = self.body.types.constant(text(length))
            if count is None:
                self.body.of.value(length, USIZE)
                return nodes.Unknown(ANY), ANY
            found: Type = array_of(join_types(element, type_), count)
            return self.body.call("@fill", [value], found, (0, 0)), found
        values = [self.body.of.move(part, element) for part in parts]
        inner = join_types(element, values[0][1]) if values else element
        found = array_of(inner, len(values))
        size = width(inner)
        if not size:
            return self.body.call("@mix", [v for v, _ in values], found, (0, 0)), found
        extra = tuple(size * index for index in range(len(values)))
        args = [self.body.of.as_type(value, value_type, inner) for value, value_type in values]
        return self.body.call("@make", args, found, (0, 0), extra), found

    def range_value(self, node: Node, wanted: Type) -> Typed:
        """Return a range: of its ends only the effects count."""
        for part in node.named_children:
            self.body.of.value(part)
        return nodes.Unknown(ANY), _RANGE

    def make(self, variant: str, members: list[tuple[str, Expr]], type_: Type) -> Typed:
        """Return a value with members, by name."""
        tag = nodes.Const(tag_of(variant), _INT)
        extra = (0, *(place_of(name) for name, _ in members))
        args = [tag, *(value for _, value in members)]
        return self.body.call("@make", args, type_, (0, 0), extra), type_
