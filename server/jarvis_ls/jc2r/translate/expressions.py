"""Expressions of C as expressions of Rust.

Every method gives code whose Rust type is that of the C type of the cursor. Places (what can be
assigned) and values are distinguished by what is asked for: `place` or `value`.
"""

from __future__ import annotations

from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.translate import generic_selection, parser_prelude
from jarvis_ls.jc2r.translate.ast import bare, chosen_branch, in_words, inside, only, row_of
from jarvis_ls.jc2r.translate.c_types import (
    FLOATS,
    element_of,
    field_name,
    is_function_pointer,
    is_integer,
    is_open,
    is_pointer,
    is_record,
    kind,
    plain,
)
from jarvis_ls.jc2r.translate.calls import Calls, callee_name
from jarvis_ls.jc2r.translate.names import Unsupported
from jarvis_ls.jc2r.translate.rust_text import literal, null

_LEAVING = ("RETURN_STMT", "BREAK_STMT", "CONTINUE_STMT", "GOTO_STMT")


class Expressions(Calls):
    """What a function body needs of expressions; names and statements come from below."""

    def value(self, cursor: Any) -> str:
        """Code for the value of an expression. Raises `Unsupported`."""
        if name := self.named_constant(cursor):
            return name
        if (called := self.called_macro(cursor)) is not None:
            code, rust = called
            return f"{code} as i32" if rust == "bool" and kind(cursor.type) != "BOOL" else code
        method = getattr(self, f"_value_{cursor.kind.name.lower()}", None)
        if method is None:
            raise Unsupported(in_words(cursor))
        return str(method(cursor))

    def _value_paren_expr(self, cursor: Any) -> str:
        return self.value(only(cursor))

    def _value_integer_literal(self, cursor: Any) -> str:
        number = clang.constant(cursor)
        if not isinstance(number, int):
            raise Unsupported("the constant {text}", text=cursor.spelling)
        return literal(number, self.types.of(cursor.type))

    _value_character_literal = _value_integer_literal

    def _value_floating_literal(self, cursor: Any) -> str:
        rust = self.types.of(cursor.type)
        number = clang.constant(cursor)
        if not isinstance(number, float) or number != number:
            raise Unsupported("a floating constant that is not a number")
        if abs(number) == float("inf"):
            return f"{rust}::INFINITY"
        return f"{number!r}{rust}"

    def _value_imaginary_literal(self, cursor: Any) -> str:
        return f"{self.types.of(cursor.type)} {{ re: 0.0, im: {self.value(only(cursor))} }}"

    def _value_string_literal(self, cursor: Any) -> str:
        return self.text(cursor)

    def _value_decl_ref_expr(self, cursor: Any) -> str:
        declared = cursor.referenced
        if declared.kind.name == "ENUM_CONSTANT_DECL":
            name = self.enumerator(declared)
            underlying = declared.semantic_parent.enum_type
            return self.cast(name, underlying, cursor.type)
        if declared.kind.name == "FUNCTION_DECL":
            return self.function_name(declared)
        self.types.of(cursor.type)
        return self.read(cursor)

    def _value_member_ref_expr(self, cursor: Any) -> str:
        return self.read(cursor)

    def _value_array_subscript_expr(self, cursor: Any) -> str:
        return self.read(cursor)

    def _value_cxx_unary_expr(self, cursor: Any) -> str:
        number = clang.constant(cursor)
        if isinstance(number, int):
            return literal(number, self.types.of(cursor.type))
        inner = [inside(child) for child in clang.children(cursor)]
        if len(inner) == 1 and is_open(inner[0].type):
            node, depth = row_of(inner[0])
            if node.kind.name == "DECL_REF_EXPR":
                sizes = self.sizes_of(node.referenced)[depth:]
                size = element_of(inner[0].type).get_size()
                return f"(({' * '.join(sizes)}) * {size}) as {self.types.of(cursor.type)}"
        return self._size_of_row(cursor)

    def _size_of_row(self, cursor: Any) -> str:
        """`sizeof (T[n])`: libclang shows the lengths, and what `T` is the text says."""
        children = clang.children(cursor)
        lengths = [child for child in children if child.kind.is_expression()]
        named = next((child for child in children if child.kind.name == "TYPE_REF"), None)
        row = generic_selection.row_asked_of(cursor)
        if row is None or len(lengths) < row[2]:
            raise Unsupported("the size of a variable-length array")
        element, pointer, count = row
        size = 8 if pointer else generic_selection.WIDTHS.get(element)
        if size is None and named is not None:
            size = named.type.get_size()
        if size is None or size <= 0:
            raise Unsupported("the size of a variable-length array")
        product = " * ".join(f"({self.value(length)}) as usize" for length in lengths[:count])
        return f"(({product}) * {size}usize) as {self.types.of(cursor.type)}"

    def _value_cstyle_cast_expr(self, cursor: Any) -> str:
        inner = [child for child in clang.children(cursor) if child.kind.is_expression()][-1]
        if callee_name(inner) == f"{parser_prelude.MARK}va_arg":
            pointee = plain(plain(cursor.type).get_pointee())
            code = self.va_argument(bare(inner), pointee)
            return f"{code} as {self.types.of(cursor.type)}"
        if callee_name(inner).startswith(parser_prelude.MARK) and kind(inner.type) == "ULONGLONG":
            return self.from_word(self.value(inner), cursor.type)
        if kind(cursor.type) == "RECORD":  # a cast to a union, or to the type it has
            return self._as_record(inner, cursor.type)
        return self.offset_in(self._convert_operand(inner, cursor.type), cursor)

    def _as_record(self, inner: Any, type_: Any) -> str:
        if inner.type.get_canonical() == type_.get_canonical() or is_record(inner.type):
            return self.value(inner)
        for member in plain(type_).get_fields():
            if plain(member.type) == plain(inner.type):  # gcc makes a union of what one member is
                rust, name = self.types.of(type_), field_name(member)
                self.types.check(plain(type_))
                return (
                    f"{{ let mut __made = core::mem::zeroed::<{rust}>();"
                    f" __made.{name} = {self.value(inner)}; __made }}"
                )
        raise Unsupported("a cast to a union without such a member")

    def _value_unexposed_expr(self, cursor: Any) -> str:
        children = clang.children(cursor)
        inner = [child for child in children if child.kind.is_expression()]
        if len(inner) == 1 and len(children) == 1:
            return self._convert_operand(inner[0], cursor.type)
        number = clang.constant(cursor)  # `offsetof` among others
        if isinstance(number, int) and is_integer(cursor.type):
            return literal(number, self.types.of(cursor.type))
        if (
            len(inner) == 1
            and kind(inner[0].type) != "INVALID"
            and not any(child.kind.name in ("MEMBER_REF", "TYPE_REF") for child in children)
        ):
            return self._convert_operand(inner[0], cursor.type)
        if len(inner) == 4:  # `a ?: b`, which names `a` three times
            return self._elvis(inner[0], inner[3], cursor.type)
        if len(inner) == 3 and isinstance(clang.constant(inner[0]), int):
            taken = inner[1] if clang.constant(inner[0]) else inner[2]  # `__builtin_choose_expr`
            return self.cast(self.value(taken), taken.type, cursor.type)
        raise Unsupported(in_words(cursor))

    def _elvis(self, asked: Any, other: Any, type_: Any) -> str:
        held = self.value(asked)
        question = self.truth("__asked", asked.type)
        yes = self.cast("__asked", asked.type, type_)
        no = self.cast(self.value(other), other.type, type_)
        return f"{{ let __asked = {held}; if {question} {{ {yes} }} else {{ {no} }} }}"

    def _convert_operand(self, inner: Any, target: Any) -> str:
        if name := self.named_constant(inner):
            if is_pointer(target) and clang.constant(inner) == 0:
                return "None" if is_function_pointer(target) else null(self.types.of(target))
            return self.cast(name, inner.type, target)
        if inner.kind.name in ("INTEGER_LITERAL", "CHARACTER_LITERAL") and is_integer(target):
            number = clang.constant(inner)
            if kind(target) != "BOOL" and isinstance(number, int):
                return literal(number, self.types.of(target))
        if kind(target) in FLOATS and inner.kind.name == "INTEGER_LITERAL":
            number = clang.constant(inner)
            if isinstance(number, int) and abs(number) < 2**24:
                return f"{float(number)!r}{self.types.of(target)}"
        if kind(inner.type) == "VOID" and kind(target) == "VOID":
            return self.value(inner)
        return self.convert(inner, target)

    def _value_conditional_operator(self, cursor: Any) -> str:
        if (number := self._worked_out(cursor)) is not None:
            return literal(number, self.types.of(cursor.type))
        asked, yes, no = clang.children(cursor)
        if kind(cursor.type) == "VOID":
            return (
                f"if {self.condition(asked)} {{ {self.effect(yes)} }} else {{ {self.effect(no)} }}"
            )
        first = self.cast(self.value(yes), yes.type, cursor.type)
        second = self.cast(self.value(no), no.type, cursor.type)
        return f"if {self.condition(asked)} {{ {first} }} else {{ {second} }}"

    def _worked_out(self, cursor: Any) -> int | None:
        """Return the number that a choice comes to whose parts are choices again: the largest of
        many sizes, found by a macro that names its arguments twice, would be written out twice each
        time. None for others.
        """
        number = clang.constant(cursor) if is_integer(cursor.type) else None
        if not isinstance(number, int) or self.has_effects(cursor):
            return None
        again = frozenset({clang.cindex().CursorKind.CONDITIONAL_OPERATOR.value})
        return number if any(True for _ in clang.descendants(cursor, again)) else None

    def _value_generic_selection_expr(self, cursor: Any) -> str:
        number = clang.constant(cursor)
        if isinstance(number, int) and is_integer(cursor.type):
            return literal(number, self.types.of(cursor.type))
        return self.value(chosen_branch(cursor))

    def _value_compound_literal_expr(self, cursor: Any) -> str:
        return self.literal_value(cursor)

    def literal_value(self, cursor: Any) -> str:
        """See `Places`."""
        lists = [c for c in clang.children(cursor) if c.kind.is_expression()]
        return self.initial(cursor.type, lists[-1]) if lists else self.zero(cursor.type)

    def _value_init_list_expr(self, cursor: Any) -> str:
        return self.initial(cursor.type, cursor)

    def _value_stmtexpr(self, cursor: Any) -> str:
        block = only(cursor)
        children = clang.children(block)
        if not children:
            return "()"
        *before, last = children
        lines = [line for statement in before for line in self.statement(statement)]
        if last.kind.is_expression():
            end = self.value(last) if kind(last.type) != "VOID" else self.effect(last)
        elif kind(cursor.type) == "VOID" or last.kind.name in _LEAVING:
            end = "\n".join(self.statement(last))
        else:
            raise Unsupported("a statement expression that ends with a statement")
        return "{ " + "\n".join([*lines, end]) + " }"
