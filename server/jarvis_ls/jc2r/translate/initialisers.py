"""Initialisers: lists with and without designators, strings, and what is left out.

A list is first laid out as what each part of the variable gets, as C 2011 section 6.7.9 orders it,
and then written down.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.translate.ast import string_in
from jarvis_ls.jc2r.translate.c_types import (
    bits_of,
    field_name,
    is_array,
    is_function_pointer,
    is_pointer,
    is_record,
    kind,
    plain,
)
from jarvis_ls.jc2r.translate.complex_numbers import is_complex
from jarvis_ls.jc2r.translate.names import Unsupported
from jarvis_ls.jc2r.translate.numeric_tables import table
from jarvis_ls.jc2r.translate.rust_text import escape_bytes, null
from jarvis_ls.jc2r.translate.rust_types import Types
from jarvis_ls.jc2r.translate.strings import bytes_of, units_of

_FUNCTION = re.compile(
    r'\ASome\(([\w:#]+) as unsafe extern "C" fn\((?:[^()]|\([^()]*\))*\)(?: -> [^()]+)?\)\Z'
)
_ZERO = re.compile(r"0(?:[iu](?:8|16|32|64))?")
_MANY = 16
"""So many zeros at the end of an array are not written out."""


@dataclass
class _Parts:
    """What the parts of an array or record get."""

    type: Any
    members: list[Any]
    """Types of a record's members, those that nothing can name left out."""
    fields: list[Any]
    """The members themselves."""
    given: dict[int, Any] = field(default_factory=dict)
    """An expression or other parts, by the number of the part."""

    @property
    def count(self) -> int:
        if is_array(self.type):
            return int(self.type.element_count) if kind(self.type) == "CONSTANTARRAY" else 0
        return min(1, len(self.members)) if _is_union(self.type) else len(self.members)

    def part(self, place: int) -> Any:
        """Return the type of a part."""
        return self.type.element_type if is_array(self.type) else self.members[place]


