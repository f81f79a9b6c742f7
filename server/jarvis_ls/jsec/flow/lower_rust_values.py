"""Rust expressions that make a value: literals, and what has members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jarvis_ls.codeintel.code import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow import ir
from jarvis_ls.jsec.flow.ir import Expr, Type
from jarvis_ls.jsec.flow.numbers import unescape
from jarvis_ls.jsec.flow.rust_types import (
    LITERAL,
    NUMBERS,
    TEXT,
    USIZE,
    inner_of,
    joined,
    place_of,
    shape,
    tag_of,
    width,
)  # fmt: skip
from jarvis_ls.jsec.flow.types import ANY, BOOL, DOUBLE, UINT

if TYPE_CHECKING:
    from jarvis_ls.jsec.flow.lower_rust_body import Body, Typed

_COMPARES = frozenset({"==", "!=", "<", ">", "<=", ">="})
_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"})
_INT = ("i", 4, True)


class Values:
    """What makes values in one function."""

    def __init__(self, body: Body) -> None:
        self.body = body

    def integer(self, node: Node, wanted: Type) -> Typed:
        """A whole number."""
        written = text(node).replace("_", "")
        type_ = LITERAL
        for name in ("usize", "isize", "u128", "i128", "u64", "i64", "u32", "i32", "u16", "i16",
                     "u8", "i8"):  # fmt: skip
            if written.endswith(name) and not written.startswith("0x" + name):
                written, type_ = written.removesuffix(name), NUMBERS[name]
                break
        else:
            if wanted[0] in ("i", "f"):
                type_ = wanted
        try:
            return (ir.CONST, int(written, 0 if written[1:2] in "xob" else 10), shape(type_)), type_
        except ValueError:
            return (ir.UNKNOWN, shape(type_)), type_

    def floating(self, node: Node, wanted: Type) -> Typed:
        """A number with a fraction."""
        written = text(node).replace("_", "").removesuffix("f64").removesuffix("f32")
        try:
            return (ir.CONST, float(written), DOUBLE), DOUBLE
        except ValueError:
            return (ir.UNKNOWN, DOUBLE), DOUBLE

    def boolean(self, node: Node, wanted: Type) -> Typed:
        """`true` or `false`."""
        return (ir.CONST, int(text(node) == "true"), BOOL), BOOL

    def character(self, node: Node, wanted: Type) -> Typed:
        """A character, or a byte."""
        inner = text(node)
        type_ = NUMBERS["u8"] if inner.startswith("b") else UINT
        data = unescape(inner[inner.find("'") + 1 : -1])
        return (ir.CONST, data[0], type_) if len(data) == 1 else (ir.UNKNOWN, type_), type_

    def string(self, node: Node, wanted: Type) -> Typed:
        """A text, or bytes."""
        written = text(node)
        start = written.find('"')
        raw = "r" in written[:start]
        inner = written[start + 1 : written.rfind('"')]
        data = inner.encode() if raw else unescape(inner)
        expr = (ir.STR, data, 1)
        if not written.startswith(("b", "br")):
            return expr, TEXT
        return expr, ("&", ("a", NUMBERS["u8"], len(data)))

    def tupled(self, node: Node, wanted: Type) -> Typed:
        """A tuple."""
        hints = wanted[1] if wanted[0] == "tup" else ()
        found = [self.body.of.moved(child, hints[i] if i < len(hints) else ANY)
                 for i, child in enumerate(node.named_children)]  # fmt: skip
        type_: Type = ("tup", tuple(one for _, one in found))
        return self.made("", [(str(i), value) for i, (value, _) in enumerate(found)], type_)

    def struct(self, node: Node, wanted: Type) -> Typed:
        """A struct, or a variant with named members."""
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
            value, type_ = self.body.of.moved(inner, hint)
            members.append((member, self.body.of.coerced(value, type_, hint)))
        if based:
            members.append(("", (ir.UNKNOWN, ANY)))
        return self.made(name if is_variant else "", members, ("adt", owner))

    def array(self, node: Node, wanted: Type) -> Typed:
        """An array."""
        element = inner_of(wanted)
        length = node.child_by_field_name("length")
        parts = [c for c in node.named_children if c != length and "comment" not in c.type]
        if length is not None:
            value, type_ = self.body.of.value(parts[0] if parts else None, element)
            count = self.body.types.constant(text(length))
            if count is None:
                self.body.of.value(length, USIZE)
                return (ir.UNKNOWN, ANY), ANY
            found: Type = ("a", joined(element, type_), count)
            return self.body.call("@fill", [value], found, (0, 0)), found
        values = [self.body.of.moved(part, element) for part in parts]
        inner = joined(element, values[0][1]) if values else element
        found = ("a", inner, len(values))
        size = width(inner)
        if not size:
            return self.body.call("@mix", [v for v, _ in values], found, (0, 0)), found
        extra = tuple(size * index for index in range(len(values)))
        args = [self.body.of.as_type(value, one, inner) for value, one in values]
        return self.body.call("@make", args, found, (0, 0), extra), found

    def ranged(self, node: Node, wanted: Type) -> Typed:
        """A range: of its ends only the effects count."""
        for part in node.named_children:
            self.body.of.value(part)
        return (ir.UNKNOWN, ANY), ("range",)

    def made(self, variant: str, members: list[tuple[str, Expr]], type_: Type) -> Typed:
        """A value with members, by name."""
        tag = (ir.CONST, tag_of(variant), _INT)
        extra = (0, *(place_of(name) for name, _ in members))
        args = [tag, *(value for _, value in members)]
        return self.body.call("@make", args, type_, (0, 0), extra), type_
