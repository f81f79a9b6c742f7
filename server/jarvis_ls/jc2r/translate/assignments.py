"""What changes a place: assignments, alone and with an operator, and counting up and down."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.translate.arithmetic import Arithmetic
from jarvis_ls.jc2r.translate.ast import UnaryOperator, bare, in_words, inside, only
from jarvis_ls.jc2r.translate.c_types import (
    FLOATS,
    is_atomic,
    is_integer,
    is_pointer,
    kind,
    plain,
    points,
)
from jarvis_ls.jc2r.translate.complex_numbers import as_real, is_complex
from jarvis_ls.jc2r.translate.names import Unsupported
from jarvis_ls.jc2r.translate.rust_text import as_u32

# As CXBinaryOperatorKind counts.
_COMPOUND = {
    23: "*",
    24: "/",
    25: "%",
    26: "+",
    27: "-",
    28: "<<",
    29: ">>",
    30: "&",
    31: "^",
    32: "|",
}
_SIMPLE = re.compile(r"[\w#]+(\.[\w#]+)*")


class Assignments(Arithmetic):
    """Changes, as statements and as what they are worth."""

    def assignment(self, left: Any, right: Any) -> str:
        """Return an assignment as a statement."""
        value = self.value(right)
        if self.is_plain(left) and self.has_effects(right) and not self._is_settled(left):
            place = self.place(left)
            if not _SIMPLE.fullmatch(place):
                return f"{{ let __to = &raw mut {place}; *__to = {value}; }}"
        return self.write(left, value)

    def assignment_value(self, left: Any, right: Any) -> str:
        """Return an assignment as a value."""
        value = self.value(right)
        if self.is_bit_field(left):
            return f"{{ {self.write(left, value)} {self.bits(left)} }}"
        place = self.place(left)
        if _SIMPLE.fullmatch(place) and self.is_plain(left):
            return f"{{ {place} = {value}; {place} }}"
        if self.has_effects(right) and not self._is_settled(left) and self.is_plain(left):
            return f"{{ let __to = &raw mut {place}; let __new = {value}; *__to = __new; __new }}"
        return f"{{ let __new = {value}; {self.set_at(place, '__new', left.type)} __new }}"

    def _is_settled(self, cursor: Any) -> bool:
        """Return whether a place is the same before and after a call."""
        cursor = inside(cursor)
        name = cursor.kind.name
        if name == "DECL_REF_EXPR":
            return True
        if name == "MEMBER_REF_EXPR":
            (base,) = clang.children(cursor)[:1]
            if is_pointer(base.type):
                return self.is_private(base)
            return self._is_settled(base)
        if name == "UNARY_OPERATOR" and clang.unary_operator(cursor) == UnaryOperator.THROUGH:
            return self.is_private(only(cursor))
        if name == "ARRAY_SUBSCRIPT_EXPR":
            base, index = clang.children(cursor)
            array = inside(base)
            known = self.is_private(index) or isinstance(clang.constant(index), int)
            return known and (self.is_private(base) or array.kind.name == "DECL_REF_EXPR")
        return False

    def step(self, cursor: Any, result: str) -> str:
        """Return an increment or decrement; `result` as for `read_and_write`."""
        inner = only(cursor)
        up = clang.unary_operator(cursor) in (UnaryOperator.POST_INC, UnaryOperator.PRE_INC)
        type_ = inner.type
        stride = self.stride_of(inner, type_) if points(type_) else ""

        def new(place: str) -> str:
            if points(type_):
                return self.offset_pointer(place, type_, "+" if up else "-", "1i32", stride)
            if is_complex(type_):
                return f"{place}.{'plus' if up else 'minus'}_real(1.0)"
            if kind(type_) in FLOATS:
                return f"{place} {'+' if up else '-'} 1.0"
            if kind(type_) == "BOOL":
                return "true" if up else f"!{place}"
            if not is_integer(type_):
                raise Unsupported("increment or decrement of {type}", type=type_.spelling)
            return f"{place}.wrapping_{'add' if up else 'sub'}(1)"

        return self._read_and_write(inner, result, new)

    def _read_and_write(self, inner: Any, result: str, new: Callable[[str], str]) -> str:
        """Code that reads a place and writes it, once; `result` is what it is worth, `__old`,
        `__new` or nothing."""
        inner = bare(inner)
        if is_atomic(inner.type):
            return self._changed_atomic(inner, result, new)
        end = f" {result}" if result else ""
        if not self.is_plain(inner):
            rust = self.types.of(inner.type)
            if self.is_bit_field(inner):
                old, set_new = self.bits(inner), self.write(inner, "__new")
                again = self.bits(inner) if result == "__new" else result
                return (
                    f"{{ let __old: {rust} = {old}; let __new: {rust} = {new('__old')};"
                    f" {set_new} {again} }}"
                )
            place = self.place(inner)
            return (
                f"{{ let __at = &raw mut {place}; let __old: {rust} = "
                f"core::ptr::read_volatile(__at); let __new: {rust} = {new('__old')};"
                f" core::ptr::write_volatile(__at, __new);{end} }}"
            )
        place = self.place(inner)
        if _SIMPLE.fullmatch(place):
            if not result:
                return f"{place} = {new(place)};"
            if result == "__old":
                return f"{{ let __old = {place}; {place} = {new(place)}; __old }}"
            return f"{{ {place} = {new(place)}; {place} }}"
        if not result:
            return f"{{ let __at = &raw mut {place}; *__at = {new('(*__at)')}; }}"
        if result == "__old":
            return (
                f"{{ let __at = &raw mut {place}; let __old = *__at;"
                f" *__at = {new('(*__at)')}; __old }}"
            )
        return f"{{ let __at = &raw mut {place}; *__at = {new('(*__at)')}; *__at }}"

    def _changed_atomic(self, inner: Any, result: str, new: Callable[[str], str]) -> str:
        type_ = inner.type
        self.types.need("atomic_update")
        old = self.from_word("__word", type_)
        rust = self.types.of(type_)
        words = (
            f"types::atomic_update(&raw mut {self.place(inner)} as *mut core::ffi::c_void,"
            f" {type_.get_size()}, |__word| {{ let __old: {rust} = {old}; let __new: {rust} ="
            f" {new('__old')}; {self.to_word('__new', type_)} }})"
        )
        if not result:
            return f"{words};"
        pair = {"__old": "0", "__new": "1"}[result]
        return self.from_word(f"{words}.{pair}", type_)

    def compound(self, cursor: Any, result: str) -> str:
        """Return an assignment with an operator; `result` as for `_read_and_write`."""
        operator = _COMPOUND.get(clang.binary_operator(cursor))
        if operator is None:
            raise Unsupported(in_words(cursor))
        left, right = clang.children(cursor)
        right = as_real(right)
        amount = self.value(right)
        if re.fullmatch(r"[\w.#]+", amount) and not self.has_effects(left):
            return self._compound_with(left, right, operator, result, amount)
        if (
            _SIMPLE.fullmatch(self.place(left))
            and self.is_plain(left)
            and not (self.has_effects(right))
        ):
            return self._compound_with(left, right, operator, result, amount)
        code = self._compound_with(left, right, operator, result, "__amount")
        return f"{{ let __amount = {amount}; {code} }}"

    def _compound_with(self, left: Any, right: Any, operator: str, result: str, amount: str) -> str:
        type_ = left.type
        stride = self.stride_of(left, type_) if points(type_) else ""

        def new(place: str) -> str:
            if points(type_):
                return self.offset_pointer(place, type_, operator, amount, stride)
            if is_complex(type_) or is_complex(right.type):
                made, name = self.complex_arithmetic(operator, (place, type_), (amount, right.type))
                return self.from_complex(made, name, type_)
            between = _promoted_type(type_, right.type, operator)
            if between is None:  # a small integer moved by a large one: an `int` is moved
                value = f"({place} as i32)"
                way = "shl" if operator == "<<" else "shr"
                moved = f"{value}.wrapping_{way}({as_u32(amount)})"
                rust = self.types.of(type_)
                return f"{moved} != 0" if rust == "bool" else f"{moved} as {rust}"
            value = self.cast(place, type_, between)
            changed = self.arithmetic(operator, value, amount, between)
            return self.cast(changed, between, type_)

        return self._read_and_write(left, result, new)


def _promoted_type(left: Any, right: Any, operator: str) -> Any:
    """Return the type a compound assignment computes in: the right side has it, but for shifts.
    None represents `int`.
    """
    if operator in ("<<", ">>"):
        if left.get_size() < 4 or kind(left) == "BOOL":
            return None
        return plain(left)
    return plain(right)
