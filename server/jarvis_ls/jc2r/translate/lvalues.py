"""What can be read, written and pointed to: variables, members, elements, bit-fields."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.translate.ast import (
    PARTS,
    UnaryOperator,
    bare,
    chosen_branch,
    converted_from,
    inside,
    is_decayed,
    is_parameter,
    only,
    row_of,
    string_in,
)
from jarvis_ls.jc2r.translate.c_types import (
    FUNCTIONS,
    bits_of,
    field_name,
    is_array,
    is_atomic,
    is_function_pointer,
    is_integer,
    is_open,
    is_pointer,
    is_record,
    is_volatile,
    kind,
    plain,
    pointee_of,
)
from jarvis_ls.jc2r.translate.complex_numbers import is_complex
from jarvis_ls.jc2r.translate.conversions import Conversions
from jarvis_ls.jc2r.translate.names import Unsupported
from jarvis_ls.jc2r.translate.rust_text import as_isize, literal, parenthesise, type_null, whole


class LvalueTranslation(Conversions):
    """Places as code, and how they are read and written."""

    is_lasting = False
    """Whether the code is the value of a variable that is there before the program begins."""

    @abstractmethod
    def sizes_of(self, declared: Any) -> list[str]:
        """Return how many elements each dimension of an array of variable length has, outermost
        first.
        """

    def place(self, cursor: Any) -> str:
        """Code for what an expression names, to be read, written or pointed to."""
        name = cursor.kind.name
        if name == "PAREN_EXPR":
            return self.place(only(cursor))
        if name == "DECL_REF_EXPR":
            if address := self.address_if_there(cursor.referenced):
                return f"(*({address} as *mut {self.types.of(cursor.type)}))"
            return self.name_of(cursor.referenced)
        if name == "MEMBER_REF_EXPR":
            return self._member(cursor)
        if name == "ARRAY_SUBSCRIPT_EXPR":
            return self._element(cursor)
        if name == "UNARY_OPERATOR":
            which = clang.unary_operator(cursor)
            if which == UnaryOperator.THROUGH:
                return self.through(only(cursor))
            if which == UnaryOperator.EXTENSION:
                return self.place(only(cursor))
            if which in PARTS and is_complex(only(cursor).type):
                return f"{self.place(only(cursor))}.{PARTS[which]}"
        if name == "UNEXPOSED_EXPR" and len(clang.children(cursor)) == 1:
            return self.place(only(cursor))
        if name == "GENERIC_SELECTION_EXPR":
            return self.place(chosen_branch(cursor))
        if name == "COMPOUND_LITERAL_EXPR":
            return self._literal_place(cursor)
        if is_record(cursor.type):
            return f"(*(&mut {{ {self.value(cursor)} }}))"
        return parenthesise(self.value(cursor))

    def read(self, cursor: Any) -> str:
        """Return the value of a place."""
        if self.is_bit_field(cursor):
            return self.bits(cursor)
        place = self.place(cursor)
        if is_atomic(cursor.type):
            self.types.need("atomic_load")
            word = (
                f"types::atomic_load(&raw mut {place} as *mut core::ffi::c_void,"
                f" {cursor.type.get_size()})"
            )
            return self.from_word(word, cursor.type)
        if is_volatile(cursor.type) and not is_array(cursor.type):
            return f"core::ptr::read_volatile(&raw const {place})"
        return place

    def write(self, cursor: Any, value: str) -> str:
        """Return the statement that sets a place."""
        if self.is_bit_field(cursor):
            return self._set_bits(cursor, value)
        return self.set_at(self.place(cursor), value, cursor.type)

    def set_at(self, place: str, value: str, type_: Any) -> str:
        """Return the statement that sets a place of a type, given as code."""
        if is_atomic(type_):
            self.types.need("atomic_store")
            return (
                f"types::atomic_store(&raw mut {place} as *mut core::ffi::c_void,"
                f" {type_.get_size()}, {self.to_word(value, type_)});"
            )
        if is_volatile(type_):
            return f"core::ptr::write_volatile(&raw mut {place}, {value});"
        return f"{place} = {value};"

    def is_plain(self, cursor: Any) -> bool:
        """Return whether a place is read and written like any other."""
        return not (is_atomic(cursor.type) or is_volatile(cursor.type) or self.is_bit_field(cursor))

    def is_constant_place(self, cursor: Any) -> bool:
        """Return whether Rust lets an expression's place be pointed to for reading only."""
        cursor = inside(cursor)
        name = cursor.kind.name
        if name == "MEMBER_REF_EXPR":
            base = clang.children(cursor)
            if not base:
                return False
            if is_pointer(base[0].type):
                return self._points_to_constant(base[0].type)
            return self.is_constant_place(base[0])
        if name == "ARRAY_SUBSCRIPT_EXPR":
            base, index = clang.children(cursor)
            base = index if is_integer(base.type) else base
            array = _array_of(base)
            if _has_known_length(array):
                return self.is_constant_place(array)
            return self._points_to_constant(base.type)
        if name == "UNARY_OPERATOR" and clang.unary_operator(cursor) == UnaryOperator.THROUGH:
            return self._points_to_constant(only(cursor).type)
        return False

    def _points_to_constant(self, type_: Any) -> bool:
        rust = self.types.parameter(type_) if is_array(type_) else self.types.of(type_)
        return rust.startswith("*const")

    def bits(self, cursor: Any) -> str:
        """Return the value of a bit-field."""
        cursor = bare(cursor)
        self.types.need("get_bits")
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
        cursor = bare(cursor)
        self.types.need("set_bits")
        offset, width = bits_of(cursor.referenced)
        return (
            f"types::set_bits(&raw mut {self._owner(cursor)} as *mut u8, {offset}, {width},"
            f" ({code}) as u64);"
        )

    def _owner(self, cursor: Any) -> str:
        """Return the record a bit-field is a member of, as a place."""
        code, path = self._path(cursor)
        return ".".join([code, *path[:-1]])

    def is_bit_field(self, cursor: Any) -> bool:
        """Return whether an expression names a bit-field."""
        cursor = bare(cursor)
        return cursor.kind.name == "MEMBER_REF_EXPR" and bool(cursor.referenced.is_bitfield())

    def address(self, inner: Any, type_: Any) -> str:
        """`&inner`, which has a pointer type."""
        inner = bare(inner)
        wanted = self.types.of(type_)
        if kind(inner.type) in FUNCTIONS:
            return self.pointer_to_function(inner, type_)
        if (
            inner.kind.name == "UNARY_OPERATOR"
            and clang.unary_operator(inner) == UnaryOperator.THROUGH
        ):
            return self.cast(self.value(only(inner)), only(inner).type, type_)
        if inner.kind.name == "ARRAY_SUBSCRIPT_EXPR":
            return self.cast_code(self._pointer_to_element(inner), wanted)
        if (string := string_in(inner)) is not None:
            return f"{self.text(string)}.as_ptr() as {wanted}"
        word = "const" if self.is_constant_place(inner) else "mut"
        return f"&raw {word} {self.place(inner)} as {wanted}"

    def offset_in(self, code: str, cursor: Any) -> str:
        """`code` for a whole number; where it is worked out with a member of a record at address
        0, as `offsetof` was before C had it, the number it comes to."""
        if "core::ptr::null" in code and is_integer(cursor.type):
            number = clang.constant(cursor)
            if isinstance(number, int):
                return literal(number, self.types.of(cursor.type))
        return code

    def through(self, inner: Any) -> str:
        """`*inner`, as a place."""
        if is_function_pointer(inner.type):
            return self.value(inner)
        return f"(*{parenthesise(type_null(self.value(inner), self.types.parameter(inner.type)))})"

    def offset_pointer(
        self, pointer: str, type_: Any, operator: str, count: str, stride: str = ""
    ) -> str:
        """Return a pointer some elements further, or back; `stride` is how many an element is
        for.
        """
        pointee = pointee_of(type_)
        steps = as_isize(count)
        if stride:
            steps = f"({steps}) * {stride} as isize"
        if operator == "-":
            steps = f"-({steps})"
        if kind(pointee) == "VOID" or kind(pointee) in FUNCTIONS:
            own = self.types.parameter(type_)
            return f"({parenthesise(pointer)} as *mut u8).offset({steps}) as {own}"
        # rustc refuses the address before a table as the value of a variable, though C had it
        way = "wrapping_offset" if self.is_lasting else "offset"
        return f"{parenthesise(pointer)}.{way}({steps})"

    def stride_of(self, cursor: Any, type_: Any) -> str:
        """Return how many elements the rows that a pointer to such arrays moves over have."""
        if not is_open(pointee_of(type_)):
            return ""
        node, depth = row_of(inside(cursor))
        if node.kind.name != "DECL_REF_EXPR":
            raise Unsupported("a variable-length array that an expression yields")
        sizes = self.sizes_of(node.referenced)[depth + 1 :]
        if not sizes:
            raise Unsupported("a variable-length array of unknown size")
        return f"({' * '.join(sizes)})"

    def convert(self, inner: Any, target: Any) -> str:
        """Return an expression as a value of another type, arrays and functions as pointers to
        them.
        """
        if is_open(inner.type) and is_pointer(target):
            return self._address_of_row(inner, target)
        if is_array(inner.type) and is_pointer(target):
            if is_decayed(inner):
                return self.cast_code(self.value(inner), self.types.of(target))
            return self._decay(inner, target)
        if is_array(inner.type) and is_integer(target):
            code = self.value(inner) if is_decayed(inner) else f"&raw const {self.place(inner)}"
            return f"{parenthesise(code)} as *const u8 as usize as {self.types.of(target)}"
        if kind(inner.type) in FUNCTIONS and is_pointer(target) and not is_parameter(inner):
            inner = bare(inner)
            if inner.kind.name == "UNARY_OPERATOR":  # `(*f)(x)`
                return self.cast(self.value(only(inner)), only(inner).type, target)
            return self.pointer_to_function(inner, target)
        return self.cast(self.value(inner), inner.type, target)

    def _address_of_row(self, inner: Any, target: Any) -> str:
        """Return an array of variable length, which is a pointer to its first element."""
        node = inside(inner)
        wanted = self.types.of(target)
        if node.kind.name == "ARRAY_SUBSCRIPT_EXPR":
            return self.cast_code(self._pointer_to_element(node), wanted)
        if (
            node.kind.name == "UNARY_OPERATOR"
            and clang.unary_operator(node) == UnaryOperator.THROUGH
        ):
            return self.cast_code(self.value(only(node)), wanted)
        return self.cast_code(self.place(node), wanted)

    def pointer_to_function(self, inner: Any, target: Any) -> str:
        """Return a function as a value of a pointer type."""
        inner = bare(inner)
        wanted = self.types.of(target)
        if inner.kind.name == "GENERIC_SELECTION_EXPR":
            return self.pointer_to_function(chosen_branch(inner), target)
        if inner.kind.name != "DECL_REF_EXPR":
            return self.cast(self.value(inner), inner.type, target)
        defined = inner.referenced.get_definition()
        own = self.types.function(inner.type if defined is None else defined.type)
        if address := self.address_if_there(inner.referenced):
            code = self.function_at(address, f"Option<{own}>")
        else:
            code = f"Some({self.function_name(inner.referenced)} as {own})"
        if f"Option<{own}>" == wanted:
            return code
        return f"core::mem::transmute::<Option<{own}>, {wanted}>({code})"

    def function_name(self, declared: Any) -> str:
        """Return how a function is named here, builtins by the name of what they represent."""
        name = declared.spelling
        if name.startswith("__builtin_ia32_"):
            raise Unsupported("a processor-specific keyword of the compiler")
        if name.startswith("__builtin_"):
            return self.external(name.removeprefix("__builtin_"), declared)
        return self.name_of(declared)

    def _decay(self, inner: Any, target: Any) -> str:
        inner = bare(inner)
        wanted = self.types.of(target)
        if (string := string_in(inner)) is not None:  # `__func__` is around one
            return f"{self.text(string)}.as_ptr() as {wanted}"
        word = "const" if self.is_constant_place(inner) else "mut"
        return f"&raw {word} {self.place(inner)} as {wanted}"

    @abstractmethod
    def literal_value(self, cursor: Any) -> str:
        """Return the value of a compound literal."""

    def _literal_place(self, cursor: Any) -> str:
        return self.temporary(self.types.of(cursor.type), self.literal_value(cursor))

    def _member(self, cursor: Any) -> str:
        self.types.of(cursor.type)
        code, path = self._path(cursor)
        return ".".join([code, *path])

    def _path(self, cursor: Any) -> tuple[str, list[str]]:
        """Return the place a member is reached from, and the names that lead to it."""
        declared = cursor.referenced
        base = clang.children(cursor)[0]
        owner = plain(base.type)
        if owner.kind.name == "POINTER" or is_array(owner):
            owner = plain(owner.element_type if is_array(owner) else owner.get_pointee())
            code = (
                f"(*{parenthesise(type_null(self.value(base), self.types.parameter(base.type)))})"
            )
        else:
            code = self.place(base)
        self.types.of(owner)
        self.types.check(owner)
        key = (owner.get_declaration().hash, declared.hash)
        if key not in self.types.paths:
            path = path_to(owner, declared)
            if path is None:
                raise Unsupported("the member {name}", name=cursor.spelling)
            self.types.paths[key] = path
        return code, self.types.paths[key]

    def _element(self, cursor: Any) -> str:
        base, index = clang.children(cursor)
        if is_integer(base.type):
            base, index = index, base
        array = _array_of(base)
        if _has_known_length(array):
            return self._of_array(array, self.value(index), self._known_index(index))
        return f"(*{parenthesise(self._pointer_to_element(cursor))})"

    def _known_index(self, index: Any) -> int | None:
        number = clang.constant(index) if self.named_constant(converted_from(index)) else None
        return number if isinstance(number, int) else None

    def _of_array(self, array: Any, index: str, named: int | None) -> str:
        """Return an element of an array: C does not ask whether it is inside, so neither do we.
        `named` is what an index represents that has a name.
        """
        known = whole(index) if named is None else named
        place = self.place(array)
        if known is not None and 0 <= known < array.type.get_canonical().element_count:
            return f"{place}[{known}]" if named is None else f"{place}[{index} as usize]"
        word = "const" if self.is_constant_place(array) else "mut"
        element = self.types.of(array.type.get_canonical().element_type)
        return f"(*(&raw {word} {place} as *{word} {element}).offset({as_isize(index)}))"

    def _pointer_to_element(self, cursor: Any) -> str:
        base, index = clang.children(cursor)
        if is_integer(base.type):
            base, index = index, base
        stride = self.stride_of(base, base.type)
        return self.offset_pointer(self.value(base), base.type, "+", self.value(index), stride)


def _array_of(cursor: Any) -> Any:
    """Return an array, where a pointer to its first element is written."""
    while cursor.kind.name in ("UNEXPOSED_EXPR", "PAREN_EXPR") and (
        len(clang.children(cursor)) == 1
    ):
        cursor = only(cursor)
    return cursor


def _has_known_length(array: Any) -> bool:
    """Return whether an element is one of an array, and not what a pointer leads to."""
    return (
        kind(array.type) == "CONSTANTARRAY"
        and not is_open(array.type)
        and array.kind.name in ("DECL_REF_EXPR", "MEMBER_REF_EXPR", "ARRAY_SUBSCRIPT_EXPR")
        and array.type.get_canonical().element_count > 1
        and not is_parameter(array)
    )


def path_to(owner: Any, wanted: Any) -> list[str] | None:
    """Names of the members that lead to one, through those without a name."""
    for get_field in owner.get_fields():
        if get_field.hash == wanted.hash:
            return [get_field.spelling if get_field.is_bitfield() else field_name(get_field)]
        if not get_field.spelling or "(" in get_field.spelling:
            below = path_to(get_field.type.get_canonical(), wanted)
            if below is not None:
                return [field_name(get_field), *below]
    return None
