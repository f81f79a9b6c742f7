"""Initialisers: lists with and without designators, strings, and what is left out."""

from __future__ import annotations

import ast
import re
from abc import ABC, abstractmethod
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.baseline.kinds import (
    Types,
    bits_of,
    field_name,
    is_array,
    is_function_pointer,
    is_pointer,
    is_record,
    kind,
)
from jarvis_ls.jc2r.baseline.names import Unsupported

_MANY = 16
"""So many zeros at the end of an array are not written out."""
_PIECE = re.compile(r'(?:u8|u|U|L)?"((?:[^"\\]|\\.)*)"', re.DOTALL)
_OCTAL = re.compile(r"\\([0-7]{1,3})")


class Initials(ABC):
    """What initialisers need of their surroundings."""

    types: Types

    @abstractmethod
    def value(self, cursor: Any) -> str:
        """Code for the value of an expression."""

    @abstractmethod
    def cast(self, code: str, source: Any, target: Any) -> str:
        """A value of one C type as one of another."""

    @abstractmethod
    def name_of(self, declared: Any) -> str:
        """How a variable or function is named here."""

    @abstractmethod
    def enumerator(self, declared: Any) -> str:
        """How an enumeration constant is named here."""

    @abstractmethod
    def external(self, name: str, declared: Any) -> str:
        """How a function of the system is named here."""

    @abstractmethod
    def temporary(self, rust: str, value: str) -> str:
        """A new variable of the function that holds `value`."""

    @abstractmethod
    def is_constant_place(self, cursor: Any) -> bool:
        """Whether an expression names something that must not be written."""

    def initial(self, type_: Any, cursor: Any) -> str:
        """The value of an initialiser for a variable of a type. Raises `Unsupported`."""
        if cursor.kind.name == "INIT_LIST_EXPR":
            items = clang.children(cursor)
            if not is_array(type_) and not is_record(type_):
                return self._scalar(type_, items[0]) if items else self.zero(type_)
            if len(items) == 1 and is_array(type_) and (string := string_in(items[0])) is not None:
                return self._characters(type_, string)
            code, used = self._aggregate(type_, items, 0)
            if used < len(items):
                raise Unsupported("an initialiser with more values than places")
            return code
        if is_array(type_):
            string = string_in(cursor)
            if string is None:
                raise Unsupported("an array set from an expression")
            return self._characters(type_, string)
        return self._scalar(type_, cursor)

    @abstractmethod
    def statements(self, block: Any) -> list[str]:
        """Lines for the statements of a block."""

    def zero(self, type_: Any) -> str:
        """All bits zero."""
        if is_record(type_) or kind(type_) == "CONSTANTARRAY":
            rust = self.types.of(type_)
            if kind(type_) == "CONSTANTARRAY":
                element = type_.get_canonical().element_type
                if not is_record(element) and not is_array(element):
                    return f"[{self.zero(element)}; {type_.get_canonical().element_count}]"
            return f"unsafe {{ core::mem::zeroed::<{rust}>() }}"
        if is_function_pointer(type_):
            return "None"
        if is_pointer(type_):
            rust = self.types.of(type_)
            return "core::ptr::null()" if rust.startswith("*const") else "core::ptr::null_mut()"
        rust = self.types.of(type_)
        return {"bool": "false", "f32": "0.0", "f64": "0.0"}.get(rust, "0")

    def text(self, cursor: Any) -> str:
        """A string literal as a reference to an array of bytes, its final zero included."""
        data = _bytes_of(cursor)
        size = cursor.type.get_canonical().element_count
        data = data[:size].ljust(size, b"\0")
        return f'b"{_escaped(data)}"'

    def _scalar(self, type_: Any, cursor: Any) -> str:
        if cursor.kind.name == "INIT_LIST_EXPR":
            return self.initial(type_, cursor)
        return self.cast(self.value(cursor), cursor.type, type_)

    def _aggregate(self, type_: Any, items: list[Any], at: int) -> tuple[str, int]:
        """The value of a record or array from `items[at:]`, and how far it took."""
        type_ = type_.get_canonical()
        if is_array(type_):
            return self._array(type_, items, at)
        return self._record(type_, items, at)

    def _array(self, type_: Any, items: list[Any], at: int) -> tuple[str, int]:
        element, size = type_.element_type, type_.element_count
        values: dict[int, str] = {}
        place = 0
        while at < len(items) and place < size:
            designated = _designated(items[at])
            if designated is not None:
                path, target = designated
                if len(path) != 1 or path[0].kind.name == "MEMBER_REF":
                    raise Unsupported("nested designators")
                number = clang.constant(path[0])
                if not isinstance(number, int):
                    raise Unsupported("a designator that is no constant")
                place = number
                values[place] = self._part_from(element, target)
                at += 1
            else:
                values[place], at = self._next(element, items, at)
            place += 1
        return self._array_code(type_, values), at

    def _array_code(self, type_: Any, values: dict[int, str]) -> str:
        element, size = type_.element_type, type_.element_count
        rust = self.types.of(element)
        zero = self.zero(element)
        if not values:
            return self.zero(type_)
        if size - len(values) > _MANY:
            sets = " ".join(f"__all[{n}] = {code};" for n, code in sorted(values.items()))
            return f"{{ let mut __all: [{rust}; {size}] = {self.zero(type_)}; {sets} __all }}"
        return f"[{', '.join(values.get(n, zero) for n in range(size))}]"

    def _record(self, type_: Any, items: list[Any], at: int) -> tuple[str, int]:
        rust = self.types.of(type_)
        self.types.check(type_)
        fields = list(type_.get_fields())
        union = type_.get_declaration().kind.name == "UNION_DECL"
        values: dict[int, str] = {}
        place = 0
        while at < len(items) and place < len(fields):
            designated = _designated(items[at])
            if designated is not None:
                path, target = designated
                if len(path) != 1 or path[0].kind.name != "MEMBER_REF":
                    raise Unsupported("nested designators")
                hashes = [one.hash for one in fields]
                if path[0].referenced.hash not in hashes:
                    raise Unsupported("a designator of a member without a name")
                place = hashes.index(path[0].referenced.hash)
                values[place] = self._part_from(fields[place].type, target)
                at += 1
            else:
                values[place], at = self._next(fields[place].type, items, at)
            place += 1
            if union:
                break
        if union:
            first = next(iter(values), 0)
            if not values:
                return self.zero(type_), at
            return f"{rust} {{ {field_name(fields[first])}: {values[first]} }}", at
        if any(one.is_bitfield() for one in fields):
            return self._with_bits(type_, fields, values), at
        parts = [
            f"{field_name(one)}: {values.get(n) or self.zero(one.type)}"
            for n, one in enumerate(fields)
            if kind(one.type) != "INCOMPLETEARRAY"
        ]
        if any(kind(one.type) == "INCOMPLETEARRAY" for one in fields):
            raise Unsupported("a flexible array with an initialiser")
        return f"{rust} {{ {', '.join(parts)} }}", at

    def _with_bits(self, type_: Any, fields: list[Any], values: dict[int, str]) -> str:
        rust = self.types.of(type_)
        sets = []
        for n, code in sorted(values.items()):
            one = fields[n]
            if one.is_bitfield():
                offset, width = bits_of(one)
                sets.append(f"types::set_bits(&raw mut __all as *mut u8, {offset}, {width},"
                            f" ({code}) as u64);")  # fmt: skip
            else:
                sets.append(f"__all.{field_name(one)} = {code};")
        return f"{{ let mut __all: {rust} = core::mem::zeroed(); {' '.join(sets)} __all }}"

    def _next(self, type_: Any, items: list[Any], at: int) -> tuple[str, int]:
        """The next member: one item, or as many as its braces would have held."""
        item = items[at]
        if item.kind.name == "INIT_LIST_EXPR" or not (is_array(type_) or is_record(type_)):
            return self._part_from(type_, item), at + 1
        if is_array(type_) and string_in(item) is not None:
            return self._part_from(type_, item), at + 1
        if is_record(type_) and is_record(item.type):
            return self._part_from(type_, item), at + 1
        return self._aggregate(type_, items, at)

    def _part_from(self, type_: Any, item: Any) -> str:
        if is_record(type_) and item.kind.name != "INIT_LIST_EXPR":
            return self.cast(self.value(item), item.type, type_)
        return self.initial(type_, item)

    def _characters(self, type_: Any, string: Any) -> str:
        element = type_.get_canonical().element_type
        if element.get_size() != 1:
            raise Unsupported("wide strings")
        size = max(0, type_.get_canonical().element_count)
        data = _bytes_of(string)[:size].ljust(size, b"\0")
        if self.types.of(element) == "u8":
            return f'*b"{_escaped(data)}"'
        return (
            f'unsafe {{ core::mem::transmute::<[u8; {size}], [i8; {size}]>(*b"{_escaped(data)}") }}'
        )


