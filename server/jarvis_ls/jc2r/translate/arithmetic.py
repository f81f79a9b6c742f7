"""Arithmetic as C defines it, of numbers and of pointers."""

from __future__ import annotations

from typing import Any

from jarvis_ls.jc2r.translate import complex_numbers
from jarvis_ls.jc2r.translate.c_types import (
    FLOATS,
    element_of,
    is_function_pointer,
    is_integer,
    is_unsigned,
    kind,
    pointee_of,
    points,
)
from jarvis_ls.jc2r.translate.complex_numbers import is_complex
from jarvis_ls.jc2r.translate.effects import Effects
from jarvis_ls.jc2r.translate.lvalues import LvalueTranslation
from jarvis_ls.jc2r.translate.names import Unsupported
from jarvis_ls.jc2r.translate.rust_text import as_u32, literal, parenthesise, type_null, whole

_WRAPPING = {"*": "wrapping_mul", "+": "wrapping_add", "-": "wrapping_sub"}


class Arithmetic(LvalueTranslation, Effects):
    """What an operator makes of two values."""

    def arithmetic(self, operator: str, left: str, right: str, type_: Any) -> str:
        """Two numbers, given as code of the type C computes in."""
        if kind(type_) in FLOATS:
            return f"{parenthesise(left)} {operator} {parenthesise(right)}"
        if not is_integer(type_):
            raise Unsupported("arithmetic of {type}", type=type_.spelling)
        if operator in ("<<", ">>"):
            way = "shl" if operator == "<<" else "shr"
            return f"{parenthesise(left)}.wrapping_{way}({as_u32(right)})"
        if operator in _WRAPPING:
            return f"{parenthesise(left)}.{_WRAPPING[operator]}({right})"
        if operator in ("/", "%") and not is_unsigned(type_) and whole(right) in (None, 0, -1):
            way = "div" if operator == "/" else "rem"
            return f"{parenthesise(left)}.wrapping_{way}({right})"
        if operator in ("/", "%") and whole(right) == 0:  # the compiler would not have it
            return f"{parenthesise(left)} {operator} core::hint::black_box({right})"
        return f"{parenthesise(left)} {operator} {parenthesise(right)}"

    def complex_arithmetic(
        self, operator: str, left: tuple[str, Any], right: tuple[str, Any]
    ) -> tuple[str, str]:
        """Two numbers, given with their types, of which one is complex: what they make, and the
        record that it is."""
        name = complex_numbers.wider(left[1], right[1])
        self.types.need(name)
        if any(
            is_complex(type_) and complex_numbers.name_of(type_) != name
            for _, type_ in (left, right)
        ):
            self.types.need("complex_widths")
        return complex_numbers.arithmetic(operator, left, right, name), name

    def pointer_arithmetic(self, operator: str, left: Any, right: Any, type_: Any) -> str:
        """Return a pointer moved by a number, or how far apart two are, as a `type_`."""
        if points(left.type) and points(right.type):
            return self._distance(left, right, type_)
        if is_integer(left.type):
            left, right = right, left
        stride = self.stride_of(left, left.type)
        return self.offset_pointer(self.value(left), left.type, operator, self.value(right), stride)

    def _distance(self, left: Any, right: Any, type_: Any) -> str:
        pointee = pointee_of(left.type)
        first, second = (
            type_null(parenthesise(self.value(operand)), self.types.of(operand.type))
            for operand in (left, right)
        )
        wanted = self.types.of(type_)
        if stride := self.stride_of(left, left.type):
            own = f"*const {self.types.of(element_of(pointee))}"
            apart = f"({first} as {own}).offset_from({second} as {own})"
            return f"({apart} / {stride} as isize) as {wanted}"
        size = 1 if kind(pointee) in ("VOID", "FUNCTIONPROTO") else pointee.get_size()
        if size < 0:
            raise Unsupported("a difference of pointers to an incomplete type")
        if size == 0:
            return literal(0, wanted)
        if size == 1 or is_function_pointer(left.type):
            return f"({first} as isize).wrapping_sub({second} as isize) as {wanted}"
        other = self.cast(second, right.type, left.type)
        return f"{first}.offset_from({other}) as {wanted}"