class Initials(ABC):
    """What initialisers need of their surroundings."""

    types: Types

    @abstractmethod
    def value(self, cursor: Any) -> str:
        """Code for the value of an expression."""

    @abstractmethod
    def cast(self, code: str, source: Any, target: Any) -> str:
        """Return a value of one C type as one of another."""

    @abstractmethod
    def name_of(self, declared: Any) -> str:
        """Return how a variable or function is named here."""

    @abstractmethod
    def address_if_there(self, declared: Any) -> str:
        """Return the address, as a number, of what a weak declaration may name in vain, 0 then;
        empty for everything that is there.
        """

    @abstractmethod
    def enumerator(self, declared: Any) -> str:
        """Return how an enumeration constant is named here."""

    @abstractmethod
    def named_constant(self, cursor: Any) -> str:
        """Return how the macro is named here that an expression represents; empty when it is
        none.
        """

    @abstractmethod
    def called_macro(self, cursor: Any) -> tuple[str, str] | None:
        """Return the call of a function that a macro with parameters has become, when an expression
        represents one, and the Rust type of what it gives, empty for nothing.
        """

    @abstractmethod
    def source_text(self, cursor: Any) -> bytes:
        """Return the text of C that an expression was written as."""

    @abstractmethod
    def external(self, name: str, declared: Any) -> str:
        """Return how a function of the system is named here."""

    @abstractmethod
    def temporary(self, rust: str, value: str) -> str:
        """Return a new variable of the function that holds `value`."""

    @abstractmethod
    def statement(self, cursor: Any) -> list[str]:
        """Lines for one statement."""

    @abstractmethod
    def statements(self, block: Any) -> list[str]:
        """Lines for the statements of a block."""

    def initial(self, type_: Any, cursor: Any) -> str:
        """Return the value of an initialiser for a variable of a type. Raises `Unsupported`."""
        if cursor.kind.name == "INIT_LIST_EXPR":
            if is_array(type_) and (code := table(type_, self.source_text(cursor))):
                return code
            items = clang.children(cursor)
            if kind(type_) == "VECTOR":
                if any(clang.constant(element) != 0 for element in items):
                    raise Unsupported("a vector initialised from its elements")
                return self.zero(type_)
            if not is_array(type_) and not is_record(type_):
                return self._scalar(type_, items[0]) if items else self.zero(type_)
            if len(items) == 1 and is_array(type_) and self._fits(type_, items[0]):
                return self._characters(type_, string_in(items[0]))
            return self._render(self._laid_out(type_, items))
        if is_array(type_):
            string = string_in(cursor)
            if string is not None:
                return self._characters(type_, string)
            if is_array(cursor.type):  # a compound literal, which gcc takes for its list
                return self.value(cursor)
            raise Unsupported("an array set from an expression")
        return self._scalar(type_, cursor)

    def zero(self, type_: Any) -> str:
        """All bits zero."""
        rust = self.types.of(type_)
        if is_record(type_) or kind(type_) == "CONSTANTARRAY":
            if kind(type_) == "CONSTANTARRAY":
                element = type_.get_canonical().element_type
                if not is_record(element) and not is_array(element):
                    return f"[{self.zero(element)}; {type_.get_canonical().element_count}]"
            return f"unsafe {{ core::mem::zeroed::<{rust}>() }}"
        if is_function_pointer(type_):
            return "None"
        if is_pointer(type_):
            return null(rust)
        if is_complex(type_):
            return f"{rust}::real(0.0)"
        if kind(type_) == "VECTOR":
            return f"unsafe {{ core::mem::zeroed::<{rust}>() }}"
        return {"bool": "false", "f32": "0.0", "f64": "0.0"}.get(rust, "0")

    def text(self, cursor: Any) -> str:
        """Return a string literal as a reference to an array, its final zero included."""
        array = cursor.type.get_canonical()
        size = array.element_count
        if array.element_type.get_size() == 1:
            return f'b"{escape_bytes(bytes_of(cursor)[:size].ljust(size, bytes(1)))}"'
        rust = self.types.of(array.element_type)
        units = (units_of(cursor) + [0] * size)[:size]
        return f"(&[{', '.join(f'{unit}{rust}' for unit in units)}])"

    def _scalar(self, type_: Any, cursor: Any) -> str:
        if cursor.kind.name == "INIT_LIST_EXPR":
            return self.initial(type_, cursor)
        return self.cast(self.value(cursor), cursor.type, type_)

    # -- laying out

    def _laid_out(self, type_: Any, items: list[Any]) -> _Parts:
        parts = _parts_of(plain(type_))
        at = place = 0
        while at < len(items):
            designated = _designators(items[at])
            if designated is None:
                if place >= parts.count:
                    break  # gcc warns of what is too much, and leaves it out
                at = self._put(parts, place, items, at)
                place += 1
                continue
            places, target, last = _places(parts, *designated)
            owners = [parts]
            for step in places[:-1]:
                owners.append(_below(owners[-1], step))
            owners[-1].given[places[-1]] = target
            for other in range(places[-1] + 1, last + 1):
                owners[-1].given[other] = target
            at += 1
            place = last + 1
            for depth in range(len(places) - 1, 0, -1):  # what follows continues behind it
                if _is_union(owners[depth].type):
                    place = owners[depth].count
                at = self._fill(owners[depth], place, items, at)
                place = places[depth - 1] + 1
            if _is_union(parts.type):
                place = parts.count
        return parts

    def _fill(self, parts: _Parts, place: int, items: list[Any], at: int) -> int:
        while place < parts.count and at < len(items) and _designators(items[at]) is None:
            at = self._put(parts, place, items, at)
            place += 1
        return at

    def _put(self, parts: _Parts, place: int, items: list[Any], at: int) -> int:
        """Return the next part: one item, or as many as its braces would have held."""
        type_, item = parts.part(place), items[at]
        whole = (
            item.kind.name == "INIT_LIST_EXPR"
            or not (is_array(type_) or is_record(type_))
            or (is_array(type_) and self._fits(type_, item))
            or (is_record(type_) and is_record(item.type))
        )
        if whole:
            parts.given[place] = item
            return at + 1
        inner = _parts_of(plain(type_))
        parts.given[place] = inner
        if inner.count == 0:
            return at
        return self._fill(inner, 0, items, at)

    def _fits(self, type_: Any, item: Any) -> bool:
        """Return whether an item is a string for an array of such characters."""
        string = string_in(item)
        if string is None:
            return False
        element = plain(type_).element_type
        return (
            not is_array(element)
            and not is_pointer(element)
            and (element.get_size() == string.type.get_canonical().element_type.get_size())
        )

    # -- writing down

    def _render(self, parts: _Parts) -> str:
        numbers = {} if is_array(parts.type) else _bits_given(parts)
        codes = {
            place: "" if place in numbers else self._part(parts.part(place), given)
            for place, given in sorted(parts.given.items())
        }
        if is_array(parts.type):
            return self._array_code(parts.type, codes)
        return self._record_code(parts, codes, numbers)

    def _part(self, type_: Any, given: Any) -> str:
        if isinstance(given, _Parts):
            return self._render(given)
        if is_record(type_) and given.kind.name != "INIT_LIST_EXPR":
            return self.cast(self.value(given), given.type, type_)
        return self.initial(type_, given)

    def _array_code(self, type_: Any, codes: dict[int, str]) -> str:
        if not codes:
            return self.zero(type_)
        if kind(type_) == "INCOMPLETEARRAY":
            raise Unsupported("a flexible array with an initialiser")
        element, size = type_.element_type, type_.element_count
        rust = self.types.of(element)
        zero = self.zero(element)
        if size - len(codes) > _MANY:
            sets = " ".join(f"__all[{n}] = {code};" for n, code in sorted(codes.items()))
            return f"{{ let mut __all: [{rust}; {size}] = {self.zero(type_)}; {sets} __all }}"
        return f"[{', '.join(codes.get(n, zero) for n in range(size))}]"

    def _record_code(self, parts: _Parts, codes: dict[int, str], numbers: dict[int, int]) -> str:
        rust = self.types.of(parts.type)
        self.types.check(parts.type)
        if not codes:
            return self.zero(parts.type)
        if _is_union(parts.type):
            place = next(reversed(parts.given))
            member = parts.fields[place]
            if member.is_bitfield() or member.type.get_size() < parts.type.get_size():
                number = {place: numbers[place]} if place in numbers else {}
                return self._one_by_one(parts, {place: codes[place]}, number)
            return f"{rust} {{ {field_name(member)}: {codes[place]} }}"
        fields = list(parts.type.get_fields())
        plainly = not self.types.is_padded(parts.type) and all(
            self._is_known(member.type) for member in fields if not member.is_bitfield()
        )
        if (
            any(member.is_bitfield() for member in fields)
            or len(fields) != len(parts.fields)
            or (not plainly)
        ):
            return self._one_by_one(parts, codes, numbers)
        open_ended = [
            n for n, member in enumerate(fields) if kind(member.type) == "INCOMPLETEARRAY"
        ]
        if any(place in codes for place in open_ended):
            raise Unsupported("a flexible array with an initialiser")
        written = [
            f"{field_name(member)}: {_shortly(codes.get(n) or self.zero(member.type))}"
            if n not in open_ended
            else f"{field_name(member)}: []"
            for n, member in enumerate(fields)
        ]
        return f"{rust} {{ {', '.join(written)} }}"

    def _is_known(self, type_: Any) -> bool:
        try:
            self.types.of(type_)
        except Unsupported:
            return False
        return True

    def _one_by_one(self, parts: _Parts, codes: dict[int, str], numbers: dict[int, int]) -> str:
        """Return a record set member by member: bit-fields, and unions whose rest is to be zero;
        `numbers` are those that bit-fields are set to, the others have codes."""
        rust = self.types.of(parts.type)
        sets = []
        whole = sum(
            number << parts.fields[place].get_field_offsetof() for place, number in numbers.items()
        )
        for n, byte in enumerate(whole.to_bytes(parts.type.get_size(), "little")):
            if byte:  # what is zero is so from the beginning
                sets.append(f"*(&raw mut __all as *mut u8).add({n}) = {byte};")
        for place, code in sorted(codes.items()):
            member = parts.fields[place]
            if place in numbers or _ZERO.fullmatch(code):
                continue
            if member.is_bitfield():
                self.types.need("set_bits")
                offset, width = bits_of(member)
                sets.append(
                    f"types::set_bits(&raw mut __all as *mut u8, {offset}, {width},"
                    f" ({code}) as u64);"
                )
            else:
                sets.append(f"__all.{field_name(member)} = {code};")
        return f"{{ let mut __all: {rust} = core::mem::zeroed(); {' '.join(sets)} __all }}"

    def _characters(self, type_: Any, string: Any) -> str:
        element = type_.get_canonical().element_type
        size = max(0, type_.get_canonical().element_count)
        rust = self.types.of(element)
        if element.get_size() != 1:
            units = (units_of(string) + [0] * size)[:size]
            if size - len(units_of(string)) > _MANY:
                sets = " ".join(f"__all[{n}] = {unit};" for n, unit in enumerate(units) if unit)
                return f"{{ let mut __all = [0{rust}; {size}]; {sets} __all }}"
            return f"[{', '.join(f'{unit}{rust}' for unit in units)}]"
        data = bytes_of(string)[:size]
        if rust == "u8" and size - len(data) <= 256:
            return f'*b"{escape_bytes(data.ljust(size, bytes(1)))}"'
        name = self.types.need("letters" if rust == "i8" else "bytes")
        return f'types::{name}::<{size}>(b"{escape_bytes(data)}")'


