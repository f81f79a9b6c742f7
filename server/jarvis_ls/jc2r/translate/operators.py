"""Operators: what their values are, comparing, and in which order.

Where C leaves the order open, it is that of gcc: arguments from the last to the first, the place
of an assignment before its value, a variable after the other operand of `+` and its like.
"""

from __future__ import annotations

import re
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.translate import bitfield_width, complex_numbers
from jarvis_ls.jc2r.translate.assignments import Assignments
from jarvis_ls.jc2r.translate.ast import (
    PARTS,
    STEPS,
    BinaryOperator,
    UnaryOperator,
    bare,
    in_words,
    inside,
    named_declaration,
    only,
)
from jarvis_ls.jc2r.translate.c_types import (
    FLOATS,
    is_integer,
    is_pointer,
    is_unsigned,
    kind,
    points,
)
from jarvis_ls.jc2r.translate.complex_numbers import as_real, is_complex
from jarvis_ls.jc2r.translate.names import Unsupported
from jarvis_ls.jc2r.translate.rust_text import is_null, parenthesise, type_null

# As CXBinaryOperatorKind counts.
_ARITHMETIC = {3: "*", 4: "/", 5: "%", 6: "+", 7: "-", 8: "<<", 9: ">>", 17: "&", 18: "^", 19: "|"}
_EITHER_WAY = ("*", "+", "&", "^", "|")
_COMPARING = {11: "<", 12: ">", 13: "<=", 14: ">=", 15: "==", 16: "!="}
_LOGIC = {20: "&&", 21: "||"}


