"""Operators: arithmetic as C defines it, comparing, assigning, and in which order.

Where C leaves the order open, it is that of gcc: arguments from the last to the first, the place
of an assignment before its value, a variable after the other operand of `+` and its like.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.baseline.effects import Effects
from jarvis_ls.jc2r.baseline.kinds import (
    FLOATS,
    is_atomic,
    is_function_pointer,
    is_integer,
    is_open,
    is_pointer,
    is_unsigned,
    kind,
    plain,
    pointee_of,
    points,
)
from jarvis_ls.jc2r.baseline.names import Unsupported
from jarvis_ls.jc2r.baseline.nodes import (
    ADDRESS,
    ASSIGN,
    COMMA,
    EXTENSION,
    LOGICAL_NOT,
    MINUS,
    NOT,
    PLUS,
    POST_DEC,
    POST_INC,
    PRE_DEC,
    PRE_INC,
    STEPS,
    THROUGH,
    bare,
    in_words,
    inside,
    named,
    only,
)
from jarvis_ls.jc2r.baseline.places import Places
from jarvis_ls.jc2r.baseline.text import as_u32, literal, typed, whole, wrapped

# As CXBinaryOperatorKind counts.
_ARITHMETIC = {3: "*", 4: "/", 5: "%", 6: "+", 7: "-", 8: "<<", 9: ">>", 17: "&", 18: "^", 19: "|"}
_WRAPPING = {"*": "wrapping_mul", "+": "wrapping_add", "-": "wrapping_sub"}
_EITHER_WAY = ("*", "+", "&", "^", "|")
_COMPARING = {11: "<", 12: ">", 13: "<=", 14: ">=", 15: "==", 16: "!="}
_LOGIC = {20: "&&", 21: "||"}
_COMPOUND = {23: "*", 24: "/", 25: "%", 26: "+", 27: "-", 28: "<<", 29: ">>", 30: "&", 31: "^",
             32: "|"}  # fmt: skip
_SIMPLE = re.compile(r"[\w#]+(\.[\w#]+)*")


class Operators(Places, Effects):
    """Values, conditions and effects of operators."""

    def condition(self, cursor: Any) -> str:
        """Code of type `bool`: whether an expression is not zero."""
        name = cursor.kind.name
        if name == "PAREN_EXPR":
            return self.condition(only(cursor))
        if name == "BINARY_OPERATOR":
            which = clang.binary_operator(cursor)
            left, right = clang.children(cursor)
            if which in _LOGIC:
                return (f"{wrapped(self.condition(left))} {_LOGIC[which]}"
                        f" {wrapped(self.condition(right))}")  # fmt: skip
            if which in _COMPARING:
                return self._comparison(_COMPARING[which], left, right)
            if which == COMMA:
                return f"{{ {self.effect(left)}\n{self.condition(right)} }}"
        if name == "UNARY_OPERATOR" and clang.unary_operator(cursor) == LOGICAL_NOT:
            return f"!{wrapped(self.condition(only(cursor)))}"
        if name == "UNEXPOSED_EXPR" and kind(cursor.type) in ("INT", "LONG"):
            inner = clang.children(cursor)  # `__builtin_expect` asks for a long
            if len(inner) == 1 and inner[0].kind.name in (
                "BINARY_OPERATOR", "PAREN_EXPR", "UNARY_OPERATOR"
            ) and kind(inner[0].type) == "INT" and _is_asking(inner[0]):  # fmt: skip
                return self.condition(inner[0])
        return self.truth(self.value(cursor), cursor.type)

    def _comparison(self, operator: str, left: Any, right: Any) -> str:
        first, second = self._operand(left), self._operand(right)
        if is_pointer(left.type):
            first = typed(first, self.types.of(left.type))
        if (is_pointer(left.type) and is_pointer(right.type)) or is_pointer(left.type):
            second = wrapped(self.cast(second, right.type, left.type))
        elif is_pointer(right.type):
            first = wrapped(self.cast(first, left.type, right.type))
        if self._comes_last(left, right):
            return f"{{ let __right = {second}; {first} {operator} __right }}"
        return f"{first} {operator} {second}"

    def _comes_last(self, left: Any, right: Any) -> bool:
        """Whether a variable on the left is read after the right side."""
        declared = named(left)
        return (
            declared is not None
            and left.type.get_canonical() == inside(left).type.get_canonical()
            and self.has_effects(right)
        )

    def effect(self, cursor: Any) -> str:
        """A statement that does what an expression does and drops its value."""
        name = cursor.kind.name
        if name == "PAREN_EXPR":
            return self.effect(only(cursor))
        if name == "BINARY_OPERATOR":
            which = clang.binary_operator(cursor)
            left, right = clang.children(cursor)
            if which == ASSIGN:
                return self._assignment(left, right)
            if which == COMMA:
                return f"{self.effect(left)}\n{self.effect(right)}"
            if which in _LOGIC:
                negated = "" if _LOGIC[which] == "&&" else "!"
                held = wrapped(self.condition(left))
                return f"if {negated}{held} {{ {self.effect(right)} }}"
        if name == "COMPOUND_ASSIGNMENT_OPERATOR":
            return self._compound(cursor, "")
        if name == "UNARY_OPERATOR" and clang.unary_operator(cursor) in STEPS:
            return self._step(cursor, "")
        if name == "StmtExpr":
            return "{ " + "\n".join(self.statements(only(cursor))) + " }"
        if name == "UNARY_OPERATOR" and clang.unary_operator(cursor) == EXTENSION:
            return self.effect(only(cursor))
        if name == "CONDITIONAL_OPERATOR":
            asked, yes, no = clang.children(cursor)
            return (f"if {self.condition(asked)} {{ {self.effect(yes)} }}"
                    f" else {{ {self.effect(no)} }}")  # fmt: skip
        if name in ("CSTYLE_CAST_EXPR", "UNEXPOSED_EXPR") and kind(cursor.type) == "VOID":
            inner = [c for c in clang.children(cursor) if c.kind.is_expression()]
            if len(inner) == 1:
                return self.effect(inner[0])
        code = self.value(cursor)
        if kind(cursor.type) == "VOID":
            return f"{code};"
        return f"let _ = {code};" if cursor.kind.name != "CALL_EXPR" else f"{code};"

    def _assignment(self, left: Any, right: Any) -> str:
        value = self.value(right)
        if self.is_plain(left) and self.has_effects(right) and not self._is_settled(left):
            place = self.place(left)
            if not _SIMPLE.fullmatch(place):
                return f"{{ let __to = &raw mut {place}; *__to = {value}; }}"
        return self.write(left, value)

    def _is_settled(self, cursor: Any) -> bool:
        """Whether a place is the same before and after a call."""
        cursor = inside(cursor)
        name = cursor.kind.name
        if name == "DECL_REF_EXPR":
            return True
        if name == "MEMBER_REF_EXPR":
            (base,) = clang.children(cursor)[:1]
            if is_pointer(base.type):
                return self.is_private(base)
            return self._is_settled(base)
        if name == "UNARY_OPERATOR" and clang.unary_operator(cursor) == THROUGH:
            return self.is_private(only(cursor))
        if name == "ARRAY_SUBSCRIPT_EXPR":
            base, index = clang.children(cursor)
            array = inside(base)
            known = self.is_private(index) or isinstance(clang.constant(index), int)
            return known and (self.is_private(base) or array.kind.name == "DECL_REF_EXPR")
        return False

    def _value_unary_operator(self, cursor: Any) -> str:
        which, inner = clang.unary_operator(cursor), only(cursor)
        if which in (POST_INC, POST_DEC):
            return self._step(cursor, "__old")
        if which in (PRE_INC, PRE_DEC):
            return self._step(cursor, "__new")
        if which == ADDRESS:
            return self.address(inner, cursor.type)
        if which == THROUGH:
            return self.read(cursor)
        if which in (PLUS, EXTENSION):
            return self.value(inner)
        if which == LOGICAL_NOT:
            return f"(!{wrapped(self.condition(inner))}) as i32"
        self.types.of(cursor.type)
        if which == NOT:
            return f"!{wrapped(self.value(inner))}"
        if which == MINUS:
            code = self.value(inner)
            if kind(cursor.type) in FLOATS:
                return f"-{wrapped(code)}"
            if re.fullmatch(r"\d+[iu]\d+", code) and not is_unsigned(cursor.type):
                return f"-{code}"
            return f"{wrapped(code)}.wrapping_neg()"
        raise Unsupported(in_words(cursor))

    def _step(self, cursor: Any, result: str) -> str:
        inner = only(cursor)
        up = clang.unary_operator(cursor) in (POST_INC, PRE_INC)
        type_ = inner.type
        stride = self.stride_of(inner, type_) if points(type_) else ""

        def new(place: str) -> str:
            if points(type_):
                return self.moved(place, type_, "+" if up else "-", "1i32", stride)
            if kind(type_) in FLOATS:
                return f"{place} {'+' if up else '-'} 1.0"
            if kind(type_) == "BOOL":
                return "true" if up else f"!{place}"
            if not is_integer(type_):
                raise Unsupported(f"counting a {type_.spelling}")
            return f"{place}.wrapping_{'add' if up else 'sub'}(1)"

        return self._changed(inner, result, new)

    def _changed(self, inner: Any, result: str, new: Callable[[str], str]) -> str:
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
                return (f"{{ let __old: {rust} = {old}; let __new: {rust} = {new('__old')};"
                        f" {set_new} {again} }}")  # fmt: skip
            place = self.place(inner)
            return (f"{{ let __at = &raw mut {place}; let __old: {rust} = "
                    f"core::ptr::read_volatile(__at); let __new: {rust} = {new('__old')};"
                    f" core::ptr::write_volatile(__at, __new);{end} }}")  # fmt: skip
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
            return (f"{{ let __at = &raw mut {place}; let __old = *__at;"
                    f" *__at = {new('(*__at)')}; __old }}")  # fmt: skip
        return f"{{ let __at = &raw mut {place}; *__at = {new('(*__at)')}; *__at }}"

    def _changed_atomic(self, inner: Any, result: str, new: Callable[[str], str]) -> str:
        type_ = inner.type
        self.types.need("atomic_update")
        old = self.from_word("__word", type_)
        rust = self.types.of(type_)
        words = (f"types::atomic_update(&raw mut {self.place(inner)} as *mut core::ffi::c_void,"
                 f" {type_.get_size()}, |__word| {{ let __old: {rust} = {old}; let __new: {rust} ="
                 f" {new('__old')}; {self.to_word('__new', type_)} }})")  # fmt: skip
        if not result:
            return f"{words};"
        pair = {"__old": "0", "__new": "1"}[result]
        return self.from_word(f"{words}.{pair}", type_)

    def _value_binary_operator(self, cursor: Any) -> str:
        which = clang.binary_operator(cursor)
        left, right = clang.children(cursor)
        if which == ASSIGN:
            return self._assigned(left, right)
        if which == COMMA:
            code = self.value(right)
            if is_pointer(right.type):
                code = typed(code, self.types.of(right.type))
            return f"{{ {self.effect(left)}\n{code} }}"
        if which in _COMPARING or which in _LOGIC:
            return f"({self.condition(cursor)}) as i32"
        if which not in _ARITHMETIC:
            raise Unsupported(in_words(cursor))
        operator = _ARITHMETIC[which]
        if points(left.type) or points(right.type):
            return self._pointer_arithmetic(operator, left, right, cursor.type)
        first, second = self.value(left), self.value(right)
        self.types.of(cursor.type)
        if operator in _EITHER_WAY and self._comes_last(left, right):
            code = self._arithmetic(operator, first, "__right", cursor.type)
            return f"{{ let __right = {second}; {code} }}"
        return self._arithmetic(operator, first, second, cursor.type)

    def _assigned(self, left: Any, right: Any) -> str:
        """An assignment as a value."""
        value = self.value(right)
        if self.is_bit_field(left):
            return f"{{ {self.write(left, value)} {self.bits(left)} }}"
        place = self.place(left)
        if _SIMPLE.fullmatch(place) and self.is_plain(left):
            return f"{{ {place} = {value}; {place} }}"
        if self.has_effects(right) and not self._is_settled(left) and self.is_plain(left):
            return f"{{ let __to = &raw mut {place}; let __new = {value}; *__to = __new; __new }}"
        return f"{{ let __new = {value}; {self.set_at(place, '__new', left.type)} __new }}"

    def _arithmetic(self, operator: str, left: str, right: str, type_: Any) -> str:
        if kind(type_) in FLOATS:
            return f"{wrapped(left)} {operator} {wrapped(right)}"
        if not is_integer(type_):
            raise Unsupported(f"arithmetic of {type_.spelling}")
        if operator in ("<<", ">>"):
            way = "shl" if operator == "<<" else "shr"
            return f"{wrapped(left)}.wrapping_{way}({as_u32(right)})"
        if operator in _WRAPPING:
            return f"{wrapped(left)}.{_WRAPPING[operator]}({right})"
        if operator in ("/", "%") and not is_unsigned(type_) and whole(right) in (None, 0, -1):
            way = "div" if operator == "/" else "rem"
            return f"{wrapped(left)}.wrapping_{way}({right})"
        if operator in ("/", "%") and whole(right) == 0:  # the compiler would not have it
            return f"{wrapped(left)} {operator} core::hint::black_box({right})"
        return f"{wrapped(left)} {operator} {wrapped(right)}"

    def _pointer_arithmetic(self, operator: str, left: Any, right: Any, type_: Any) -> str:
        if points(left.type) and points(right.type):
            return self._distance(left, right, type_)
        if is_integer(left.type):
            left, right = right, left
        stride = self.stride_of(left, left.type)
        return self.moved(self.value(left), left.type, operator, self.value(right), stride)

    def _distance(self, left: Any, right: Any, type_: Any) -> str:
        pointee = pointee_of(left.type)
        first, second = (
            typed(wrapped(self.value(one)), self.types.of(one.type)) for one in (left, right)
        )
        wanted = self.types.of(type_)
        if is_open(pointee):
            raise Unsupported("a difference of pointers to arrays of variable length")
        size = 1 if kind(pointee) in ("VOID", "FUNCTIONPROTO") else pointee.get_size()
        if size < 0:
            raise Unsupported("a difference of pointers to what has no size")
        if size == 0:
            return literal(0, wanted)
        if size == 1 or is_function_pointer(left.type):
            return f"({first} as isize).wrapping_sub({second} as isize) as {wanted}"
        other = self.cast(second, right.type, left.type)
        return f"{first}.offset_from({other}) as {wanted}"

    def _operand(self, cursor: Any) -> str:
        """An operand of a comparison: `as` would be taken for generics by what follows."""
        return wrapped(self.value(cursor))

    def _value_compound_assignment_operator(self, cursor: Any) -> str:
        return self._compound(cursor, "__new")

    def _compound(self, cursor: Any, result: str) -> str:
        operator = _COMPOUND.get(clang.binary_operator(cursor))
        if operator is None:
            raise Unsupported(in_words(cursor))
        left, right = clang.children(cursor)
        amount = self.value(right)
        if re.fullmatch(r"[\w.#]+", amount) and not self.has_effects(left):
            return self._compound_with(left, right, operator, result, amount)
        if _SIMPLE.fullmatch(self.place(left)) and self.is_plain(left) and not (
            self.has_effects(right)
        ):  # fmt: skip
            return self._compound_with(left, right, operator, result, amount)
        code = self._compound_with(left, right, operator, result, "__amount")
        return f"{{ let __amount = {amount}; {code} }}"

    def _compound_with(self, left: Any, right: Any, operator: str, result: str, amount: str) -> str:
        type_ = left.type
        stride = self.stride_of(left, type_) if points(type_) else ""

        def new(place: str) -> str:
            if points(type_):
                return self.moved(place, type_, operator, amount, stride)
            between = _promoted(type_, right.type, operator)
            if between is None:  # a small integer moved by a large one: an `int` is moved
                value = f"({place} as i32)"
                way = "shl" if operator == "<<" else "shr"
                moved = f"{value}.wrapping_{way}({as_u32(amount)})"
                rust = self.types.of(type_)
                return f"{moved} != 0" if rust == "bool" else f"{moved} as {rust}"
            value = self.cast(place, type_, between)
            changed = self._arithmetic(operator, value, amount, between)
            return self.cast(changed, between, type_)

        return self._changed(left, result, new)


def _promoted(left: Any, right: Any, operator: str) -> Any:
    """The type a compound assignment computes in: the right side has it, but for shifts. None
    stands for `int`."""
    if operator in ("<<", ">>"):
        if left.get_size() < 4 or kind(left) == "BOOL":
            return None
        return plain(left)
    return plain(right)


def _is_asking(cursor: Any) -> bool:
    """Whether an expression is worth 0 or 1."""
    cursor = bare(cursor)
    if cursor.kind.name == "BINARY_OPERATOR":
        which = clang.binary_operator(cursor)
        return which in _COMPARING or which in _LOGIC
    return cursor.kind.name == "UNARY_OPERATOR" and clang.unary_operator(cursor) == LOGICAL_NOT