def _shortly(code: str) -> str:
    """Return the value of a member, a function without the type that the member has, too."""
    return _FUNCTION.sub(r"Some(\1)", code)


def _bits_given(parts: _Parts) -> dict[int, int]:
    """Return the bits that the bit-fields of a record are set to, where those are numbers, by
    place.
    """
    found: dict[int, int] = {}
    for place, given in parts.given.items():
        member = parts.fields[place]
        if isinstance(given, _Parts) or not member.is_bitfield():
            continue
        number = clang.constant(given)
        if isinstance(number, int):
            width = 1 if kind(member.type) == "BOOL" else member.get_bitfield_width()
            number = int(bool(number)) if kind(member.type) == "BOOL" else number
            found[place] = number & ((1 << width) - 1)
    return found


def _parts_of(type_: Any) -> _Parts:
    if is_array(type_):
        return _Parts(type_, [], [])
    fields = [
        get_field
        for get_field in type_.get_fields()
        if get_field.spelling or not get_field.is_bitfield()
    ]
    return _Parts(type_, [member.type for member in fields], fields)


def _below(parts: _Parts, place: int) -> _Parts:
    """Return the parts of a part, for a designator that continues into it."""
    known = parts.given.get(place)
    if not isinstance(known, _Parts):
        if known is not None:
            raise Unsupported("a designator into an aggregate that is already initialised")
        known = parts.given[place] = _parts_of(plain(parts.part(place)))
    return known


