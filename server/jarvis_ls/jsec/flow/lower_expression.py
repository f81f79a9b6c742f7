"""Expressions of C and C++ to typed expressions and the instructions before them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jarvis_ls.codeintel.code import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow import ir
from jarvis_ls.jsec.flow.ir import Expr, Span, Type
from jarvis_ls.jsec.flow.lower_blocks import Blocks, Scopes, zero
from jarvis_ls.jsec.flow.lower_macros import Macros
from jarvis_ls.jsec.flow.lower_types import UNPLACED, Types
from jarvis_ls.jsec.flow.numbers import LIMITS, literal, unescape
from jarvis_ls.jsec.flow.types import (
    ANY,
    BOOL,
    CHAR,
    INT,
    LONG,
    PTR,
    ULONG,
    common,
    is_pointer,
    pointee,
    promoted,
)  # fmt: skip

MAX_DEPTH = 60
"""Levels of expressions, and of statements, that are looked into; what is deeper is unknown."""
_COMPARE = frozenset({"==", "!=", "<", ">", "<=", ">="})
_WIDE = frozenset({"L", "u", "U"})
Typed = tuple[Expr, Type]


class Outer:
    """What a function body needs to know of its file."""

    def __init__(self, types: Types, macros: Macros) -> None:
        self.types = types
        self.macros = macros
        self.globals: dict[str, Type] = {}
        self.functions: dict[str, Type] = {}
        """Functions declared or defined, with their types."""
        self.written: set[str] = set()
        """Globals that may be changed somewhere."""


class Expressions:
    """Lowers the expressions of one function."""

    def __init__(self, outer: Outer, blocks: Blocks, scopes: Scopes) -> None:
        self.outer, self.types = outer, outer.types
        self.blocks, self.scopes = blocks, scopes
        self.record = ""
        """Class the function is a member of."""
        self.statics: list[str] = []
        """Global names of the static variables, by `-1 - number`."""
        self.calls: set[str] = set()
        self.reads: set[str] = set()
        self.cut = False
        self.fixed: Span | None = None
        """The place of the macro whose text is being lowered."""
        self.depth = 0
        from jarvis_ls.jsec.flow.lower_calls import Calls

        self._calls = Calls(self)
        self._values: dict[str, Callable[[Node], Typed]] = {
            "number_literal": self._number, "char_literal": self._number,
            "string_literal": self._string, "concatenated_string": self._string,
            "raw_string_literal": self._string, "null": self._null, "nullptr": self._null,
            "true": self._true, "false": self._false, "this": self._this,
            "identifier": self._identifier,
            "type_identifier": self._identifier, "qualified_identifier": self._identifier,
            "field_expression": self._load, "subscript_expression": self._load,
            "pointer_expression": self._pointer, "parenthesized_expression": self._inner,
            "binary_expression": self._binary, "unary_expression": self._unary,
            "update_expression": self._update, "assignment_expression": self._assignment,
            "cast_expression": self._cast, "conditional_expression": self._conditional,
            "comma_expression": self._comma, "sizeof_expression": self._sizeof,
            "call_expression": self._calls.value, "new_expression": self._calls.new,
            "delete_expression": self._calls.delete, "compound_literal_expression": self._compound,
        }  # fmt: skip

    # entry points

    def value(self, node: Node | None) -> Typed:
        """The value of an expression; arrays as pointers to their first element."""
        if node is None:
            return self.unknown()
        method = self._values.get(node.type)
        if method is None or self.depth > MAX_DEPTH:
            self.cut = self.cut or self.depth > MAX_DEPTH
            return self.unknown()
        self.depth += 1
        found = method(node)
        self.depth -= 1
        return found

    def address(self, node: Node | None) -> Typed:
        """The address of an lvalue, and the type of what lies there."""
        if node is None or self.depth > MAX_DEPTH:
            return self.spill(self.unknown())
        self.depth += 1
        found = self._address(node)
        self.depth -= 1
        return found

    def as_type(self, typed: Typed, to: Type, span: Span, *, explicit: bool = False) -> Expr:
        """The value converted to a type."""
        expr, from_ = typed
        if to[0] == "&":
            to = to[1]
        if from_ == to or "?" in (to[0],) or to[0] in ("r", "c", "v"):
            return expr
        if expr[0] == ir.CONST and to[0] == "p":
            return (ir.NULL,) if expr[1] == 0 else (ir.CAST, expr, from_, to, explicit, span)
        return (ir.CAST, expr, from_, to, explicit, (0, 0) if self.fixed else span)

    def span(self, node: Node) -> Span:
        """Where `node` is written in the file."""
        return self.fixed or (node.start_byte, node.end_byte)

    @staticmethod
    def unknown(type_: Type = ANY) -> Typed:
        """A value nothing is known about."""
        return (ir.UNKNOWN, type_), type_

    def spill(self, typed: Typed) -> Typed:
        """A place that holds a value which has none."""
        slot = self.scopes.declare("", typed[1])
        self.blocks.add((ir.EVAL, (ir.STORE, (ir.LOCAL, slot), typed[0], typed[1], (0, 0))))
        return (ir.LOCAL, slot), typed[1]

    def loaded(self, address: Expr, type_: Type, span: Span) -> Typed:
        """What lies at an address, as a value."""
        kind = type_[0]
        if kind == "&":
            return self.loaded((ir.LOAD, address, type_, span), type_[1], span)
        if kind == "a":
            return (ir.DECAY, address, self.types.size(type_)), ("p", type_[1])
        if kind == "fn":
            return address, type_
        return (ir.LOAD, address, type_, span), type_

    # conditions

    def branch(self, node: Node | None, then: int, other: int) -> None:
        """End the block with a branch on a condition; `&&`, `||` and `!` become branches."""
        flip = False
        while node is not None and self.depth <= MAX_DEPTH:
            kind = node.type
            if kind in ("parenthesized_expression", "condition_clause"):
                inner = node.child_by_field_name("value") or _first(node)
                if inner is None or inner.type == "declaration":
                    break
                node = inner
            elif kind == "unary_expression" and text(node.child_by_field_name("operator")) == "!":
                node = node.child_by_field_name("argument")
                then, other, flip = other, then, not flip
            elif kind == "binary_expression" and (
                operator := text(node.child_by_field_name("operator"))
            ) in ("&&", "||"):
                between = self.blocks.label()
                left = node.child_by_field_name("left")
                self.depth += 1
                if operator == "&&":
                    self.branch(left, between, other)
                else:
                    self.branch(left, then, between)
                self.depth -= 1
                self.blocks.start(between)
                node = node.child_by_field_name("right")
            else:
                break
        expr = self.value(node)[0]
        if expr[0] == ir.CONST:
            self.blocks.end((ir.JUMP, then if expr[1] else other))
        else:
            self.blocks.end((ir.IF, expr, then, other, self.span(node) if node else (0, 0)))

    # single kinds

    def _number(self, node: Node) -> Typed:
        found = literal(text(node))
        return self.unknown(INT) if found is None else ((ir.CONST, *found), found[1])

    def _string(self, node: Node) -> Typed:
        parts = node.named_children if node.type == "concatenated_string" else [node]
        data, unit = b"", 1
        for part in parts:
            if part.type == "identifier":
                found = self.value(part)[0]
                if found[0] != ir.STR:
                    return self.unknown(("p", CHAR))
                data, unit = data + found[1], max(unit, found[2])
                continue
            written = text(part)
            if written[:1] in _WIDE and not written.startswith("u8"):
                unit = 4
            start, end = written.find('"'), written.rfind('"')
            data += unescape(written[start + 1 : end])
        return (ir.STR, data, unit), ("p", INT if unit == 4 else CHAR)

    def _null(self, node: Node) -> Typed:
        return (ir.NULL,), PTR

    def _true(self, node: Node) -> Typed:
        return (ir.CONST, 1, BOOL), BOOL

    def _false(self, node: Node) -> Typed:
        return (ir.CONST, 0, BOOL), BOOL

    def _this(self, node: Node) -> Typed:
        slot = self.scopes.find("this")
        if slot is None:
            return self.unknown(PTR)
        type_ = self.scopes.slots[slot][1]
        return (ir.LOAD, (ir.LOCAL, slot), type_, self.span(node)), type_

    def _inner(self, node: Node) -> Typed:
        return self.value(_first(node))

    def _identifier(self, node: Node) -> Typed:
        name = text(node)
        short = name.rpartition("::")[2] if "::" in name else name
        if self.scopes.find(name) is None:
            constant = self._constant(short)
            if constant is not None:
                return constant
            if not self._is_member(short) and short not in self.outer.globals:
                expanded = self.outer.macros.expression(short)
                if expanded is not None:
                    return self.expand(expanded, self.span(node))
                if short in self.outer.functions:
                    self.calls.add(short)
                    return (ir.FUNC, name), self.outer.functions[short]
        return self._load(node)

    def _constant(self, name: str) -> Typed | None:
        value = self.types.enumerators.get(name)
        if value is not None:
            return (ir.CONST, value, INT), INT
        if name == "NULL":
            return (ir.NULL,), PTR
        if name in LIMITS and name not in self.types.facts.macros:
            return (ir.CONST, *LIMITS[name]), LIMITS[name][1]
        return None

    def expand(self, node: Node, span: Span) -> Typed:
        """The value of the text of a macro, told to be where the macro is used."""
        before, self.fixed = self.fixed, self.fixed or span
        found = self.value(node)
        self.fixed = before
        self.outer.macros.leave()
        return found

    def _load(self, node: Node) -> Typed:
        address, type_ = self.address(node)
        return self.loaded(address, type_, self.span(node))

    def _pointer(self, node: Node) -> Typed:
        argument = node.child_by_field_name("argument")
        if text(node.child_by_field_name("operator")) == "&":
            address, type_ = self.referred(*self.address(argument), self.span(node))
            return (address, type_) if type_[0] == "fn" else (address, ("p", type_))
        return self._load(node)

    def _binary(self, node: Node) -> Typed:
        operator = text(node.child_by_field_name("operator"))
        if operator in ("&&", "||"):
            return self._truth(node)
        left = self.value(node.child_by_field_name("left"))
        right = self.value(node.child_by_field_name("right"))
        return self.combine(operator, left, right, self.span(node))

    def combine(self, operator: str, left: Typed, right: Typed, span: Span) -> Typed:
        """A binary operator other than `&&` and `||`."""
        (a, left_type), (b, right_type) = left, right
        if operator in _COMPARE:
            both = common(left_type, right_type)
            a, b = self._unsigned(left, both, span), self._unsigned(right, both, span)
            return (ir.CMP, operator, a, b, both, span), INT
        if is_pointer(left_type) and operator in ("+", "-"):
            if is_pointer(right_type):
                size = self.types.size(pointee(left_type)) or 1
                return (ir.PTRDIFF, a, b, size), LONG
            if operator == "-":
                b = (ir.CONST, -b[1], b[2]) if b[0] == ir.CONST else (ir.NEG, b, LONG, span)
            return self._offset(a, left_type, b, span)
        if is_pointer(right_type) and operator == "+":
            return self._offset(b, right_type, a, span)
        if operator == "&" and ir.CMP in (a[0], b[0]):
            return (ir.BITAND, a, b, span), INT
        if operator in ("<<", ">>"):
            type_ = promoted(left_type)
        else:
            type_ = common(left_type, right_type)
            a, b = self._unsigned(left, type_, span), self._unsigned(right, type_, span)
        plain = _is_constant(a) and _is_constant(b)
        told = (0, 0) if self.fixed or plain else span  # what a macro computes is its own affair
        return (ir.BIN, operator, a, b, type_, told), type_

    def later(self, type_: Type) -> Any:
        """What stands for the size of a type of another file until that file is known."""
        inner = type_
        while inner[0] == "a":
            inner = inner[1]
        return type_ if inner[0] == "r" else 1

    @staticmethod
    def _unsigned(typed: Typed, to: Type, span: Span) -> Expr:
        """A signed operand of an operator that works on unsigned numbers."""
        expr, from_ = typed
        if to[0] != "i" or to[2] or from_[0] != "i" or not from_[2]:
            return expr
        if expr[0] == ir.CONST and expr[1] >= 0:
            return expr
        return (ir.CAST, expr, from_, to, True, span)

    def _offset(self, pointer: Expr, type_: Type, index: Expr, span: Span) -> Typed:
        size = self.types.size(pointee(type_)) or self.later(pointee(type_))
        return (ir.INDEX, pointer, index, size, span), ("p", pointee(type_))

    def _truth(self, node: Node) -> Typed:
        yes, no, after = (self.blocks.label() for _ in range(3))
        temp = self.blocks.temp()
        self.branch(node, yes, no)
        self.blocks.start(yes)
        self.blocks.add((ir.SET, temp, (ir.CONST, 1, INT)))
        self.blocks.end((ir.JUMP, after))
        self.blocks.start(no)
        self.blocks.add((ir.SET, temp, (ir.CONST, 0, INT)))
        self.blocks.start(after)
        return (ir.TEMP, temp), INT

    def _conditional(self, node: Node) -> Typed:
        yes, no, after = (self.blocks.label() for _ in range(3))
        temp = self.blocks.temp()
        self.branch(node.child_by_field_name("condition"), yes, no)
        self.blocks.start(yes)
        first = self.value(node.child_by_field_name("consequence"))
        self.blocks.add((ir.SET, temp, first[0]))
        self.blocks.end((ir.JUMP, after))
        self.blocks.start(no)
        second = self.value(node.child_by_field_name("alternative"))
        self.blocks.add((ir.SET, temp, second[0]))
        self.blocks.start(after)
        number = first[1][0] in "if" and second[1][0] in "if"
        type_ = common(first[1], second[1]) if number else \
            second[1] if first[0] == (ir.NULL,) or first[1][0] in "i?" else first[1]  # fmt: skip
        return (ir.TEMP, temp), type_

    def _unary(self, node: Node) -> Typed:
        operator = text(node.child_by_field_name("operator"))
        expr, type_ = self.value(node.child_by_field_name("argument"))
        if operator in ("!", "not"):
            return (ir.NOT, expr), INT
        type_ = promoted(type_)
        if operator == "-" and expr[0] == ir.CONST:
            value = -expr[1] if type_[0] != "i" or type_[2] else (-expr[1]) % (1 << 8 * type_[1])
            return (ir.CONST, value, type_), type_
        if operator == "-":
            return (ir.NEG, expr, type_, self.span(node)), type_
        return ((ir.COMPL, expr, type_), type_) if operator == "~" else (expr, type_)

    def _update(self, node: Node) -> Typed:
        argument = node.child_by_field_name("argument")
        operator = node.child_by_field_name("operator")
        address, type_ = self.address(argument)
        if type_[0] == "&":
            address, type_ = (ir.LOAD, address, type_, self.span(node)), type_[1]
        postfix = operator is not None and argument is not None and (
            operator.start_byte > argument.start_byte)  # fmt: skip
        step = (self.types.size(pointee(type_)) or 1) if is_pointer(type_) else 1
        delta = step if text(operator) == "++" else -step
        return (ir.STEP, address, type_, delta, postfix, self.span(node)), type_

    def _assignment(self, node: Node) -> Typed:
        operator = text(node.child_by_field_name("operator"))
        right = node.child_by_field_name("right")
        span = self.span(node)
        if operator == "=":
            value = self.value(right)
            address, type_ = self.referred(*self.address(node.child_by_field_name("left")), span)
            return (ir.STORE, address, self.as_type(value, type_, span), type_, span), type_
        address, type_ = self.referred(*self.address(node.child_by_field_name("left")), span)
        if address[0] not in (ir.LOCAL, ir.GLOBAL):
            temp = self.blocks.temp()
            self.blocks.add((ir.SET, temp, address))
            address = (ir.TEMP, temp)
        value = self.value(right)
        old = (ir.LOAD, address, type_, span), type_
        new = self.combine(operator[:-1], old, value, span)
        return (ir.STORE, address, self.as_type(new, type_, span), type_, span), type_

    def referred(self, address: Expr, type_: Type, span: Span) -> Typed:
        """The place itself, for one reached through a reference."""
        if type_[0] == "&":
            return (ir.LOAD, address, type_, span), type_[1]
        return address, type_

    def _cast(self, node: Node) -> Typed:
        kind = node.child_by_field_name("type")
        type_ = ANY if kind is None else self.types.of(kind)
        value = self.value(node.child_by_field_name("value"))
        if type_ == ANY and value[1][0] == "p":
            return value
        if type_[0] == "v":
            self.blocks.add((ir.EVAL, value[0]))
            return self.unknown(type_)
        return self.as_type(value, type_, self.span(node), explicit=True), type_

    def _comma(self, node: Node) -> Typed:
        left = self.value(node.child_by_field_name("left"))
        self.blocks.add((ir.EVAL, left[0]))
        return self.value(node.child_by_field_name("right"))

    def _sizeof(self, node: Node) -> Typed:
        kind = node.child_by_field_name("type")
        if kind is not None:
            type_ = self.types.of(kind)
            return (ir.SIZEOF, self.types.size(type_) or type_, None, self.span(node)), ULONG
        inner = node.child_by_field_name("value")
        while inner is not None and inner.type == "parenthesized_expression":
            inner = _first(inner)
        if inner is None:
            return self.unknown(ULONG)
        if inner.type == "string_literal":
            expr = self._string(inner)[0]
            return (ir.CONST, (len(expr[1]) + 1) * expr[2], ULONG), ULONG
        if inner.type not in _PLACES:
            return self.unknown(ULONG)
        if inner.type == "identifier" and self._names_type(text(inner)):
            type_ = self.types.named(text(inner))
            return (ir.SIZEOF, self.types.size(type_) or type_, None, self.span(node)), ULONG
        live, self.blocks._open = self.blocks._open, None  # its operand is not evaluated
        place, type_ = self._typed_place(inner)
        self.blocks._open = live
        size = self.types.size(type_) or type_
        return (ir.SIZEOF, size, place if type_[0] == "p" else None, self.span(node)), ULONG

    def _names_type(self, name: str) -> bool:
        """Whether a name that could be a variable's is a type's."""
        if self.scopes.find(name) is not None or name in self.outer.globals:
            return False
        facts = self.types.facts
        return (
            name not in facts.macros and name not in facts.variables and not (self._is_member(name))
        )

    def _typed_place(self, node: Node) -> Typed:
        expanded = self.outer.macros.expression(text(node)) if node.type == "identifier" else None
        if expanded is not None:
            typed = self.expand(expanded, self.span(node))
            if typed[0][0] == ir.STR:
                return typed[0], ("a", CHAR, (len(typed[0][1]) + 1) * typed[0][2])
            return typed
        place, type_ = self.address(node)
        return place, type_[1] if type_[0] == "&" else type_

    def _compound(self, node: Node) -> Typed:
        kind = node.child_by_field_name("type")
        type_ = ANY if kind is None else self.types.of(kind)
        slot = self.scopes.declare("", type_)
        self.initialise((ir.LOCAL, slot), type_, node.child_by_field_name("value"))
        return self.loaded((ir.LOCAL, slot), type_, self.span(node))

    # places

    def _address(self, node: Node) -> Typed:
        kind = node.type
        if kind in ("identifier", "qualified_identifier", "type_identifier"):
            return self._named(node)
        if kind == "parenthesized_expression":
            return self.address(_first(node))
        if kind == "field_expression":
            return self._member(node)
        if kind == "subscript_expression":
            return self._element(node)
        if kind == "pointer_expression":
            if text(node.child_by_field_name("operator")) == "*":
                expr, type_ = self.value(node.child_by_field_name("argument"))
                return expr, pointee(type_)
        if kind in ("preproc_defined", "ERROR"):
            return self.spill(self.unknown())
        if kind == "update_expression" or kind == "assignment_expression":
            expr, type_ = self.value(node)
            self.blocks.add((ir.EVAL, expr))
            left = node.child_by_field_name("left") or node.child_by_field_name("argument")
            return self.address(left)
        expr, type_ = self.value(node)
        if type_[0] == "&":
            return expr, type_[1]
        if type_[0] == "r" and expr[0] == ir.LOAD:
            return expr[1], type_  # an object that lives until the end of the statement
        return self.spill((expr, type_))

    def _named(self, node: Node) -> Typed:
        name = text(node)
        slot = self.scopes.find(name)
        if slot is not None:
            if slot < 0:
                unique = self.statics[-1 - slot]
                self.reads.add(unique)
                return (ir.GLOBAL, unique), self.outer.globals[unique]
            return (ir.LOCAL, slot), self.scopes.slots[slot][1]
        short = name.rpartition("::")[2]
        if self._is_member(short):
            return self.member_of_this(short, self.span(node))
        if short in self.outer.functions and short not in self.outer.globals:
            self.calls.add(short)
            return (ir.FUNC, name), self.outer.functions[short]
        expanded = None if short in self.outer.globals else self.outer.macros.expression(short)
        if expanded is not None:
            before, self.fixed = self.fixed, self.fixed or self.span(node)
            found = self.address(expanded)
            self.fixed = before
            self.outer.macros.leave()
            return found
        type_ = self.outer.globals.get(short)
        if type_ is None:
            declared = self.types.facts.variables.get(short)
            type_ = self.types.declared(declared) if declared is not None else ANY
            self.outer.globals[short] = type_
        self.reads.add(short)
        return (ir.GLOBAL, short), type_

    def _is_member(self, name: str) -> bool:
        record = self.types.records.get(self.record)
        return record is not None and name in record.fields

    def member_of_this(self, name: str, span: Span) -> Typed:
        """A member named without `this->`."""
        offset, type_ = self.types.member(("r", self.record), name)
        slot = self.scopes.find("this") or 0
        this = (ir.LOAD, (ir.LOCAL, slot), ("p", ("r", self.record)), span)
        return (ir.FIELD, this, offset, type_), type_

    def _member(self, node: Node) -> Typed:
        argument = node.child_by_field_name("argument")
        name = text(node.child_by_field_name("field")).rpartition("::")[2]
        if text(node.child_by_field_name("operator")) == "->":
            base, type_ = self.value(argument)
            type_ = pointee(type_)
        else:
            base, type_ = self.referred(*self.address(argument), self.span(node))
        if type_[0] == "c":
            return base, ANY
        offset, member = self.types.member(type_, name)
        if offset >= UNPLACED and type_[0] == "r":
            return (ir.FIELD, base, (type_[1], name, offset), member), member
        return (ir.FIELD, base, offset, member), member

    def _element(self, node: Node) -> Typed:
        argument = node.child_by_field_name("argument")
        indices = node.child_by_field_name("indices")
        index = _first(indices) if indices is not None else node.child_by_field_name("index")
        base, type_ = self.value(argument)
        position = self.value(index)
        if type_[0] == "c":
            return self._calls.element(base, type_, self.span(node))
        if not is_pointer(type_) and is_pointer(position[1]):
            (base, type_), position = position, (base, type_)
        expr, found = self._offset(base, type_, position[0], self.span(node))
        return expr, pointee(found)

    # initialisers

    def initialise(self, address: Expr, type_: Type, node: Node | None) -> None:
        """Store an initialiser at a fresh place."""
        if node is None:
            return
        if node.type == "initializer_list":
            self.blocks.add((ir.CLEAR, address, type_, self.types.size(type_)))
            self._list(address, type_, node)
            return
        span = self.span(node)
        value = self.value(node)
        stored = value[0] if type_[0] == "a" else self.as_type(value, type_, span)
        self.blocks.add((ir.EVAL, (ir.STORE, address, stored, type_, span)))

    def _list(self, address: Expr, type_: Type, node: Node) -> None:
        if self.depth > MAX_DEPTH:
            self.cut = True
            return
        self.depth += 1
        items = [c for c in node.named_children if c.type != "comment"]
        fields = self._members_in_order(type_)
        for index, item in enumerate(items[:256]):
            if item.type == "initializer_pair":
                designator = item.child_by_field_name("designator")
                name = text(_first(designator)) if designator is not None else ""
                inner = item.child_by_field_name("value")
                place = self.types.member(type_, name) if type_[0] == "r" else None
            elif type_[0] == "a":
                place, inner = (index * self.types.size(type_[1]), type_[1]), item
            elif type_[0] == "r":
                place, inner = fields[index] if index < len(fields) else None, item
            else:
                place, inner = (0, type_) if index == 0 else None, item
            if place is None or inner is None:
                continue
            target = (ir.FIELD, address, place[0], place[1])
            if inner.type == "initializer_list":
                self._list(target, place[1], inner)
            elif place[1][0] != "i" or inner.type != "number_literal" or text(inner) != "0":
                self.initialise(target, place[1], inner)
        self.depth -= 1

    def _members_in_order(self, type_: Type) -> list[tuple[int, Type]]:
        record = self.types.records.get(type_[1]) if type_[0] == "r" else None
        return list(record.fields.values()) if record is not None else []


_PLACES = frozenset({
    "identifier", "qualified_identifier", "field_expression", "subscript_expression",
    "pointer_expression",
})  # fmt: skip


def _is_constant(e: Expr) -> bool:
    while e[0] == ir.CAST:
        e = e[1]
    return e[0] in (ir.CONST, ir.SIZEOF)


def _first(node: Node | None) -> Node | None:
    if node is None:
        return None
    for child in node.named_children:
        if child.type != "comment":
            return child
    return None


__all__ = ["MAX_DEPTH", "Expressions", "Outer", "Typed", "zero"]
