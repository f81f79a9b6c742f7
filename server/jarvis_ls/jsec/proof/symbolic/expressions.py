"""Symbolic execution of expressions: each gives the paths on which it has a value, with it."""

from __future__ import annotations

import struct
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace

import z3

from jarvis_ls.jsec.proof.symbolic import terms
from jarvis_ls.jsec.proof.symbolic.goal import Check
from jarvis_ls.jsec.proof.symbolic.machine import GaveUp, Machine
from jarvis_ls.jsec.proof.symbolic.memory import (
    NULL,
    Block,
    Bytes,
    Code,
    Fraction,
    Hole,
    Origin,
    Pointer,
    Rest,
    State,
    Value,
    Wild,
    is_null,
    wild,
)
from jarvis_ls.jsec.proof.symbolic.syntax import (
    INT,
    CType,
    Form,
    Kind,
    Node,
    Variable,
)
from jarvis_ls.jsec.proof.symbolic.terms import Number, Truth

Results = list[tuple[State, Value]]
_PLACES = frozenset(
    {
        Kind.VARIABLE,
        Kind.DEREF,
        Kind.INDEX,
        Kind.MEMBER,
        Kind.ARROW,
        Kind.STRING,
        Kind.LITERAL,
    }
)
"""What names an object."""
_COMPARISONS = frozenset({"<", ">", "<=", ">=", "==", "!="})
_PURE = frozenset({Kind.NUMBER, Kind.VARIABLE, Kind.CONVERT, Kind.BINARY, Kind.UNARY})