class Operators(Assignments):
    """Values, conditions and effects of operators."""

    def condition(self, cursor: Any) -> str:
        """Code of type `bool`: whether an expression is not zero."""
        name = cursor.kind.name
        if (called := self.called_macro(cursor)) is not None:
            code, rust = called
            return code if rust == "bool" else self.truth(code, cursor.type)
        if name == "PAREN_EXPR":
            return self.condition(only(cursor))
        if name == "BINARY_OPERATOR":
            which = clang.binary_operator(cursor)
            left, right = clang.children(cursor)
            if which in _LOGIC:
                return (
                    f"{parenthesise(self.condition(left))} {_LOGIC[which]}"
                    f" {parenthesise(self.condition(right))}"
                )
            if which in _COMPARING:
                return self._comparison(_COMPARING[which], left, right)
            if which == BinaryOperator.COMMA:
                return f"{{ {self.effect(left)}\n{self.condition(right)} }}"
        if name == "UNARY_OPERATOR" and clang.unary_operator(cursor) == UnaryOperator.LOGICAL_NOT:
            return f"!{parenthesise(self.condition(only(cursor)))}"
        if name == "UNEXPOSED_EXPR" and kind(cursor.type) in ("INT", "LONG"):
            inner = clang.children(cursor)  # `__builtin_expect` asks for a long
            if (
                len(inner) == 1
                and inner[0].kind.name in ("BINARY_OPERATOR", "PAREN_EXPR", "UNARY_OPERATOR")
                and kind(inner[0].type) == "INT"
                and is_asking(inner[0])
            ):
                return self.condition(inner[0])
        return self.truth(self.value(cursor), cursor.type)

    def _comparison(self, operator: str, left: Any, right: Any) -> str:
        if is_complex(left.type) or is_complex(right.type):
            wide = complex_numbers.wider(left.type, right.type)
            first, second = (
                parenthesise(self.made_complex(self.value(operand), operand.type, wide))
                for operand in (left, right)
            )
        else:
            first, second = map(parenthesise, self._operands(left, right))
        if is_pointer(left.type):
            first = type_null(first, self.types.of(left.type))
        if (is_pointer(left.type) and is_pointer(right.type)) or is_pointer(left.type):
            second = parenthesise(self.cast(second, right.type, left.type))
        elif is_pointer(right.type):
            first = parenthesise(self.cast(first, left.type, right.type))
        if self._comes_last(left, right):
            return f"{{ let __right = {second}; {first} {operator} __right }}"
        return f"{first} {operator} {second}"

    def _comes_last(self, left: Any, right: Any) -> bool:
        """Return whether a variable on the left is read after the right side."""
        declared = named_declaration(left)
        return (
            declared is not None
            and left.type.get_canonical() == inside(left).type.get_canonical()
            and self.has_effects(right)
        )

    def effect(self, cursor: Any) -> str:
        """Return a statement that does what an expression does and drops its value."""
        name = cursor.kind.name
        if (called := self.called_macro(cursor)) is not None:
            code, rust = called
            return f"let _ = {code};" if rust else f"{code};"
        if name == "PAREN_EXPR":
            return self.effect(only(cursor))
        if name == "BINARY_OPERATOR":
            which = clang.binary_operator(cursor)
            left, right = clang.children(cursor)
            if which == BinaryOperator.ASSIGN:
                return self.assignment(left, right)
            if which == BinaryOperator.COMMA:
                return f"{self.effect(left)}\n{self.effect(right)}"
            if which in _LOGIC:
                negated = "" if _LOGIC[which] == "&&" else "!"
                held = parenthesise(self.condition(left))
                return f"if {negated}{held} {{ {self.effect(right)} }}"
        if name == "COMPOUND_ASSIGNMENT_OPERATOR":
            return self.compound(cursor, "")
        if name == "UNARY_OPERATOR" and clang.unary_operator(cursor) in STEPS:
            return self.step(cursor, "")
        if name == "StmtExpr":
            return "{ " + "\n".join(self.statements(only(cursor))) + " }"
        if name == "UNARY_OPERATOR" and clang.unary_operator(cursor) == UnaryOperator.EXTENSION:
            return self.effect(only(cursor))
        if name == "CONDITIONAL_OPERATOR":
            asked, yes, no = clang.children(cursor)
            return (
                f"if {self.condition(asked)} {{ {self.effect(yes)} }} else {{ {self.effect(no)} }}"
            )
        if name in ("CSTYLE_CAST_EXPR", "UNEXPOSED_EXPR") and kind(cursor.type) == "VOID":
            inner = [c for c in clang.children(cursor) if c.kind.is_expression()]
            if len(inner) == 1:
                return self.effect(inner[0])
        code = self.value(cursor)
        if is_null(code):
            return ""
        if kind(cursor.type) == "VOID":
            return f"{code};"
        return f"let _ = {code};" if cursor.kind.name != "CALL_EXPR" else f"{code};"

    def _value_unary_operator(self, cursor: Any) -> str:
        which, inner = clang.unary_operator(cursor), only(cursor)
        if which in (UnaryOperator.POST_INC, UnaryOperator.POST_DEC):
            return self.step(cursor, "__old")
        if which in (UnaryOperator.PRE_INC, UnaryOperator.PRE_DEC):
            return self.step(cursor, "__new")
        if which == UnaryOperator.ADDRESS:
            return self.address(inner, cursor.type)
        if which == UnaryOperator.THROUGH:
            return self.read(cursor)
        if which in (UnaryOperator.PLUS, UnaryOperator.EXTENSION):
            return self.value(inner)
        if which == UnaryOperator.LOGICAL_NOT:
            return f"(!{parenthesise(self.condition(inner))}) as i32"
        self.types.of(cursor.type)
        if which in PARTS:
            if is_complex(inner.type):
                return f"{parenthesise(self.value(inner))}.{PARTS[which]}"
            return (
                self.value(inner)
                if which == UnaryOperator.REAL
                else f"{{ {self.effect(inner)} 0.0 }}"
            )
        if which == UnaryOperator.NOT and is_complex(cursor.type):
            return f"{parenthesise(self.value(inner))}.conjugated()"
        if which == UnaryOperator.NOT:
            return self._within(f"!{parenthesise(self.value(inner))}", "~", cursor)
        if which == UnaryOperator.MINUS:
            code = self.value(inner)
            if is_complex(cursor.type):
                return f"{parenthesise(code)}.negated()"
            if kind(cursor.type) in FLOATS:
                return f"-{parenthesise(code)}"
            if re.fullmatch(r"\d+[iu]\d+", code) and not is_unsigned(cursor.type):
                return f"-{code}"
            return self._within(f"{parenthesise(code)}.wrapping_neg()", "neg", cursor)
        raise Unsupported(in_words(cursor))

    def _value_binary_operator(self, cursor: Any) -> str:
        which = clang.binary_operator(cursor)
        left, right = clang.children(cursor)
        if which == BinaryOperator.ASSIGN:
            return self.assignment_value(left, right)
        if which == BinaryOperator.COMMA:
            code = self.value(right)
            if is_pointer(right.type):
                code = type_null(code, self.types.of(right.type))
            return f"{{ {self.effect(left)}\n{code} }}"
        if which in _COMPARING or which in _LOGIC:
            return f"({self.condition(cursor)}) as i32"
        if which not in _ARITHMETIC:
            raise Unsupported(in_words(cursor))
        operator = _ARITHMETIC[which]
        if points(left.type) or points(right.type):
            code = self.pointer_arithmetic(operator, left, right, cursor.type)
            return self.offset_in(code, cursor)
        if is_complex(cursor.type):
            return self._complex(operator, as_real(left), as_real(right))
        first, second = self._operands(left, right, shifted=operator in ("<<", ">>"))
        self.types.of(cursor.type)
        if operator in _EITHER_WAY and self._comes_last(left, right):
            code = self.arithmetic(operator, first, "__right", cursor.type)
            return f"{{ let __right = {second}; {self._within(code, operator, cursor)} }}"
        code = self.arithmetic(operator, first, second, cursor.type)
        return self._within(code, operator, cursor)

    def _operands(self, left: Any, right: Any, *, shifted: bool = False) -> tuple[str, str]:
        """Two operands, in the width that they are computed in."""
        first, second = self.value(left), self.value(right)
        if shifted or not self._is_wide(left) or not self._is_wide(right):
            return first, second
        width = bitfield_width.common(left, right)
        return bitfield_width.operand(first, left, width), bitfield_width.operand(
            second, right, width
        )

    def _within(self, code: str, operator: str, cursor: Any) -> str:
        if not self._is_wide(cursor):
            return code
        return bitfield_width.within(code, operator, bitfield_width.width_of(cursor), cursor.type)

    def _is_wide(self, cursor: Any) -> bool:
        """Return whether an expression may be computed in the width of a bit-field."""
        return self.types.has_wide_bits and is_integer(cursor.type) and cursor.type.get_size() == 8

    def _complex(self, operator: str, left: Any, right: Any) -> str:
        first, second = self.value(left), self.value(right)
        if not self._comes_last(left, right):
            return self.complex_arithmetic(operator, (first, left.type), (second, right.type))[0]
        code, _ = self.complex_arithmetic(operator, (first, left.type), ("__right", right.type))
        return f"{{ let __right = {second}; {code} }}"

    def _value_compound_assignment_operator(self, cursor: Any) -> str:
        return self.compound(cursor, "__new")


def is_asking(cursor: Any) -> bool:
    """Return whether an expression is worth 0 or 1."""
    cursor = bare(cursor)
    if cursor.kind.name == "BINARY_OPERATOR":
        which = clang.binary_operator(cursor)
        return which in _COMPARING or which in _LOGIC
    return (
        cursor.kind.name == "UNARY_OPERATOR"
        and clang.unary_operator(cursor) == UnaryOperator.LOGICAL_NOT
    )
