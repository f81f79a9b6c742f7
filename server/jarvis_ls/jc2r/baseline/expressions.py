"""Expressions of C as expressions of Rust.

Every method gives code whose Rust type is that of the C type of the cursor. Places (what can be
assigned) and values are told apart by what is asked for: `place` or `value`.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.baseline.initial import Initials, string_in
from jarvis_ls.jc2r.baseline.kinds import (
    FLOATS,
    FUNCTIONS,
    bits_of,
    field_name,
    is_array,
    is_function_pointer,
    is_integer,
    is_pointer,
    is_record,
    is_unsigned,
    kind,
)
from jarvis_ls.jc2r.baseline.names import Unsupported

# As CXBinaryOperatorKind and CXUnaryOperatorKind count.
_ARITHMETIC = {3: "*", 4: "/", 5: "%", 6: "+", 7: "-", 8: "<<", 9: ">>", 17: "&", 18: "^", 19: "|"}
_WRAPPING = {"*": "wrapping_mul", "+": "wrapping_add", "-": "wrapping_sub"}
_COMPARING = {11: "<", 12: ">", 13: "<=", 14: ">=", 15: "==", 16: "!="}
_LOGIC = {20: "&&", 21: "||"}
_ASSIGN, _COMMA = 22, 33
_COMPOUND = {23: "*", 24: "/", 25: "%", 26: "+", 27: "-", 28: "<<", 29: ">>", 30: "&", 31: "^",
             32: "|"}  # fmt: skip
_POST_INC, _POST_DEC, _PRE_INC, _PRE_DEC, _ADDRESS, _THROUGH = 1, 2, 3, 4, 5, 6
_STEPS = (_POST_INC, _POST_DEC, _PRE_INC, _PRE_DEC)
_PLUS, _MINUS, _NOT, _LOGICAL_NOT, _EXTENSION = 7, 8, 9, 10, 13
_SIMPLE = re.compile(r"[\w#]+(\.[\w#]+)*")
_ATOM = re.compile(r"[\w#.]+")
_BUILTINS = {
    "__builtin_expect": 0, "__builtin_bswap16": "swap_bytes", "__builtin_bswap32": "swap_bytes",
    "__builtin_bswap64": "swap_bytes", "__builtin_constant_p": None,
    "__builtin_clz": "leading_zeros", "__builtin_clzl": "leading_zeros",
    "__builtin_clzll": "leading_zeros", "__builtin_ctz": "trailing_zeros",
    "__builtin_ctzl": "trailing_zeros", "__builtin_ctzll": "trailing_zeros",
    "__builtin_popcount": "count_ones", "__builtin_popcountl": "count_ones",
    "__builtin_popcountll": "count_ones",
}  # fmt: skip


class Expressions(Initials):
    """What a function body needs of expressions; names and statements come from below."""

    def value(self, cursor: Any) -> str:
        """Code for the value of an expression. Raises `Unsupported`."""
        method = getattr(self, f"_value_{cursor.kind.name.lower()}", None)
        if method is None:
            raise Unsupported(_in_words(cursor))
        return str(method(cursor))

    @abstractmethod
    def statement(self, cursor: Any) -> list[str]:
        """Lines for one statement."""

    def place(self, cursor: Any) -> str:
        """Code for what an expression names, to be read, written or pointed to."""
        name = cursor.kind.name
        if name == "PAREN_EXPR":
            return self.place(_only(cursor))
        if name == "DECL_REF_EXPR":
            return self.name_of(cursor.referenced)
        if name == "MEMBER_REF_EXPR":
            return self._member(cursor)
        if name == "ARRAY_SUBSCRIPT_EXPR":
            return self._element(cursor)
        if name == "UNARY_OPERATOR":
            which = clang.unary_operator(cursor)
            if which == _THROUGH:
                return self._through(_only(cursor))
            if which == _EXTENSION:
                return self.place(_only(cursor))
        if name == "UNEXPOSED_EXPR" and len(clang.children(cursor)) == 1:
            return self.place(_only(cursor))
        if name == "COMPOUND_LITERAL_EXPR":
            return self._literal_place(cursor)
        return f"(*(&raw mut {{ {self.value(cursor)} }}))" if is_record(cursor.type) else wrapped(
            self.value(cursor)
        )  # fmt: skip

    def condition(self, cursor: Any) -> str:
        """Code of type `bool`: whether an expression is not zero."""
        name = cursor.kind.name
        if name == "PAREN_EXPR":
            return self.condition(_only(cursor))
        if name == "BINARY_OPERATOR":
            which = clang.binary_operator(cursor)
            left, right = clang.children(cursor)
            if which in _LOGIC:
                return (f"{wrapped(self.condition(left))} {_LOGIC[which]}"
                        f" {wrapped(self.condition(right))}")  # fmt: skip
            if which in _COMPARING:
                return f"{self._operand(left)} {_COMPARING[which]} {self._operand(right)}"
            if which == _COMMA:
                return f"{{ {self.effect(left)} {self.condition(right)} }}"
        if name == "UNARY_OPERATOR" and clang.unary_operator(cursor) == _LOGICAL_NOT:
            return f"!{wrapped(self.condition(_only(cursor)))}"
        if name == "UNEXPOSED_EXPR" and _is_int(cursor.type):
            inner = clang.children(cursor)
            if len(inner) == 1 and inner[0].kind.name in ("BINARY_OPERATOR", "PAREN_EXPR") and (
                _is_int(inner[0].type)
            ):  # fmt: skip
                return self.condition(inner[0])
        return self._truth(self.value(cursor), cursor.type)

    def effect(self, cursor: Any) -> str:
        """A statement that does what an expression does and drops its value."""
        name = cursor.kind.name
        if name == "PAREN_EXPR":
            return self.effect(_only(cursor))
        if name == "BINARY_OPERATOR":
            which = clang.binary_operator(cursor)
            left, right = clang.children(cursor)
            if which == _ASSIGN:
                if self.is_bit_field(left):
                    return self._set_bits(left, self.value(right))
                return f"{self.place(left)} = {self.value(right)};"
            if which == _COMMA:
                return f"{self.effect(left)} {self.effect(right)}"
            if which in _LOGIC:
                negated = "" if _LOGIC[which] == "&&" else "!"
                held = wrapped(self.condition(left))
                return f"if {negated}{held} {{ {self.effect(right)} }}"
        if name == "COMPOUND_ASSIGNMENT_OPERATOR":
            return self._compound(cursor, "{place} = {new};")
        if name == "UNARY_OPERATOR" and clang.unary_operator(cursor) in _STEPS:
            return self._step(cursor, "{place} = {new};")
        if name == "StmtExpr":
            return f"{{ {' '.join(self.statements(_only(cursor)))} }}"
        if name == "UNARY_OPERATOR" and clang.unary_operator(cursor) == _EXTENSION:
            return self.effect(_only(cursor))
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

    def cast(self, code: str, source: Any, target: Any) -> str:
        """A value of C type `source` as one of `target`, as C converts it."""
        if kind(target) == "VOID":
            return f"{{ let _ = {code}; }}"
        if is_array(target):  # a parameter written like an array
            return f"{wrapped(code)} as {self.types.parameter(target)}"
        if is_array(source) and is_pointer(target):  # such a parameter
            return f"{wrapped(code)} as {self.types.of(target)}"
        old, new = self.types.of(source), self.types.of(target)
        if old == new:
            return code
        if kind(target) == "BOOL":
            return self._truth(code, source)
        if is_function_pointer(target) or is_function_pointer(source):
            return self._function_cast(code, source, target, old, new)
        if kind(source) in FLOATS or kind(target) in FLOATS:
            if kind(source) == "BOOL":
                return f"{wrapped(code)} as i32 as {new}"
            return f"{wrapped(code)} as {new}"
        if is_integer(source) and is_integer(target):
            return f"{wrapped(code)} as {new}"
        if is_pointer(source) and is_integer(target):
            return f"{wrapped(code)} as usize as {new}"
        if is_integer(source) and is_pointer(target):
            if code in ("0", "(0)") or re.fullmatch(r"0[iu]\d+", code):
                return _null(new)
            return f"{wrapped(code)} as usize as {new}"
        if is_pointer(source) and is_pointer(target):
            return f"{wrapped(code)} as {new}"
        raise Unsupported(f"a conversion of {source.spelling} to {target.spelling}")

    def _function_cast(self, code: str, source: Any, target: Any, old: str, new: str) -> str:
        if is_integer(source) and re.fullmatch(r"\(?0[iu]?\d*\)?", code):
            return "None"
        if code.endswith(("null_mut()", "null()")):
            return "None"
        if is_integer(source):
            return f"core::mem::transmute::<usize, {new}>({wrapped(code)} as usize)"
        if is_integer(target):
            return f"core::mem::transmute::<{old}, usize>({code}) as {new}"
        return f"core::mem::transmute::<{old}, {new}>({code})"

    def _truth(self, code: str, type_: Any) -> str:
        if kind(type_) == "BOOL":
            return code
        if is_function_pointer(type_):
            return f"{wrapped(code)}.is_some()"
        if is_pointer(type_):
            return f"!{wrapped(code)}.is_null()"
        if kind(type_) in FLOATS:
            return f"{wrapped(code)} != 0.0"
        return f"{wrapped(code)} != 0"

    # -- what expressions there are

    def _value_paren_expr(self, cursor: Any) -> str:
        return self.value(_only(cursor))

    def _value_integer_literal(self, cursor: Any) -> str:
        number = clang.constant(cursor)
        if not isinstance(number, int):
            raise Unsupported(f"the constant {cursor.spelling}")
        return literal(number, self.types.of(cursor.type))

    _value_character_literal = _value_integer_literal

    def _value_floating_literal(self, cursor: Any) -> str:
        number = clang.constant(cursor)
        if not isinstance(number, float) or number != number or abs(number) == float("inf"):
            raise Unsupported("a floating constant that is no number")
        return f"{number!r}{self.types.of(cursor.type)}"

    def _value_string_literal(self, cursor: Any) -> str:
        return self.text(cursor)

    def _value_decl_ref_expr(self, cursor: Any) -> str:
        declared = cursor.referenced
        if declared.kind.name == "ENUM_CONSTANT_DECL":
            name = self.enumerator(declared)
            underlying = declared.semantic_parent.enum_type
            return self.cast(name, underlying, cursor.type)
        return self.name_of(declared)

    def _value_member_ref_expr(self, cursor: Any) -> str:
        if self.is_bit_field(cursor):
            return self._bits(cursor)
        return self._member(cursor)

    def _bits(self, cursor: Any) -> str:
        """The value of a bit-field."""
        offset, width = bits_of(cursor.referenced)
        rust = self.types.of(cursor.referenced.type)
        code = f"types::get_bits(&raw const {self._owner(cursor)} as *const u8, {offset}, {width})"
        if rust == "bool":
            return f"({code} != 0)"
        if rust.startswith("i") and width < int(rust[1:]):
            shift = 64 - width
            return f"((({code} << {shift}) as i64 >> {shift}) as {rust})"
        return f"({code} as {rust})"

    def _set_bits(self, cursor: Any, code: str) -> str:
        cursor = _bare(cursor)
        offset, width = bits_of(cursor.referenced)
        return (f"types::set_bits(&raw mut {self._owner(cursor)} as *mut u8, {offset}, {width},"
                f" ({code}) as u64);")  # fmt: skip

    def _changed_bits(self, cursor: Any, form: str, new: Any) -> str:
        cursor = _bare(cursor)
        rust = self.types.of(cursor.referenced.type)
        inside = form.format(place="__field", new=new("__field"))
        result = "" if form.endswith(";") else "__result"
        work = inside if not result else f"let __result = {inside};"
        return (f"{{ let mut __field: {rust} = {self._bits(cursor)}; {work}"
                f" {self._set_bits(cursor, '__field')} {result} }}")  # fmt: skip

    def _owner(self, cursor: Any) -> str:
        """The record a bit-field is a member of, as a place."""
        code, path = self._path(cursor)
        return ".".join([code, *path[:-1]])

    def _value_array_subscript_expr(self, cursor: Any) -> str:
        return self._element(cursor)

    def _value_call_expr(self, cursor: Any) -> str:
        children = clang.children(cursor)
        callee, arguments = children[0], children[1:]
        declared: Any = _named(callee)
        direct = declared is not None and declared.kind.name == "FUNCTION_DECL"
        if direct and declared.spelling.startswith("__builtin"):
            return self._builtin(cursor, declared.spelling, arguments)
        if direct:
            if declared.spelling in ("setjmp", "_setjmp", "__sigsetjmp", "alloca", "vfork"):
                raise Unsupported(declared.spelling)
            name, type_ = self.name_of(declared), declared.type.get_canonical()
            defined = declared.get_definition()
            if arguments and (
                type_.kind.name == "FUNCTIONNOPROTO"
                or (defined is not None and _is_old(defined, type_))
            ):
                return f"{name}({', '.join(self._old_arguments(declared, arguments))})"
        else:
            type_ = callee.type.get_canonical().get_pointee().get_canonical()
            name = f"{wrapped(self.value(callee))}.unwrap_unchecked()"
        return f"{name}({', '.join(self._arguments(type_, arguments))})"

    def _arguments(self, type_: Any, arguments: list[Any]) -> list[str]:
        known = list(type_.argument_types()) if type_.kind.name == "FUNCTIONPROTO" else []
        found = []
        for place, argument in enumerate(arguments):
            code = self.value(argument)
            if place < len(known):
                code = self.cast(code, argument.type, known[place])
            found.append(code)
        if type_.kind.name == "FUNCTIONNOPROTO" and arguments:
            raise Unsupported("a call of a function that was declared without parameters")
        return found

    def _old_arguments(self, declared: Any, arguments: list[Any]) -> list[str]:
        """Arguments of a function that was defined before there were prototypes."""
        known = list((declared.get_definition() or declared).get_arguments())
        if len(known) != len(arguments):
            raise Unsupported("a call of a function that was declared without parameters")
        return [
            self.cast(self.value(argument), argument.type, parameter.type)
            for argument, parameter in zip(arguments, known, strict=True)
        ]

    def _builtin(self, cursor: Any, name: str, arguments: list[Any]) -> str:
        if name in ("__builtin_va_start", "__builtin_va_end", "__builtin_va_copy"):
            raise Unsupported("variadic definitions")
        if name == "__builtin_unreachable":
            return "core::hint::unreachable_unchecked()"
        if name == "__builtin_trap":
            return "std::process::abort()"
        if name not in _BUILTINS:
            plain = name.removeprefix("__builtin_")
            if plain in ("memcpy", "memset", "memmove", "strlen", "memcmp", "strcmp", "abort",
                         "strcpy", "fabs", "sqrt"):  # fmt: skip
                self.types.of(cursor.type)
                declared = cursor.referenced
                function = self.external(plain, declared)
                found = self._arguments(declared.type.get_canonical(), arguments)
                return f"{function}({', '.join(found)})"
            raise Unsupported(name)
        method = _BUILTINS[name]
        if method == 0:
            return self.cast(self.value(arguments[0]), arguments[0].type, cursor.type)
        if method is None:
            return literal(0, self.types.of(cursor.type))
        code = wrapped(self.value(arguments[0]))
        if method == "swap_bytes":
            return f"{code}.swap_bytes()"
        return f"{code}.{method}() as {self.types.of(cursor.type)}"

    def _value_cxx_unary_expr(self, cursor: Any) -> str:
        number = clang.constant(cursor)
        if not isinstance(number, int):
            raise Unsupported("the size of an array of variable length")
        return literal(number, self.types.of(cursor.type))

    def _value_cstyle_cast_expr(self, cursor: Any) -> str:
        inner = [child for child in clang.children(cursor) if child.kind.is_expression()][-1]
        return self._converted(inner, cursor.type)

    def _value_unexposed_expr(self, cursor: Any) -> str:
        inner = [child for child in clang.children(cursor) if child.kind.is_expression()]
        if len(inner) != 1:
            number = clang.constant(cursor)  # `offsetof` among others
            if isinstance(number, int) and is_integer(cursor.type):
                return literal(number, self.types.of(cursor.type))
            raise Unsupported(_in_words(cursor))
        return self._converted(inner[0], cursor.type)

    def _converted(self, inner: Any, target: Any) -> str:
        if is_array(inner.type) and is_pointer(target):
            if is_parameter(inner):  # already a pointer
                return f"{self.place(inner)} as {self.types.of(target)}"
            return self._decayed(inner, target)
        if kind(inner.type) in FUNCTIONS and is_pointer(target):
            inner = _bare(inner)
            if inner.kind.name == "UNARY_OPERATOR":  # `(*f)(x)`
                return self.cast(self.value(_only(inner)), _only(inner).type, target)
            return self._pointer_to_function(inner, target)
        if inner.kind.name in ("INTEGER_LITERAL", "CHARACTER_LITERAL") and is_integer(target):
            number = clang.constant(inner)
            if kind(target) != "BOOL" and isinstance(number, int):
                return literal(number, self.types.of(target))
        return self.cast(self.value(inner), inner.type, target)

    def _pointer_to_function(self, inner: Any, target: Any) -> str:
        inner = _bare(inner)
        wanted = self.types.of(target)
        if inner.kind.name != "DECL_REF_EXPR":
            return self.cast(self.value(inner), inner.type, target)
        own = self.types.function(inner.type)
        code = f"Some({self.name_of(inner.referenced)} as {own})"
        if f"Option<{own}>" == wanted:
            return code
        return f"core::mem::transmute::<Option<{own}>, {wanted}>({code})"

    def _decayed(self, inner: Any, target: Any) -> str:
        while inner.kind.name == "PAREN_EXPR" or (
            inner.kind.name == "UNARY_OPERATOR" and clang.unary_operator(inner) == _EXTENSION
        ):
            inner = _only(inner)
        wanted = self.types.of(target)
        if (string := string_in(inner)) is not None:  # `__func__` stands around one
            return f"{self.text(string)}.as_ptr() as {wanted}"
        if kind(inner.type) == "INCOMPLETEARRAY" or not self.is_constant_place(inner):
            return f"&raw mut {self.place(inner)} as {wanted}"
        return f"&raw const {self.place(inner)} as {wanted}"

    def _value_unary_operator(self, cursor: Any) -> str:
        which, inner = clang.unary_operator(cursor), _only(cursor)
        if which in (_POST_INC, _POST_DEC):
            return self._step(cursor, "{{ let __old = {place}; {place} = {new}; __old }}")
        if which in (_PRE_INC, _PRE_DEC):
            return self._step(cursor, "{{ {place} = {new}; {place} }}")
        if which == _ADDRESS:
            return self._address(inner, cursor.type)
        if which == _THROUGH:
            return self._through(inner)
        if which in (_PLUS, _EXTENSION):
            return self.value(inner)
        if which == _LOGICAL_NOT:
            return f"(!{wrapped(self.condition(inner))}) as i32"
        if which == _NOT:
            return f"!{wrapped(self.value(inner))}"
        if which == _MINUS:
            code = self.value(inner)
            if kind(cursor.type) in FLOATS:
                return f"-{wrapped(code)}"
            if re.fullmatch(r"\d+[iu]\d+", code) and not is_unsigned(cursor.type):
                return f"-{code}"
            return f"{wrapped(code)}.wrapping_neg()"
        raise Unsupported(_in_words(cursor))

    def _address(self, inner: Any, type_: Any) -> str:
        inner = _bare(inner)
        wanted = self.types.of(type_)
        if kind(inner.type) in FUNCTIONS:
            return self._pointer_to_function(inner, type_)
        if inner.kind.name == "UNARY_OPERATOR" and clang.unary_operator(inner) == _THROUGH:
            return self.cast(self.value(_only(inner)), _only(inner).type, type_)
        if inner.kind.name == "ARRAY_SUBSCRIPT_EXPR":
            return self.cast_code(self._pointer_to_element(inner), wanted)
        word = "const" if self.is_constant_place(inner) else "mut"
        return f"&raw {word} {self.place(inner)} as {wanted}"

    def cast_code(self, code: str, wanted: str) -> str:
        """A raw pointer as another."""
        return f"{wrapped(code)} as {wanted}"

    def _through(self, inner: Any) -> str:
        if is_function_pointer(inner.type):
            return self.value(inner)
        return f"(*{wrapped(self.value(inner))})"

    def _step(self, cursor: Any, form: str) -> str:
        inner = _only(cursor)
        up = clang.unary_operator(cursor) in (_POST_INC, _PRE_INC)
        type_ = inner.type

        def new(place: str) -> str:
            if is_pointer(type_):
                return f"{place}.offset({1 if up else -1})"
            if kind(type_) in FLOATS:
                return f"{place} {'+' if up else '-'} 1.0"
            if kind(type_) == "BOOL":
                return "true" if up else f"!{place}"
            return f"{place}.wrapping_{'add' if up else 'sub'}(1)"

        return self._changed(inner, form, new)

    def _changed(self, inner: Any, form: str, new: Any) -> str:
        """Code that reads a place, and writes it, once."""
        if self.is_bit_field(inner):
            return self._changed_bits(inner, form, new)
        place = self.place(inner)
        if _SIMPLE.fullmatch(place):
            return form.format(place=place, new=new(place))
        body = form.format(place="*__at", new=new("(*__at)"))
        inside = body[1:-1].strip() if body.startswith("{") else body
        return f"{{ let __at = &raw mut {place}; {inside} }}"

    def _value_binary_operator(self, cursor: Any) -> str:
        which = clang.binary_operator(cursor)
        left, right = clang.children(cursor)
        if which == _ASSIGN:
            if self.is_bit_field(left):
                return f"{{ {self._set_bits(left, self.value(right))} {self.value(left)} }}"
            place, value = self.place(left), self.value(right)
            if _SIMPLE.fullmatch(place):
                return f"{{ {place} = {value}; {place} }}"
            return f"{{ let __new = {value}; {place} = __new; __new }}"
        if which == _COMMA:
            return f"{{ {self.effect(left)} {self.value(right)} }}"
        if which in _COMPARING or which in _LOGIC:
            return f"({self.condition(cursor)}) as i32"
        if which not in _ARITHMETIC:
            raise Unsupported(_in_words(cursor))
        operator = _ARITHMETIC[which]
        if is_pointer(left.type) or is_pointer(right.type):
            return self._pointer_arithmetic(operator, left, right, cursor.type)
        return self._arithmetic(operator, self.value(left), self.value(right), cursor.type)

    def _arithmetic(self, operator: str, left: str, right: str, type_: Any) -> str:
        if kind(type_) in FLOATS:
            return f"{wrapped(left)} {operator} {wrapped(right)}"
        if operator in ("<<", ">>"):
            way = "shl" if operator == "<<" else "shr"
            return f"{wrapped(left)}.wrapping_{way}({_as_u32(right)})"
        if operator in _WRAPPING:
            return f"{wrapped(left)}.{_WRAPPING[operator]}({right})"
        return f"{wrapped(left)} {operator} {wrapped(right)}"

    def _pointer_arithmetic(self, operator: str, left: Any, right: Any, type_: Any) -> str:
        if is_pointer(left.type) and is_pointer(right.type):
            pointee = left.type.get_canonical().get_pointee()
            if pointee.get_size() <= 0 or kind(pointee) == "VOID":
                raise Unsupported("a difference of pointers to what has no size")
            other = self.cast(self.value(right), right.type, left.type)
            return (f"{wrapped(self.value(left))}.offset_from({other})"
                    f" as {self.types.of(type_)}")  # fmt: skip
        if is_integer(left.type):
            left, right = right, left
        return self._moved(self.value(left), left.type, operator, self.value(right))

    def _moved(self, pointer: str, type_: Any, operator: str, count: str) -> str:
        pointee = type_.get_canonical().get_pointee()
        steps = _as_isize(count)
        if operator == "-":
            steps = f"-({steps})"
        if kind(pointee) == "VOID" or kind(pointee) in FUNCTIONS:
            own = self.types.of(type_)
            return f"({wrapped(pointer)} as *mut u8).offset({steps}) as {own}"
        return f"{wrapped(pointer)}.offset({steps})"

    def _operand(self, cursor: Any) -> str:
        """An operand of a comparison: `as` would be taken for generics by what follows."""
        return wrapped(self.value(cursor))

    def _value_compound_assignment_operator(self, cursor: Any) -> str:
        return self._compound(cursor, "{{ {place} = {new}; {place} }}")

    def _compound(self, cursor: Any, form: str) -> str:
        operator = _COMPOUND.get(clang.binary_operator(cursor))
        if operator is None:
            raise Unsupported(_in_words(cursor))
        left, right = clang.children(cursor)
        amount = self.value(right)
        if not re.fullmatch(r"[\w.#]+", amount) and not _SIMPLE.fullmatch(self.place(left)):
            return self._compound_with(left, right, operator, form, "__amount", amount)
        return self._compound_with(left, right, operator, form, amount, "")

    def _compound_with(
        self, left: Any, right: Any, operator: str, form: str, amount: str, first: str
    ) -> str:
        type_ = left.type

        def new(place: str) -> str:
            if is_pointer(type_):
                return self._moved(place, type_, operator, amount)
            between = _promoted(type_, right.type, operator)
            value = self.cast(place, type_, between)
            result = self._arithmetic(operator, value, amount, between)
            return self.cast(result, between, type_)

        code = self._changed(left, form, new)
        if not first:
            return code
        inside = code[1:-1].strip() if code.startswith("{") else code
        return f"{{ let __amount = {first}; {inside} }}"

    def _value_conditional_operator(self, cursor: Any) -> str:
        asked, yes, no = clang.children(cursor)
        first = self.cast(self.value(yes), yes.type, cursor.type)
        second = self.cast(self.value(no), no.type, cursor.type)
        return f"if {self.condition(asked)} {{ {first} }} else {{ {second} }}"

    def _value_compound_literal_expr(self, cursor: Any) -> str:
        lists = [c for c in clang.children(cursor) if c.kind.name == "INIT_LIST_EXPR"]
        return self.initial(cursor.type, lists[0]) if lists else self.zero(cursor.type)

    def _value_init_list_expr(self, cursor: Any) -> str:
        return self.initial(cursor.type, cursor)

    def _value_stmtexpr(self, cursor: Any) -> str:
        block = _only(cursor)
        *before, last = clang.children(block)
        lines = [line for one in before for line in self.statement(one)]
        return f"{{ {' '.join(lines)} {self.value(last)} }}"

    def _literal_place(self, cursor: Any) -> str:
        value = self._value_compound_literal_expr(cursor)
        return self.temporary(self.types.of(cursor.type), value)

    def _member(self, cursor: Any) -> str:
        code, path = self._path(cursor)
        return ".".join([code, *path])

    def _path(self, cursor: Any) -> tuple[str, list[str]]:
        """The place a member is reached from, and the names that lead to it."""
        declared = cursor.referenced
        base = clang.children(cursor)[0]
        owner = base.type.get_canonical()
        if owner.kind.name == "POINTER":
            owner = owner.get_pointee().get_canonical()
            code = f"(*{wrapped(self.value(base))})"
        else:
            code = self.place(base)
        self.types.check(owner)
        self.types.of(owner)
        path = _path_to(owner, declared)
        if path is None:
            raise Unsupported(f"the member {cursor.spelling}")
        return code, path

    def _element(self, cursor: Any) -> str:
        base, index = clang.children(cursor)
        if is_integer(base.type):
            base, index = index, base
        array = base
        while array.kind.name in ("UNEXPOSED_EXPR", "PAREN_EXPR") and (
            len(clang.children(array)) == 1
        ):
            array = _only(array)
        if kind(array.type) == "CONSTANTARRAY" and array.kind.name in (
            "DECL_REF_EXPR", "MEMBER_REF_EXPR", "ARRAY_SUBSCRIPT_EXPR",
        ) and array.type.get_canonical().element_count > 1 and not is_parameter(array):  # fmt: skip
            return self._of_array(array, self.value(index))
        return f"(*{wrapped(self._pointer_to_element(cursor))})"

    def _of_array(self, array: Any, index: str) -> str:
        """An element of an array: C does not ask whether it is inside, so neither do we."""
        known = re.fullmatch(r"(\d+)[iu]\d+", index)
        place = self.place(array)
        if known is not None and int(known[1]) < array.type.get_canonical().element_count:
            return f"{place}[{known[1]}]"
        word = "const" if self.is_constant_place(array) else "mut"
        element = self.types.of(array.type.get_canonical().element_type)
        return f"(*(&raw {word} {place} as *{word} {element}).offset({_as_isize(index)}))"

    def _pointer_to_element(self, cursor: Any) -> str:
        base, index = clang.children(cursor)
        if is_integer(base.type):
            base, index = index, base
        return self._moved(self.value(base), base.type, "+", self.value(index))

    def is_bit_field(self, cursor: Any) -> bool:
        """Whether an expression names a bit-field."""
        cursor = _bare(cursor)
        return cursor.kind.name == "MEMBER_REF_EXPR" and bool(cursor.referenced.is_bitfield())


def literal(number: int, rust: str) -> str:
    """A whole number as a literal of a Rust type, wrapped to its width."""
    if rust == "bool":
        return "true" if number else "false"
    if rust in ("f32", "f64"):
        return f"{number}.0{rust}"
    bits = {"isize": 64, "usize": 64}.get(rust) or int(rust[1:])
    number &= (1 << bits) - 1
    if rust.startswith("i") and number >> (bits - 1):
        number -= 1 << bits
    return f"({number}{rust})" if number < 0 else f"{number}{rust}"


def wrapped(code: str) -> str:
    """`code` in parentheses unless it is one word or stands in some already."""
    if _ATOM.fullmatch(code) or _closed(code):
        return code
    return f"({code})"


def _closed(code: str) -> bool:
    """Whether the first character opens a parenthesis that the last one closes."""
    if not code.startswith("(") or not code.endswith(")"):
        return False
    depth = 0
    for place, character in enumerate(code):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return place == len(code) - 1
    return False


def _as_isize(code: str) -> str:
    match = re.fullmatch(r"\(?(-?\d+)[iu]\d+\)?", code)
    return match[1] if match else f"{wrapped(code)} as isize"


def _as_u32(code: str) -> str:
    match = re.fullmatch(r"(\d+)[iu]\d+", code)
    return match[1] if match else f"{wrapped(code)} as u32"


def _promoted(left: Any, right: Any, operator: str) -> Any:
    """The type a compound assignment computes in: the right side has it, but for shifts."""
    if operator in ("<<", ">>"):
        if left.get_size() < 4 or kind(left) == "BOOL":
            return _int_of(right)
        return left.get_canonical()
    return right.get_canonical()


def _int_of(type_: Any) -> Any:
    """`int`, told from a type that is at least one."""
    if kind(type_) == "INT":
        return type_.get_canonical()
    raise Unsupported("a shift of a small integer by a large one")


def _null(rust: str) -> str:
    if rust.startswith("Option"):
        return "None"
    return "core::ptr::null()" if rust.startswith("*const") else "core::ptr::null_mut()"


def _path_to(owner: Any, wanted: Any) -> list[str] | None:
    """Names of the members that lead to one, through those without a name."""
    for one in owner.get_fields():
        if one.hash == wanted.hash:
            return [one.spelling if one.is_bitfield() else field_name(one)]
        if not one.spelling or "(" in one.spelling:
            inner = _path_to(one.type.get_canonical(), wanted)
            if inner is not None:
                return [field_name(one), *inner]
    return None


def _is_int(type_: Any) -> bool:
    return kind(type_) == "INT"


def _is_old(declared: Any, type_: Any) -> bool:
    """Whether a function was defined with its parameters' types behind the parentheses: what it
    takes is then not what it is called with."""
    wanted = [kind(one) for one in type_.argument_types()]
    return wanted != [
        "POINTER" if is_array(one.type) else kind(one.type) for one in declared.get_arguments()
    ]


def _named(cursor: Any) -> Any | None:
    """What an expression names, seen through parentheses and conversions; None when it computes."""
    while cursor.kind.name in ("PAREN_EXPR", "UNEXPOSED_EXPR"):
        children = clang.children(cursor)
        if len(children) != 1:
            return None
        cursor = children[0]
    return cursor.referenced if cursor.kind.name == "DECL_REF_EXPR" else None


def is_parameter(cursor: Any) -> bool:
    """Whether an expression names a parameter."""
    cursor = _bare(cursor)
    return bool(cursor.kind.name == "DECL_REF_EXPR" and cursor.referenced.kind.name == "PARM_DECL")


def _bare(cursor: Any) -> Any:
    """An expression without the parentheses around it."""
    while cursor.kind.name == "PAREN_EXPR":
        cursor = _only(cursor)
    return cursor


def _only(cursor: Any) -> Any:
    children = clang.children(cursor)
    if len(children) != 1:
        raise Unsupported(_in_words(cursor))
    return children[0]


def _in_words(cursor: Any) -> str:
    return str(cursor.kind.name.lower().replace("_", " "))