class Expressions(Machine):
    """Evaluates expressions."""

    @abstractmethod
    def call(self, state: State, callee: Value, values: Sequence[Value], node: Node) -> Results:
        """Return what a call gives."""

    @abstractmethod
    def value_of_block(self, state: State, node: Node) -> Results:
        """Return the value of statements in an expression: that of the last one."""

    @abstractmethod
    def new(self, state: State, node: Node) -> Results:
        """Return what `new` gives, initialised."""

    @abstractmethod
    def delete(self, state: State, node: Node) -> Results:
        """Release what `delete` releases."""

    @abstractmethod
    def place_of(self, state: State, variable: Variable) -> Pointer:
        """Return the address of a variable."""

    def value(self, state: State, node: Node) -> Results:
        """Return the paths on which an expression has a value, with that."""
        self.step()
        if node.kind in _PLACES:
            return self._load_from(state, node)
        match node.kind:
            case Kind.NUMBER:
                return [(state, self._constant(node))]
            case Kind.FUNCTION:
                return [(state, Code(str(node.value), node.file))]
            case Kind.CONVERT:
                return self._convert(state, node)
            case Kind.ADDRESS:
                return self._address(state, node)
            case Kind.UNARY:
                return self._unary(state, node)
            case Kind.STEP:
                return self._step(state, node)
            case Kind.BINARY:
                return self._binary(state, node)
            case Kind.ASSIGN:
                return self._assign(state, node)
            case Kind.UPDATE:
                return self._update(state, node)
            case Kind.CHOICE:
                return self._choice(state, node)
            case Kind.CALL:
                return self._follow_call(state, node)
            case Kind.LIST:
                return [(state, Hole())]
            case Kind.BLOCK:
                return self.value_of_block(state, node)
            case Kind.NEW:
                return self.new(state, node)
            case Kind.DELETE:
                return self.delete(state, node)
        raise GaveUp(node.kind.name)

    def branch(self, state: State, node: Node) -> Iterator[tuple[State, bool]]:
        """Yield the paths that a condition has, each with whether it holds there."""
        with self.inside(node):
            found = self.value(state, node)
        for path, value in found:
            yes, no = self.split(path, self.truth(value))
            if yes is not None:
                yield yes, True
            if no is not None:
                yield no, False

    def truth(self, value: Value) -> Truth:
        """Return whether a value counts as true."""
        if isinstance(value, Pointer):
            if value.block:
                return True
            return terms.negate(terms.equal(value.offset, 0))
        if isinstance(value, Wild):
            return terms.negate(value.is_null)
        if isinstance(value, Code):
            return True
        if isinstance(value, Fraction):
            return terms.fresh_truth() if value.value is None else value.value != 0
        if isinstance(value, Bytes | Hole):
            return terms.fresh_truth()
        return terms.truth(value)

    # -- objects

    def _load_from(self, state: State, node: Node) -> Results:
        found: Results = []
        for path, pointer in self.address(state, node):
            if node.type.form is Form.ARRAY:
                found.append((path, _decay(pointer, node.type)))
            elif node.type.form is Form.FUNCTION:
                found.append((path, pointer))
            else:
                found.append((path, self.load(path, pointer, node.type, node)))
        return found

    def _address(self, state: State, whole: Node) -> Results:
        """Return the value of `&`, which may be used for the member alone."""
        node = whole.part(0)
        if node.kind is Kind.FUNCTION:
            return [(state, Code(str(node.value), node.file))]
        found: Results = []
        for path, pointer in self.address(state, node):
            if whole.value:
                self.access(path, pointer, 1, node, write=False)
            if node.kind in (Kind.MEMBER, Kind.ARROW):
                found.append((path, _decay(pointer, node.type)))
            else:
                found.append((path, pointer))
        return found

    def address(self, state: State, node: Node) -> Results:
        """Return where an lvalue is."""
        match node.kind:
            case Kind.VARIABLE:
                assert isinstance(node.value, Variable)
                return [(state, self.place_of(state, node.value))]
            case Kind.STRING:
                return [(state, self._literal(state, node))]
            case Kind.DEREF:
                return self.value(state, node.part(0))
            case Kind.INDEX:
                return [
                    (after, self.moved(after, pointer, index, node.part(0), node.part(1), 1, node))
                    for path, pointer in self.value(state, node.part(0))
                    for after, index in self.value(path, node.part(1))
                ]
            case Kind.MEMBER | Kind.ARROW:
                assert isinstance(node.value, int)
                base = (self.address if node.kind is Kind.MEMBER else self.value)(
                    state, node.part(0)
                )
                return [(path, _shifted(pointer, node.value)) for path, pointer in base]
            case Kind.LITERAL:
                pointer = self.new_block(state, node.type.size, Rest.ZERO, Origin.STACK)
                return self.fill(state, pointer, node.type, node.part(0))
            case Kind.CONVERT:
                return self.address(state, node.part(0))
            case Kind.CALL | Kind.ASSIGN | Kind.CHOICE:  # a record that was returned
                found: Results = []
                for path, value in self.value(state, node):
                    pointer = self.new_block(path, node.type.size, Rest.UNKNOWN, Origin.STACK)
                    self.store(path, pointer, node.type, value)
                    found.append((path, pointer))
                return found
        raise GaveUp(node.kind.name)

    def _literal(self, state: State, node: Node) -> Pointer:
        key = f'"{id(node)}'
        number = state.statics.get(key)
        if number is None:
            data = node.value
            element = node.type.element or INT
            cells: dict[int, tuple[int, Value]] = {}
            if isinstance(data, bytes):
                for at in range(0, len(data), element.size):
                    number = int.from_bytes(data[at : at + element.size], "little")
                    cells[at] = (element.size, terms.wrap(number, element))
            number = state.add(
                Block(node.type.size, Rest.UNKNOWN, Origin.LITERAL, cells=cells, constant=True)
            )
            state.statics[key] = number
        return Pointer(number)

    def fill(self, state: State, pointer: Pointer, type_: CType, node: Node) -> Results:
        """Put an initialiser into an object that is all zero; returns its address."""
        if node.kind is Kind.LIST:
            return self._fill_parts(state, pointer, type_, node)
        if type_.form is Form.ARRAY:
            if node.kind is Kind.CONVERT:
                return self.fill(state, pointer, type_, node.part(0))
            if node.kind is not Kind.STRING:
                raise GaveUp("initialiser")
            block = state.blocks[self._literal(state, node).block]
            for at, (size, value) in block.cells.items():
                if at + size <= type_.size:
                    self._put(state, pointer, at, size, value)
            if not block.cells:
                state.forget_range(pointer.block, int(pointer.offset), type_.size)
            return [(state, pointer)]
        found: Results = []
        for path, value in self.value(state, node):
            with self.unobserved():
                self.store(path, pointer, type_, value)
            found.append((path, pointer))
        return found

    def _put(self, state: State, pointer: Pointer, at: int, size: int, value: Value) -> None:
        self.touch(state, (pointer.block, int(pointer.offset) + at, size))
        state.write(pointer.block, int(pointer.offset) + at, size, value)

    def _fill_parts(self, state: State, pointer: Pointer, type_: CType, node: Node) -> Results:
        paths: Results = [(state, pointer)]
        parts = [part for part in node.parts if part is not None]
        if type_.form is Form.ARRAY and type_.element is not None:
            element = type_.element
            if len(parts) == 1 and parts[0].kind is Kind.STRING and element.form is Form.INTEGER:
                return self.fill(state, pointer, type_, parts[0])
            places = [(number * element.size, element) for number in range(len(parts))]
        elif type_.form is Form.RECORD and not type_.union:
            places = [(member.offset, member.type) for member in type_.members]
        elif type_.form in (Form.INTEGER, Form.POINTER, Form.FLOAT) and len(parts) == 1:
            places = [(0, type_)]
        elif not parts:
            return paths
        else:
            raise GaveUp("initialiser")
        if len(parts) > len(places):
            raise GaveUp("initialiser")
        for part, (offset, inner) in zip(parts, places, strict=False):
            if inner.form in (Form.RECORD, Form.ARRAY) and not _fits_aggregate(part, inner):
                raise GaveUp("initialiser without braces")
            paths = [
                (after, pointer)
                for path, _ in paths
                for after, _ in self.fill(
                    path, Pointer(pointer.block, int(pointer.offset) + offset), inner, part
                )
            ]
        return paths

    # -- conversions

    def _constant(self, node: Node) -> Value:
        value = node.value
        if node.type.form is Form.FLOAT:
            assert isinstance(value, int | float)
            return Fraction(_round_up(float(value), node.type))
        if node.type.form is Form.POINTER:
            return NULL if value == 0 else wild()
        if isinstance(value, int) and node.type.form is Form.INTEGER:
            return terms.wrap(value, node.type)
        return self.anything(node.type)

    def _convert(self, state: State, node: Node) -> Results:
        inner = node.part(0)
        if inner.kind in _PLACES and node.type.form in (Form.ARRAY, Form.RECORD):
            return self._load_from(state, inner)
        return [
            (path, self.convert(path, value, inner.type, node.type, node))
            for path, value in self.value(state, inner)
        ]

    def convert(
        self, state: State, value: Value, before: CType, after: CType, node: Node | None
    ) -> Value:
        """Return a value of one type as one of another."""
        if after.form is Form.POINTER:
            return self._as_pointer(value)
        if after.form is Form.VOID:
            return Hole()
        if after.form is Form.FLOAT:
            return self._as_fraction(value, after)
        if after.form is not Form.INTEGER:
            return value if after.form is before.form else self.anything(after)
        if isinstance(value, Fraction):
            return self._cut_off(state, value, after, node)
        if isinstance(value, Pointer | Wild | Code):
            if after.boolean:
                return self.truth(value)
            self.expose(state, value)
            return 0 if is_null(value) else terms.fresh(after)
        if isinstance(value, Bytes | Hole):
            return terms.fresh(after)
        found = terms.convert(value, before, after)
        if self.wants(Check.CONVERSION) and not after.boolean and before.form is Form.INTEGER:
            same: Truth
            if isinstance(value, int) and isinstance(found, int):
                same = value == found
            elif not isinstance(value, int) and z3.is_bool(value):
                same = True
            else:
                same = terms.known_truth(
                    terms.wide(value, before, 72) == terms.wide(found, after, 72)
                )
            self.require(state, Check.CONVERSION, same, node)
        return terms.plain(found, after)

    def _as_pointer(self, value: Value) -> Value:
        if isinstance(value, Pointer | Wild | Code):
            return value
        if isinstance(value, int):
            return NULL if value == 0 else Wild(False)
        return wild()

    def _as_fraction(self, value: Value, after: CType) -> Value:
        if isinstance(value, Fraction):
            return value if value.value is None else Fraction(_round_up(value.value, after))
        if isinstance(value, int):
            return Fraction(_round_up(float(value), after))
        return Fraction()

    def _cut_off(self, state: State, value: Fraction, after: CType, node: Node | None) -> Value:
        if value.value is None or value.value != value.value or abs(value.value) > 1e300:
            self.require(state, Check.CONVERSION, False, node)
            return terms.fresh(after)
        whole = int(value.value)
        fits = after.low <= whole <= after.high
        self.require(state, Check.CONVERSION, fits, node)
        return whole if fits else terms.fresh(after)

    # -- arithmetic

    def _unary(self, state: State, node: Node) -> Results:
        found: Results = []
        type_ = node.type
        for path, value in self.value(state, node.part(0)):
            if node.value == "!":
                is_false = terms.negate(self.truth(value))
                found.append((path, int(is_false) if isinstance(is_false, bool) else is_false))
            elif node.value == "+" or isinstance(value, Fraction):
                found.append((path, _negate(value) if node.value == "-" else value))
            elif type_.form is not Form.INTEGER or isinstance(value, Bytes | Hole):
                found.append((path, self.anything(type_)))
            elif node.value == "-":
                found.append((path, self.arithmetic(path, "-", 0, value, type_, type_, node)))
            else:
                number = ~int(value) if isinstance(value, int) else ~terms.bits(value, type_.bits)
                number = terms.wrap(number, type_) if isinstance(number, int) else number
                found.append((path, terms.plain(number, type_)))
        return found

    def _step(self, state: State, node: Node) -> Results:
        assert isinstance(node.value, tuple)
        amount, is_old = node.value
        type_ = node.type
        found: Results = []
        for path, place in self.address(state, node.part(0)):
            old = self.load(path, place, type_, node)
            new: Value
            if type_.form is Form.POINTER:
                new = _moved_by(old, amount * type_.step)
            elif type_.form is Form.FLOAT:
                known = old.value if isinstance(old, Fraction) else None
                new = Fraction() if known is None else Fraction(known + amount)
            else:
                wide = type_ if type_.size >= 4 else INT
                before = self.convert(path, old, type_, wide, None)
                operator = "+" if amount > 0 else "-"
                new = self.arithmetic(path, operator, before, 1, wide, wide, node)
                new = self.convert(path, new, wide, type_, node)
            self.store(path, place, type_, new, node)
            found.append((path, old if is_old else new))
        return found

    def _binary(self, state: State, node: Node) -> Results:
        operator = str(node.value)
        if operator in ("&&", "||"):
            return self._logical(state, node, is_and=operator == "&&")
        left, right = node.part(0), node.part(1)
        if operator == ",":
            return [
                result for path, _ in self.value(state, left) for result in self.value(path, right)
            ]
        return [
            (after, self._combine(after, operator, (first, second), node))
            for path, first in self.value(state, left)
            for after, second in self.value(path, right)
        ]

    def _logical(self, state: State, node: Node, *, is_and: bool) -> Results:
        left, right = node.part(0), node.part(1)
        found: Results = []
        pure = _is_pure(right) and not (self.active or self.passing)
        for path, value in self.value(state, left):
            first = self.truth(value)
            if isinstance(first, bool) or not pure:
                yes, no = self.split(path, first)
                on, off = (yes, no) if is_and else (no, yes)
                if off is not None:
                    found.append((off, int(not is_and)))
                if on is not None:
                    found += [
                        (after, _as_number(self.truth(second)))
                        for after, second in self.value(on, right)
                    ]
                continue
            for after, other in self.value(path, right):
                second = self.truth(other)
                both = terms.both(first, second) if is_and else terms.either(first, second)
                found.append((after, _as_number(both)))
        return found

    def _combine(
        self, state: State, operator: str, values: tuple[Value, Value], node: Node
    ) -> Value:
        left, right = node.part(0), node.part(1)
        first, second = values
        is_left = left.type.form is Form.POINTER
        if is_left or right.type.form is Form.POINTER:
            if operator in _COMPARISONS:
                return _as_number(self._compare_pointers(state, operator, first, second))
            if operator == "-" and is_left and right.type.form is Form.POINTER:
                return self._pointer_difference(first, second, left.type.step, node)
            if is_left:
                sign = 1 if operator == "+" else -1
                return self.moved(state, first, second, left, right, sign, node)
            return self.moved(state, second, first, right, left, 1, node)
        if isinstance(first, Fraction) or isinstance(second, Fraction):
            return self._float_arithmetic(state, operator, first, second, node)
        if left.type.form is not Form.INTEGER or right.type.form is not Form.INTEGER:
            return self.anything(node.type)
        if operator in _COMPARISONS:
            return _as_number(_compare(operator, first, second, left.type))
        return self.arithmetic(state, operator, first, second, node.type, right.type, node)

    def moved(
        self,
        state: State,
        pointer: Value,
        index: Value,
        array: Node,
        by: Node,
        sign: int,
        node: Node,
    ) -> Value:
        """Return a pointer moved by a number of elements."""
        step = array.type.step if array.type.form is Form.POINTER else max(1, node.type.size)
        if isinstance(index, int):
            return _moved_by(pointer, sign * int(index) * step)
        if isinstance(pointer, Pointer) and by.type.form is Form.INTEGER:
            wide = terms.wide(index, by.type) * z3.BitVecVal(sign * step, 64)
            offset = terms.plain_size(terms.bits(pointer.offset, 64) + wide)
            return Pointer(pointer.block, offset, pointer.low, pointer.high)
        return _moved_by(pointer, None)

    def _compare_pointers(self, state: State, operator: str, first: Value, second: Value) -> Truth:
        is_equality = operator in ("==", "!=")
        same: Truth = terms.fresh_truth()
        if isinstance(first, Pointer) and isinstance(second, Pointer):
            if first.block == second.block:
                return _compare(operator, first.offset, second.offset, _OFFSET)
            if is_equality and 0 in (first.block, second.block):
                same = False
        elif isinstance(first, Wild) and isinstance(second, Wild):
            if first.number == second.number:
                return _compare(operator, first.offset, second.offset, _OFFSET)
        elif isinstance(first, Wild) and is_null(second):
            same = first.is_null
        elif isinstance(second, Wild) and is_null(first):
            same = second.is_null
        elif isinstance(first, Code) or isinstance(second, Code):
            if is_null(first) or is_null(second):
                same = False
            elif isinstance(first, Code) and isinstance(second, Code):
                same = first.name == second.name
        if not is_equality:
            return terms.fresh_truth()
        return same if operator == "==" else terms.negate(same)

    def _pointer_difference(self, first: Value, second: Value, step: int, node: Node) -> Value:
        if isinstance(first, Wild) and isinstance(second, Wild) and first.number == second.number:
            return (first.offset - second.offset) // max(1, step)
        if not (
            isinstance(first, Pointer)
            and isinstance(second, Pointer)
            and first.block == second.block
        ):
            return terms.fresh(node.type)
        if isinstance(first.offset, int) and isinstance(second.offset, int):
            return (first.offset - second.offset) // max(1, step)
        bytes_ = terms.bits(first.offset, 64) - terms.bits(second.offset, 64)
        return terms.plain(bytes_ / z3.BitVecVal(max(1, step), 64), node.type)

    def _float_arithmetic(
        self, state: State, operator: str, first: Value, second: Value, node: Node
    ) -> Value:
        left = first.value if isinstance(first, Fraction) else None
        right = second.value if isinstance(second, Fraction) else None
        if operator == "/":
            self.require(state, Check.DIVISION, right is not None and right != 0, node)
        if left is None or right is None:
            return terms.fresh_truth() if operator in _COMPARISONS else Fraction()
        if operator in _COMPARISONS:
            return int(_COMPARE[operator](left, right))
        try:
            result = {
                "+": left + right,
                "-": left - right,
                "*": left * right,
                "/": left / right if right else None,
            }[operator]
        except (OverflowError, KeyError):
            result = None
        return Fraction(None if result is None else _round_up(result, node.type))

    def arithmetic(
        self,
        state: State,
        operator: str,
        first: Value,
        second: Value,
        type_: CType,
        right: CType,
        node: Node | None,
    ) -> Value:
        """Return the result of an operator on whole numbers of one type; of a shift the right one
        has a type of its own."""
        if isinstance(first, Bytes | Hole | Pointer | Wild | Code | Fraction) or isinstance(
            second, Bytes | Hole | Pointer | Wild | Code | Fraction
        ):
            return self.anything(type_)
        if operator in ("/", "%"):
            return self._divide(state, operator, first, second, type_, node)
        if operator in ("<<", ">>"):
            return self._shift(state, operator, first, second, type_, right, node)
        if isinstance(first, int) and isinstance(second, int):
            exact = _EXACT[operator](int(first), int(second))
            check = Check.SIGNED if type_.signed else Check.UNSIGNED
            if operator in ("+", "-", "*"):
                self.require(state, check, type_.low <= exact <= type_.high, node)
            return terms.wrap(exact, type_)
        left, other = terms.bits(first, type_.bits), terms.bits(second, type_.bits)
        if operator in ("+", "-", "*") and self.wants(Check.SIGNED, Check.UNSIGNED):
            check = Check.SIGNED if type_.signed else Check.UNSIGNED
            self.require(state, check, _no_overflow(operator, left, other, type_), node)
        return terms.plain(_EXACT[operator](left, other), type_)

    def _divide(
        self,
        state: State,
        operator: str,
        first: Number,
        second: Number,
        type_: CType,
        node: Node | None,
    ) -> Value:
        not_zero = terms.truth(second)
        self.require(state, Check.DIVISION, not_zero, node)
        if isinstance(first, int) and isinstance(second, int):
            if second == 0:
                return terms.fresh(type_)
            quotient = abs(int(first)) // abs(int(second))
            quotient = -quotient if (first < 0) != (second < 0) else quotient
            self.require(state, Check.SIGNED, quotient <= type_.high, node)
            found = quotient if operator == "/" else first - quotient * second
            return terms.wrap(found, type_)
        left, right = terms.bits(first, type_.bits), terms.bits(second, type_.bits)
        if type_.signed and self.wants(Check.SIGNED):
            least = z3.BitVecVal(type_.low, type_.bits)
            self.require(state, Check.SIGNED, z3.Not(z3.And(left == least, right == -1)), node)
        if operator == "/":
            result = left / right if type_.signed else z3.UDiv(left, right)
        else:
            result = z3.SRem(left, right) if type_.signed else z3.URem(left, right)
        return terms.plain(result, type_)

    def _shift(
        self,
        state: State,
        operator: str,
        first: Number,
        second: Number,
        type_: CType,
        right: CType,
        node: Node | None,
    ) -> Value:
        width = type_.bits
        if isinstance(second, int):
            fits: Truth = 0 <= second < width
        else:
            amount = terms.wide(second, right)
            fits = z3.And(amount >= 0, amount < width)
        self.require(state, Check.SHIFT, fits, node)
        if isinstance(first, int) and isinstance(second, int):
            if not fits:
                return terms.fresh(type_)
            exact = first << second if operator == "<<" else first >> second
            if operator == "<<" and type_.signed:
                self.require(state, Check.SHIFT, first >= 0 and exact <= type_.high * 2 + 1, node)
            return terms.wrap(exact, type_)
        if operator == "<<" and type_.signed:
            self.require(state, Check.SHIFT, False, node)
        left = terms.bits(first, width)
        wide = terms.wide(second, right)
        amount = z3.Extract(width - 1, 0, wide) if width < 64 else wide
        if operator == "<<":
            return terms.plain(left << amount, type_)
        shifted = left >> amount if type_.signed else z3.LShR(left, amount)
        return terms.plain(shifted, type_)

    # -- assignments and calls

    def _assign(self, state: State, node: Node) -> Results:
        target = node.part(0)
        found: Results = []
        for path, value in self.value(state, node.part(1)):
            for after, place in self.address(path, target):
                self.store(after, place, target.type, value, node)
                found.append((after, value))
        return found

    def _update(self, state: State, node: Node) -> Results:
        operator, target, right = str(node.value), node.part(0), node.part(1)
        type_ = target.type
        found: Results = []
        for path, value in self.value(state, right):
            for after, place in self.address(path, target):
                old = self.load(after, place, type_, node)
                new: Value
                if type_.form is Form.POINTER:
                    sign = 1 if operator == "+" else -1
                    new = self.moved(after, old, value, target, right, sign, node)
                elif type_.form is Form.FLOAT or right.type.form is Form.FLOAT:
                    new = self.anything(type_)
                    if operator == "/":
                        known = value.value if isinstance(value, Fraction) else value
                        self.require(after, Check.DIVISION, bool(known), node)
                    if type_.form is Form.INTEGER:
                        self.require(after, Check.CONVERSION, False, node)
                elif type_.form is Form.INTEGER:
                    is_shift = operator in ("<<", ">>")
                    wide = right.type if not is_shift else (type_ if type_.size >= 4 else INT)
                    before = self.convert(after, old, type_, wide, node)
                    new = self.arithmetic(after, operator, before, value, wide, right.type, node)
                    new = self.convert(after, new, wide, type_, node)
                else:
                    new = self.anything(type_)
                self.store(after, place, type_, new, node)
                found.append((after, new))
        return found

    def _choice(self, state: State, node: Node) -> Results:
        found: Results = []
        for path, value in self.value(state, node.part(0)):
            yes, no = self.split(path, self.truth(value))
            if yes is not None:
                found += self.value(yes, node.part(1))
            if no is not None:
                found += self.value(no, node.part(2))
        return found

    def _follow_call(self, state: State, node: Node) -> Results:
        waiting: list[tuple[State, list[Value]]] = [(state, [])]
        for part in node.parts:
            assert part is not None
            waiting = [
                (after, [*values, value])
                for path, values in waiting
                for after, value in self.value(path, part)
            ]
        return [
            result
            for path, values in waiting
            for result in self.call(path, values[0], values[1:], node)
        ]


