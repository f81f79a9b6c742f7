"""Calls: of functions, through pointers, of functions without prototypes, and of builtins."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.translate import builtins, parser_prelude, vectors
from jarvis_ls.jc2r.translate.ast import UnaryOperator, bare, inside, named_declaration, string_in
from jarvis_ls.jc2r.translate.c_types import (
    is_array,
    is_integer,
    is_pointer,
    is_record,
    is_variadic,
    kind,
    plain,
)
from jarvis_ls.jc2r.translate.names import Unsupported
from jarvis_ls.jc2r.translate.operators import Operators
from jarvis_ls.jc2r.translate.rust_text import literal, parenthesise, type_null, whole
from jarvis_ls.jc2r.translate.strings import bytes_of

_STREAMS = frozenset({"stdin", "stdout", "stderr"})
"""Variables of the C library that no argument gives another value."""
_RETURNING_TWICE = {
    "setjmp": "setjmp",
    "_setjmp": "setjmp",
    "__sigsetjmp": "sigsetjmp",
    "sigsetjmp": "sigsetjmp",
    "vfork": "vfork",
    "getcontext": "getcontext",
}
_ANYTHING = "*mut core::ffi::c_void"
WORDS_IN_REGISTERS = 16
"""Records of up to so many bytes travel in registers."""


class Calls(Operators):
    """Values of calls."""

    @abstractmethod
    def external_called(self, declared: Any, arguments: list[Any], result: Any) -> str:
        """Return the name of a function that was declared without parameters, as it is called."""

    @abstractmethod
    def allocate_stack(self, count: str) -> str:
        """Memory that lasts until the function returns."""

    @abstractmethod
    def variadic_arguments(self, list_type: Any) -> str:
        """Return what the arguments without a name of this function are reached through."""

    def _value_call_expr(self, cursor: Any) -> str:
        children = clang.children(cursor)
        if not children:
            raise Unsupported("a call without a target")
        callee, arguments = children[0], children[1:]
        declared: Any = named_declaration(callee)
        if declared is None or declared.kind.name != "FUNCTION_DECL":
            pointer = plain(callee.type)
            type_ = plain(pointer.get_pointee()) if is_pointer(pointer) else pointer
            code = f"{parenthesise(self.value(callee))}.unwrap_unchecked()"
            if type_.kind.name == "FUNCTIONNOPROTO" and arguments:
                code = self._with_types(code, arguments, type_.get_result())
            return self._order_arguments(code, self._arguments(type_, arguments), arguments)
        name = declared.spelling
        if name.startswith(parser_prelude.MARK):
            return self._access(name, arguments)
        if name == "alloca":
            return self._builtin(cursor, "__builtin_alloca", arguments)
        if name.startswith(("__builtin", "__sync", "__atomic")):
            return self._builtin(cursor, name, arguments)
        if name in _RETURNING_TWICE:
            raise Unsupported(_RETURNING_TWICE[name])
        if vectors.is_instruction(declared):
            return self._instruction(cursor, declared, arguments)
        type_ = declared.type.get_canonical()
        if address := self.address_if_there(declared):
            code = self.function_at(address, f"Option<{self.types.function(type_)}>")
            found = self._arguments(type_, arguments)
            return self._order_arguments(f"{code}.unwrap_unchecked()", found, arguments)
        defined = declared.get_definition()
        if type_.kind.name == "FUNCTIONNOPROTO" and defined is not None:
            type_ = defined.type.get_canonical()  # an old definition says what it takes
            if type_.kind.name == "FUNCTIONNOPROTO":  # nothing
                return self._with_others(self.name_of(declared), [], arguments)
        known = list(type_.argument_types()) if type_.kind.name == "FUNCTIONPROTO" else []
        if known and not is_variadic(type_) and len(known) != len(arguments):
            return self._with_others(self.name_of(declared), known, arguments)
        if arguments and type_.kind.name == "FUNCTIONNOPROTO":
            found = self._arguments(type_, arguments)
            function = self.external_called(declared, arguments, cursor.type)
            return self._order_arguments(function, found, arguments)
        function = self.name_of(declared)
        return self._order_arguments(function, self._arguments(type_, arguments), arguments)

    def _instruction(self, cursor: Any, declared: Any, arguments: list[Any]) -> str:
        """Return a function of the processor: what Rust has by that name takes the same, but for
        what pointers point to and the signs of numbers.
        """
        function, given = f"{vectors.MODULE}::{declared.spelling}", arguments
        number = clang.constant(arguments[-1]) if arguments else None
        if vectors.takes_number(declared.spelling):
            if other := "" if isinstance(number, int) else vectors.by_register(declared.spelling):
                value, by = map(self.value, arguments)
                return f"{other}({value}, {vectors.MODULE}::_mm_cvtsi32_si128({by}))"
            if not isinstance(number, int):
                raise Unsupported(
                    "{name} with a number that is not constant", name=declared.spelling
                )
            function, given = f"{function}::<{{ {number} }}>", arguments[:-1]
        found = [
            f"{parenthesise(code)} as _" if is_pointer(type_) or is_integer(type_) else code
            for code, type_ in zip(
                self._arguments(declared.type.get_canonical(), given),
                declared.type.get_canonical().argument_types(),
                strict=False,
            )
        ]
        code = self._order_arguments(function, found, given)
        return f"{code} as {self.types.of(cursor.type)}" if is_integer(cursor.type) else code

    def _processor_part(self, cursor: Any) -> str:
        """Return the part of a processor that a string names, as Rust calls it."""
        string = string_in(cursor)
        return "" if string is None else vectors.part(bytes_of(string).decode("latin-1"))

    def _with_others(self, function: str, known: list[Any], arguments: list[Any]) -> str:
        """Return a call with another number of arguments than an old definition has parameters:
        what is too much is worked out and dropped, what is missing may be anything and is zero.
        """
        given, more = arguments[: len(known)], arguments[len(known) :]
        dropped = "".join(
            f"let _ = {self.value(argument)}; "
            for argument in reversed(more)
            if self.has_effects(argument)
        )
        missing = [self.zero(type_) for type_ in known[len(given) :]]
        found = [
            self.cast(self.value(argument), argument.type, to)
            for argument, to in zip(given, known, strict=False)
        ]
        code = self._order_arguments(function, found, given, missing)
        return f"{{ {dropped}{code} }}" if dropped else code

    def _with_types(self, code: str, arguments: list[Any], result: Any) -> str:
        types = ", ".join(self.types.parameter(argument.type) for argument in arguments)
        back = "" if kind(result) == "VOID" else f" -> {self.types.of(result)}"
        return (
            f'core::mem::transmute::<unsafe extern "C" fn(){back}, '
            f'unsafe extern "C" fn({types}){back}>({code})'
        )

    def _order_arguments(
        self, function: str, found: list[str], arguments: list[Any], rest: Sequence[str] = ()
    ) -> str:
        """Return the call, its arguments worked out from the last to the first where that
        matters.
        """
        if len(found) < 2:
            return f"{function}({', '.join([*found, *rest])})"
        busy = [self.has_effects(argument) for argument in arguments]
        if not any(busy):
            return f"{function}({', '.join([*found, *rest])})"
        writes = any(self.assigns(argument) for argument in arguments)
        held, before = [], []
        for place in reversed(range(len(found))):
            steady = not busy[place] and self._is_steady(arguments[place], writes)
            held.append(found[place] if steady else f"__a{place}")
            if not steady:
                before.append(f"let __a{place} = {found[place]};")
        if len(before) < 2:
            return f"{function}({', '.join([*found, *rest])})"
        return f"{{ {' '.join(before)} {function}({', '.join([*reversed(held), *rest])}) }}"

    def _is_steady(self, cursor: Any, writes: bool) -> bool:
        """Return whether an argument is worth the same whenever it is worked out."""
        if isinstance(clang.constant(cursor), int | float):
            return True
        node = inside(cursor)
        while node.kind.name == "CSTYLE_CAST_EXPR":
            node = inside(
                [child for child in clang.children(node) if child.kind.is_expression()][-1]
            )
        if node.kind.name == "STRING_LITERAL":
            return True
        if (
            node.kind.name == "UNARY_OPERATOR"
            and clang.unary_operator(node) == UnaryOperator.ADDRESS
        ):
            below = inside(clang.children(node)[0])
            return bool(below.kind.name == "DECL_REF_EXPR")
        if node.kind.name == "DECL_REF_EXPR":
            if is_array(node.type) or kind(node.type) == "FUNCTIONPROTO":
                return True
            if node.spelling in _STREAMS and clang.in_system_header(node.referenced):
                return True
            return not writes and self.is_private(node)
        return False

    def _arguments(self, type_: Any, arguments: list[Any]) -> list[str]:
        known = list(type_.argument_types()) if type_.kind.name == "FUNCTIONPROTO" else []
        found = []
        for place, argument in enumerate(arguments):
            code = self.value(argument)
            if place < len(known):
                code = self.cast(code, argument.type, known[place])
            elif kind(argument.type) == "BOOL":
                code = f"{parenthesise(code)} as i32"
            elif is_pointer(argument.type):
                code = type_null(code, self.types.of(argument.type))
            found.append(code)
        return found

    # -- what the prelude made of nodes without a name

    def va_argument(self, call: Any, pointee: Any) -> str:
        """Return a pointer to the next argument without a name, which is a `pointee`."""
        (argument,) = clang.children(call)[1:]
        pointers = self.value(argument)
        size, align = pointee.get_size(), pointee.get_align()
        if is_integer(pointee) or is_pointer(pointee):
            self.types.need("va_word")
            return f"types::va_word({pointers}, {size})"
        if kind(pointee) in ("DOUBLE", "FLOAT"):
            self.types.need("va_float")
            return f"types::va_float({pointers})"
        if is_record(pointee) and size > WORDS_IN_REGISTERS:
            self.types.need("va_memory")
            return f"types::va_memory({pointers}, {size}, {align})"
        if is_record(pointee) and _has_words_only(pointee):
            self.types.need("va_word")
            return f"types::va_word({pointers}, {size})"
        raise Unsupported("va_arg of {type}", type=pointee.spelling)

    def _access(self, name: str, arguments: list[Any]) -> str:
        """Return an access to memory as one."""
        what = name.removeprefix(parser_prelude.MARK)
        if what == "va_arg":
            raise Unsupported("va_arg of an unknown type")
        if what == "fence":
            return "core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst)"
        size = whole(self.value(arguments[-1]))
        if size not in (1, 2, 4, 8):
            raise Unsupported("an atomic struct")
        at, *values = [self.value(argument) for argument in arguments[:-1]]
        if what == "load":
            self.types.need("atomic_load")
            return f"types::atomic_load({self.cast_code(at, _ANYTHING)}, {size})"
        if what == "load_to":
            self.types.need("atomic_load")
            self.types.need("atomic_store")
            held = f"types::atomic_load({self.cast_code(at, _ANYTHING)}, {size})"
            return f"types::atomic_store({values[0]}, {size}, {held})"
        if what == "store":
            self.types.need("atomic_store")
            return f"types::atomic_store({at}, {size}, {values[0]})"
        if what == "compare":
            self.types.need("atomic_expect")
            return f"types::atomic_expect({at}, {size}, {values[0]}, {values[1]})"
        if what in ("same", "was"):
            self.types.need("atomic_compare")
            code = f"types::atomic_compare({at}, {size}, {values[0]}, {values[1]})"
            return f"{code}.is_ok()" if what == "same" else f"{code}.unwrap_or_else(|__one| __one)"
        self.types.need("atomic_update")
        if what == "swap":
            change = "__value"
        else:
            word = what.replace("fetch", "").strip("_")
            change = {
                "add": "__old.wrapping_add(__value)",
                "sub": "__old.wrapping_sub(__value)",
                "and": "__old & __value",
                "or": "__old | __value",
                "xor": "__old ^ __value",
                "nand": "!(__old & __value)",
            }[word]
        result = "1" if what.endswith("_fetch") else "0"
        old = "_" if what == "swap" else "__old"
        return (
            f"{{ let __value = {values[0]};"
            f" types::atomic_update({at}, {size}, |{old}| {change}).{result} }}"
        )

    # -- builtins

    def _builtin(self, cursor: Any, name: str, arguments: list[Any]) -> str:
        if name == "__builtin_va_start":
            list_type = plain(arguments[0].type)
            return (
                f"*{parenthesise(self.value(arguments[0]))} = *{self.variadic_arguments(list_type)}"
            )
        if name == "__builtin_va_copy":
            to, of = (parenthesise(self.value(argument)) for argument in arguments)
            return f"*{to} = *{of}"
        if name == "__builtin_va_end":
            return "()"
        if name in ("__builtin_alloca", "__builtin_alloca_with_align"):
            return self.allocate_stack(self.value(arguments[0]))
        if name == "__builtin_constant_p":
            number = clang.constant(arguments[0])
            return literal(int(number is not None), self.types.of(cursor.type))
        if name == "__builtin_expect":
            return self.cast(self.value(arguments[0]), arguments[0].type, cursor.type)
        if name == "__builtin_assume_aligned":
            return self.cast(self.value(arguments[0]), arguments[0].type, cursor.type)
        if name == "__builtin_complex":
            rust, (real, imaginary) = self.types.of(cursor.type), map(self.value, arguments)
            return f"{rust} {{ re: {real}, im: {imaginary} }}"
        if name == "__builtin_cpu_supports" and (part := self._processor_part(arguments[0])):
            asked = f'std::arch::is_x86_feature_detected!("{part}")'
            rust = self.types.of(cursor.type)
            return asked if rust == "bool" else f"{asked} as {rust}"
        if name in ("__builtin_prefetch", "__builtin_cpu_init"):
            return "()"
        if name == "__builtin_object_size":
            return literal(-1, self.types.of(cursor.type))
        if name.endswith("_overflow"):
            return self._overflow(name, arguments)
        values = [self.value(argument) for argument in arguments]
        code = builtins.value_of(
            name, values, self.types.of(cursor.type) if kind(cursor.type) != "VOID" else "()"
        )
        if code is not None:
            return code
        plain_name = builtins.library_name(name)
        if plain_name is None:
            raise Unsupported(name)
        declared: Any = named_declaration(clang.children(cursor)[0])
        found = self._arguments(declared.type.get_canonical(), arguments)
        if name.endswith("_chk"):
            raise Unsupported(name)
        return f"{self.external(plain_name, declared)}({', '.join(found)})"

    def _overflow(self, name: str, arguments: list[Any]) -> str:
        """`__builtin_add_overflow` and its like: worked out in 128 bits, then narrowed."""
        word = next((operation for operation in ("add", "sub", "mul") if operation in name), None)
        if word is None:
            raise Unsupported(name)
        first, second, to = arguments
        rust = self.types.of(plain(to.type).get_pointee())
        return (
            f"{{ let (__wide, __over) = ({parenthesise(self.value(first))} as i128)"
            f".overflowing_{word}({parenthesise(self.value(second))} as i128);"
            f" *{parenthesise(self.value(to))} = __wide as {rust};"
            f" __over || __wide != __wide as {rust} as i128 }}"
        )


def _has_words_only(type_: Any) -> bool:
    """Return whether a record has no floating members: it travels in whole registers then."""
    for get_field in plain(type_).get_fields():
        inner = plain(get_field.type)
        while is_array(inner):
            inner = plain(inner.element_type)
        if is_record(inner):
            if not _has_words_only(inner):
                return False
        elif not (is_integer(inner) or is_pointer(inner)):
            return False
    return True


def callee_name(cursor: Any) -> str:
    """Return the name of the function an expression calls; empty when it calls none by name."""
    cursor = bare(cursor)
    if cursor.kind.name != "CALL_EXPR":
        return ""
    declared = named_declaration(clang.children(cursor)[0])
    return declared.spelling if declared is not None else ""