def _places(parts: _Parts, path: list[Any], target: Any) -> tuple[list[int], Any, int]:
    """Return the numbers of the parts a designator leads through, what is set, and the last part of
    a range.
    """
    type_ = parts.type
    found: list[int] = []
    steps = list(path)
    while steps:
        step = steps.pop(0)
        if step.kind.name == "MEMBER_REF":
            through = _way_to(type_, step.referenced)
            if through is None:
                raise Unsupported("a designator of an unknown member")
            for place in through:
                found.append(place)
                type_ = plain(_parts_of(type_).members[place])
            continue
        number = clang.constant(step)
        if not isinstance(number, int) or not is_array(type_):
            raise Unsupported("a designator that is not constant")
        found.append(number)
        type_ = plain(type_.element_type)
        if (
            steps
            and steps[0].kind.name != "MEMBER_REF"
            and (
                not is_array(type_)
                or (
                    len(steps) == 1
                    and target.kind.name == "INIT_LIST_EXPR"
                    and not is_array(plain(type_.element_type))
                )
            )
        ):
            last = clang.constant(steps.pop(0))
            if not isinstance(last, int) or steps:
                raise Unsupported("a range designator followed by another designator")
            return found, target, last
    return found, target, found[-1]


def _way_to(type_: Any, wanted: Any) -> list[int] | None:
    """Numbers of the members that lead to one, through those without a name."""
    for place, member in enumerate(_parts_of(type_).fields):
        if member.hash == wanted.hash:
            return [place]
        if (not member.spelling or "(" in member.spelling) and is_record(member.type):
            below = _way_to(plain(member.type), wanted)
            if below is not None:
                return [place, *below]
    return None


def _designators(item: Any) -> tuple[list[Any], Any] | None:
    """Designators and value of `.a = 1` or `[2] = 3`; None for a plain item."""
    if item.kind.name != "UNEXPOSED_EXPR" or kind(item.type) != "VOID":
        return None
    children = clang.children(item)
    return (children[:-1], children[-1]) if len(children) > 1 else None


def _is_union(type_: Any) -> bool:
    return is_record(type_) and type_.get_declaration().kind.name == "UNION_DECL"