_OFFSET = CType(Form.INTEGER, 8, signed=True)
_COMPARE = {
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
_UNSIGNED = {"<": z3.ULT, ">": z3.UGT, "<=": z3.ULE, ">=": z3.UGE}
_EXACT = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}


def _compare(operator: str, first: Value, second: Value, type_: CType) -> Truth:
    """Return how two whole numbers of a type compare."""
    kinds = Bytes | Hole | Pointer | Wild | Code | Fraction
    if isinstance(first, kinds) or isinstance(second, kinds):
        return terms.fresh_truth()
    if isinstance(first, int) and isinstance(second, int):
        return _COMPARE[operator](first, second)
    left, right = terms.bits(first, type_.bits), terms.bits(second, type_.bits)
    if left.size() != right.size():
        return terms.fresh_truth()
    if not type_.signed and operator in _UNSIGNED:
        return terms.known_truth(_UNSIGNED[operator](left, right))
    return terms.known_truth(_COMPARE[operator](left, right))


def _no_overflow(operator: str, left: Number, right: Number, type_: CType) -> Truth:
    wide = type_.bits * (2 if operator == "*" else 1) + 2
    extra = wide - type_.bits
    extend = z3.SignExt if type_.signed else z3.ZeroExt
    exact = _EXACT[operator](extend(extra, left), extend(extra, right))
    return z3.And(exact >= z3.BitVecVal(type_.low, wide), exact <= z3.BitVecVal(type_.high, wide))


