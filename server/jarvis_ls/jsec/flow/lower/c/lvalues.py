"""Places that expressions name, and what initialisers store there."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

from jarvis_ls.codeintel.nodes import bare, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.ir import nodes
from jarvis_ls.jsec.flow.ir.c_types import ANY, INT, UNPLACED, is_pointer, pointee
from jarvis_ls.jsec.flow.ir.instructions import CallFunction, Clear, Eval, Jump
from jarvis_ls.jsec.flow.ir.nodes import Expr, Span
from jarvis_ls.jsec.flow.ir.types import (
    Array,
    Container,
    Float,
    FunctionType,
    Integer,
    Record,
    Reference,
    Type,
    pointer_to,
    record_type,
)
from jarvis_ls.jsec.flow.lower.builder import MAX_DEPTH, first
from jarvis_ls.jsec.flow.lower.c.context import ExpressionBuilder, LvalueLowering, Typed
from jarvis_ls.jsec.flow.lower.c.iostreams import is_text
from jarvis_ls.jsec.flow.lower.c.literals import constant, literal

_MOST_ITEMS: Final = 256
"""Items of an initialiser list that are examined."""
_TEXTS: Final = frozenset({"string_literal", "concatenated_string", "raw_string_literal"})
_NULL: Final = frozenset({"NULL", "nullptr"})
"""Kinds of elements that a number is stored in as it is: a record is one that nothing defines."""
_NUMBER: Final = re.compile(rb"-[0-9]+|[0-9][0-9a-fA-FxX]*[uUlL]*")
_NUMBERS: Final = re.compile(
    rb"\{\s*(?:(?:%(one)s)\s*,\s*)*(?:(?:%(one)s)\s*)?\}" % {b"one": _NUMBER.pattern}
)
"""A list of whole numbers, with nothing else in it: most long tables."""


_WORD: Final = 8
"""Bytes of a pointer."""


class Lvalues(LvalueLowering):
    """Lowers lvalues and initialisers; part of `Expressions`."""

    def __init__(self, of: ExpressionBuilder) -> None:
        self.of = of

    def address(self, node: Node) -> Typed:
        """Return the address of an lvalue, and the type of what is there."""
        kind = node.type
        if kind in ("identifier", "qualified_identifier", "type_identifier"):
            name = text(node)
            return self.by_name(node, name, self.of.scopes.find(name))
        if kind == "parenthesized_expression":
            return self.of.address(first(node))
        if kind == "field_expression":
            return self._member(node)
        if kind == "subscript_expression":
            return self._element(node)
        if kind == "pointer_expression" and operator_of(node) == "*":
            expr, type_ = self.of.value(node.child_by_field_name("argument"))
            return expr, type_ if isinstance(type_, FunctionType) else pointee(type_)
        if kind in ("preproc_defined", "ERROR"):
            return self.of.spill(self.of.unknown())
        if kind == "update_expression" or kind == "assignment_expression":
            expr, type_ = self.of.value(node)
            self.of.blocks.add(Eval(expr))
            left = node.child_by_field_name("left") or node.child_by_field_name("argument")
            return self.of.address(left)
        if kind == "call_expression":
            expanded = self.of.calling.expansion(node)
            if expanded is not None:
                return self.of.within(self.of.address, expanded, self.of.span(node))
        expr, type_ = self.of.value(node)
        if isinstance(type_, Reference):
            return expr, type_.inner
        if isinstance(type_, Record) and isinstance(expr, nodes.Load):
            return expr.address, type_  # an object that lives until the end of the statement
        return self.of.spill((expr, type_))

    def by_name(self, node: Node, name: str, slot: int | None) -> Typed:
        """Return the place of a variable, which is the local one in `slot` if there is one, or of a
        function."""
        if slot is not None:
            if slot < 0:
                unique = self.of.statics[-1 - slot]
                self.of.reads.add(unique)
                return nodes.Global(unique), self.of.outer.globals[unique]
            return nodes.Local(slot), self.of.scopes.slots[slot][1]
        short = name.rpartition("::")[2]
        if self.is_member(short):
            return self.member_of_this(short, self.of.span(node))
        signature = None if short in self.of.outer.globals else self.of.signature(short)
        if signature is not None:
            self.of.calls.add(short)
            return nodes.Function(name), signature
        expanded = (
            None if short in self.of.outer.globals else self.of.outer.macros.expression(short)
        )
        if expanded is not None:
            return self.of.within(self.of.address, expanded, self.of.span(node))
        type_ = self.of.outer.globals.get(short)
        if type_ is None:
            declared = self.of.types.facts.variables.get(short)
            type_ = self.of.types.of_declaration(declared) if declared is not None else ANY
            self.of.outer.globals[short] = type_
        self.of.reads.add(short)
        return nodes.Global(short), type_

    def is_member(self, name: str) -> bool:
        """Return whether the class around has a data member of the name."""
        record = self.of.types.records.get(self.of.record)
        if record is not None:
            return name in record.fields
        facts = self.of.types.facts  # a class of a header
        return bool(self.of.record) and name in facts.fields and name not in facts.variables

    def member_of_this(self, name: str, span: Span) -> Typed:
        """Return a member named without `this->`."""
        offset, type_ = self.of.types.member(record_type(self.of.record), name)
        slot = self.of.scopes.find("this") or 0
        this = nodes.Load(nodes.Local(slot), pointer_to(record_type(self.of.record)), span)
        place = (self.of.record, name, offset) if offset >= UNPLACED else offset
        return nodes.Field(this, place, type_), type_

    def _member(self, node: Node) -> Typed:
        argument = node.child_by_field_name("argument")
        name = text(node.child_by_field_name("field")).rpartition("::")[2]
        if operator_of(node) == "->":
            base, type_ = self.of.value(argument)
            type_ = pointee(type_)
        else:
            base, type_ = self.of.through_reference(*self.of.address(argument), self.of.span(node))
        if isinstance(type_, Container):
            if name == "second":  # of a pair, beside `first`
                return nodes.Field(base, _WORD, ANY), ANY
            return base, ANY
        offset, member = self.of.types.member(type_, name)
        if offset >= UNPLACED and isinstance(type_, Record):
            return nodes.Field(base, (type_.name, name, offset), member), member
        return nodes.Field(base, offset, member), member

    def _element(self, node: Node) -> Typed:
        argument = node.child_by_field_name("argument")
        indices = node.child_by_field_name("indices")
        index = first(indices) if indices is not None else node.child_by_field_name("index")
        base, type_ = self.of.value(argument)
        position = self.of.value(index)
        if isinstance(type_, Container):
            return self.of.calling.element(base, type_, position, self.of.span(node))
        if not is_pointer(type_) and is_pointer(position[1]):
            if not isinstance(type_, Integer):  # an operator of a class
                return self.of.spill(self.of.unknown())
            (base, type_), position = position, (base, type_)  # `2[a]`
        expr, found = self.of.operators.offset(base, type_, position[0], self.of.span(node))
        return expr, pointee(found)

    def initialise(self, address: Expr, type_: Type, node: Node | None) -> None:
        """Store an initialiser at a fresh place."""
        if node is None:
            return
        only = self.only_text(type_, node)
        if only is not None:
            self.initialise(address, type_, only)
            return
        if node.type == "initializer_list":
            self.of.blocks.add(Clear(address, type_))
            self._list(address, type_, node)
            return
        span = self.of.span(node)
        if isinstance(type_, Integer) and _asks_for_null(node):
            self._flag(address, type_, node, span)
            return
        value = self.of.value(node)
        if is_text(type_) and isinstance(address, nodes.Local):
            self.of.streams.assign(address, type_, "construct", value, span)
            return
        stored = value[0] if isinstance(type_, Array) else self.of.as_type(value, type_, span)
        self.of.blocks.add(Eval(nodes.Store(address, stored, type_, span)))

    def only_text(self, type_: Type, node: Node) -> Node | None:
        """Return the string of an initialiser such as `{"text"}`, which gives an array of
        characters what `"text"` does; None for any other."""
        if node.type != "initializer_list" or not isinstance(type_, Array):
            return None
        parts = [child for child in node.named_children if child.type != "comment"]
        is_text = len(parts) == 1 and parts[0].type in _TEXTS
        return parts[0] if is_text and isinstance(type_.inner, Integer) else None

    def _flag(self, address: Expr, type_: Type, node: Node, span: Span) -> None:
        """Store whether a pointer is null, as in `int mine = (data == NULL)`: what the variable
        holds and what the pointer is stay together on each of two ways."""
        yes, no, after = (self.of.blocks.label() for _ in range(3))
        self.of.branch(node, yes, no)
        for label, value in ((yes, 1), (no, 0)):
            self.of.blocks.start(label)
            stored = nodes.Const(value, type_)
            self.of.blocks.add(Eval(nodes.Store(address, stored, type_, span)))
            if label == yes:
                self.of.blocks.end(Jump(after))
        self.of.blocks.start(after)

    def _list(self, address: Expr, type_: Type, node: Node) -> None:
        if self.of.depth > MAX_DEPTH:
            self.of.cut = True
            return
        if (
            isinstance(type_, Array)
            and isinstance(type_.inner, (Integer, Float, Record))
            and self._numbers(address, type_.inner, node)
        ):
            return
        self.of.depth += 1
        items = [c for c in node.named_children if c.type != "comment"]
        fields = self._members_in_order(type_)
        unplaced = not fields and isinstance(type_, Record) and any(map(_is_placed_by_order, items))
        indices = self.indices(items) if isinstance(type_, Array) else range(len(items))
        chosen = any(item.type.startswith("preproc") for item in items)
        unplaced = unplaced or chosen or indices is None or len(items) > _MOST_ITEMS
        if unplaced or any(self.may_be_several(initialiser) for initialiser in items):
            unknown = nodes.Unknown(type_)
            self.of.blocks.add(Eval(nodes.Store(address, unknown, type_, (0, 0))))
            hidden = self._unplaced_values(items)
            if hidden:  # what pointers lead to goes out of sight, as if a function were given it
                values, types = zip(*hidden, strict=True)
                self.of.blocks.add(
                    CallFunction(
                        self.of.blocks.temp(),
                        "{}",
                        values,
                        ANY,
                        self.of.span(node),
                        types,
                    )
                )
            self.of.depth -= 1
            return
        for index, item in zip(indices or (), items, strict=True):
            name = ""
            place: tuple[int, Type] | None
            inner: Node | None
            if isinstance(type_, Array):
                inner = item.child_by_field_name("value") or item
                place = (index * self.of.types.size(type_.inner), type_.inner)
            elif item.type == "initializer_pair":
                designator = item.child_by_field_name("designator")
                name = text(first(designator)) if designator is not None else ""
                inner = item.child_by_field_name("value")
                place = self.of.types.member(type_, name) if isinstance(type_, Record) else None
            elif isinstance(type_, Record):
                name, place = fields[index] if index < len(fields) else ("", None)
                inner = item
            else:
                place, inner = (0, type_) if index == 0 else None, item
            if place is None or inner is None:
                continue
            offset: nodes.Offset = place[0]
            if place[0] >= UNPLACED and isinstance(type_, Record):
                offset = (type_.name, name, place[0])
            target = nodes.Field(address, offset, place[1])
            if inner.type == "initializer_list":
                self._list(target, place[1], inner)
            elif (
                not isinstance(place[1], Integer)
                or inner.type != "number_literal"
                or text(inner) != "0"
            ):
                self.initialise(target, place[1], inner)
        self.of.depth -= 1

    def indices(self, items: list[Node]) -> list[int] | None:
        """Return the index of each item of an array, after `[n] =` where that precedes it; None
        when it cannot be told, or several elements get one value.
        """
        found: list[int] = []
        for item in items:
            index = found[-1] + 1 if found else 0
            if item.type == "initializer_pair":
                designators = item.children_by_field_name("designator")
                if len(designators) != 1 or designators[0].type != "subscript_designator":
                    return None
                value = constant(text(first(designators[0])), self.of.types)
                if value is None or value < 0:
                    return None
                index = value
            found.append(index)
        return found

    def _numbers(self, address: Expr, type_: Type, node: Node) -> bool:
        """Store a list that holds only numbers of a type, by its text: nodes cost far more.
        False when it holds something else."""
        written = node.text or b""
        if _NUMBERS.fullmatch(written) is None:
            return False
        numbers = list(islice(_NUMBER.finditer(written), _MOST_ITEMS + 1))
        if len(numbers) > _MOST_ITEMS:
            return False
        size, start = self.of.types.size(type_), node.start_byte
        for index, match in enumerate(numbers):
            number = match.group()
            if number == b"0" and isinstance(type_, Integer):  # as the rest of what is cleared
                continue
            found = literal(number.decode())
            value = self.of.unknown(INT) if found is None else (nodes.Const(*found), found[1])
            span = self.of.fixed or (start + match.start(), start + match.end())
            stored = self.of.as_type(value, type_, span)
            target = nodes.Field(address, index * size, type_)
            self.of.blocks.add(Eval(nodes.Store(target, stored, type_, span)))
        return True

    def _unplaced_values(self, items: list[Node]) -> list[Typed]:
        """Return the values of an initialiser list whose members are where nothing is known of."""
        found: list[Typed] = []
        for initialiser in items[:64]:
            inner = (
                initialiser.child_by_field_name("value")
                if initialiser.type == "initializer_pair"
                else initialiser
            )
            if inner is not None and inner.type == "initializer_list":
                found.extend(self._unplaced_values(inner.named_children))
            elif inner is not None and inner.type != "comment":
                found.append(self.of.value(inner))
        return found

    def may_be_several(self, item: Node) -> bool:
        """Return whether a part of an initialiser list is a macro that may represent more than
        one.
        """
        facts = self.of.types.facts
        if item.type == "call_expression":
            macro = facts.function_macros.get(text(item.child_by_field_name("function")))
            return macro is not None and "," in macro.body
        return item.type == "identifier" and "," in facts.macros.get(text(item), "")

    def _members_in_order(self, type_: Type) -> list[tuple[str, tuple[int, Type]]]:
        record = self.of.types.records.get(type_.name) if isinstance(type_, Record) else None
        return list(record.fields.items()) if record is not None else []


def _is_placed_by_order(item: Node) -> bool:
    """Return whether a part of an initialiser list gives a value to the member that is next in
    order.
    """
    return item.type != "initializer_pair" and text(item) not in ("0", "NULL", "{0}", "{}")


def _asks_for_null(node: Node) -> bool:
    condition = bare(node)
    return (
        condition.type == "binary_expression"
        and operator_of(condition) in ("==", "!=")
        and any(text(condition.child_by_field_name(side)) in _NULL for side in ("left", "right"))
    )