def _designated(item: Any) -> tuple[list[Any], Any] | None:
    """Designators and value of `.a = 1` or `[2] = 3`; None for a plain item."""
    if item.kind.name != "UNEXPOSED_EXPR" or kind(item.type) != "VOID":
        return None
    children = clang.children(item)
    return (children[:-1], children[-1]) if len(children) > 1 else None


def string_in(cursor: Any) -> Any | None:
    """The string literal an expression is, seen through parentheses and conversions."""
    while cursor.kind.name in ("UNEXPOSED_EXPR", "PAREN_EXPR"):
        children = clang.children(cursor)
        if len(children) != 1:
            return None
        cursor = children[0]
    return cursor if cursor.kind.name == "STRING_LITERAL" else None


def _bytes_of(cursor: Any) -> bytes:
    """The bytes a string literal stands for, without its final zero."""
    if cursor.type.get_canonical().element_type.get_size() != 1:
        raise Unsupported("wide strings")
    found = b""
    for piece in _PIECE.findall(cursor.spelling):
        text = _OCTAL.sub(lambda match: f"\\x{int(match[1], 8) & 255:02x}", piece)
        text = text.replace("\\?", "?").replace("\\e", "\\x1b").replace('"', '\\"') if (
            '\\"' not in text
        ) else text.replace("\\?", "?")  # fmt: skip
        try:
            found += ast.literal_eval(f'b"{text}"') if text.isascii() else text.encode()
        except (SyntaxError, ValueError):
            raise Unsupported(f"the string {cursor.spelling[:40]}") from None
    return found


def _escaped(data: bytes) -> str:
    out = []
    for byte in data:
        if byte in (34, 92):
            out.append("\\" + chr(byte))
        elif 32 <= byte < 127:
            out.append(chr(byte))
        else:
            out.append({10: "\\n", 13: "\\r", 9: "\\t", 0: "\\0"}.get(byte, f"\\x{byte:02x}"))
    return "".join(out)