def _as_number(truth: Truth) -> Number:
    return int(truth) if isinstance(truth, bool) else truth


def _negate(value: Value) -> Value:
    known = value.value if isinstance(value, Fraction) else None
    return Fraction() if known is None else Fraction(-known)


def _round_up(value: float, type_: CType) -> float | None:
    """Return a number as a type holds it; None when that is not certain."""
    if type_.size == 4:
        try:
            return float(struct.unpack("f", struct.pack("f", value))[0])
        except OverflowError:
            return None
    return value if type_.size == 8 else None


def _decay(pointer: Value, type_: CType) -> Value:
    """Return the address of an array or member, which may be used for that alone."""
    if not isinstance(pointer, Pointer) or not type_.size:
        return pointer
    low = pointer.offset
    return Pointer(pointer.block, low, low, terms.add_sizes(low, type_.size))


def _shifted(pointer: Value, offset: int) -> Value:
    """Return the address of a member."""
    if isinstance(pointer, Pointer):
        if pointer.block:
            return Pointer(
                pointer.block,
                terms.add_sizes(pointer.offset, offset),
                pointer.low,
                pointer.high,
            )
        return Pointer(0, terms.add_sizes(pointer.offset, offset))
    return _moved_by(pointer, offset)


def _moved_by(pointer: Value, amount: int | None) -> Value:
    if amount == 0:
        return pointer
    if isinstance(pointer, Pointer) and amount is not None:
        offset = terms.add_sizes(pointer.offset, amount)
        return Pointer(pointer.block, offset, pointer.low, pointer.high)
    if isinstance(pointer, Wild):
        return (
            Wild(pointer.is_null)
            if amount is None
            else replace(pointer, offset=pointer.offset + amount)
        )
    return wild()


def _is_pure(node: Node) -> bool:
    """Return whether an expression only reads variables and cannot go wrong."""
    if node.kind not in _PURE or node.value in ("/", "%", "<<", ">>", "&&", "||"):
        return False
    return all(part is None or _is_pure(part) for part in node.parts)


def _fits_aggregate(node: Node, type_: CType) -> bool:
    """Return whether an initialiser is one of a whole array or record."""
    if node.kind is Kind.LIST or node.kind is Kind.STRING:
        return True
    return node.type.form is type_.form
