"""How a value of one C type becomes one of another."""

from __future__ import annotations

import re
from typing import Any

from jarvis_ls.jc2r.translate import complex_numbers
from jarvis_ls.jc2r.translate.c_types import (
    FLOATS,
    FUNCTIONS,
    is_array,
    is_function_pointer,
    is_integer,
    is_pointer,
    kind,
    plain,
)
from jarvis_ls.jc2r.translate.complex_numbers import is_complex
from jarvis_ls.jc2r.translate.initialisers import Initials
from jarvis_ls.jc2r.translate.names import Unsupported
from jarvis_ls.jc2r.translate.rust_text import null, parenthesise, type_null, whole

_TEXT = re.compile(r'(b"(?:[^"\\]|\\.)*"\.as_ptr\(\)) as \*mut i8')
"""A string literal as C has it, which may be written."""


class Conversions(Initials):
    """Values as values of other types."""

    def cast(self, code: str, source: Any, target: Any) -> str:
        """Return a value of C type `source` as one of `target`, as C converts it."""
        if kind(target) == "VOID":
            return f"{{ let _ = {code}; }}"
        if is_array(target):  # a parameter written like an array
            return self.cast_code(code, self.types.parameter(target))
        if is_array(source) and is_pointer(target):  # such a parameter
            return self.cast_code(code, self.types.of(target))
        if kind(source) in FUNCTIONS or kind(target) in FUNCTIONS:  # one written like a function
            old, new = self.types.parameter(source), self.types.parameter(target)
            return code if old == new else self._function_cast(code, source, target, old, new)
        old, new = self.types.of(source), self.types.of(target)
        if old == new:
            return code
        if "VECTOR" in (kind(source), kind(target)):
            if kind(source) != kind(target):
                raise Unsupported(
                    "a conversion of {source} to {target}",
                    source=source.spelling,
                    target=target.spelling,
                )
            return f"core::mem::transmute::<{old}, {new}>({code})"
        if kind(target) == "BOOL":
            return self.truth(code, source)
        if is_complex(target):
            return self.made_complex(code, source, complex_numbers.name_of(target))
        if is_complex(source):
            part = plain(source).element_type
            return self.cast(f"{parenthesise(code)}.re", part, target)
        if is_function_pointer(target) or is_function_pointer(source):
            return self._function_cast(code, source, target, old, new)
        if kind(source) in FLOATS or kind(target) in FLOATS:
            if kind(source) == "BOOL":
                return f"{parenthesise(code)} as i32 as {new}"
            return f"{parenthesise(code)} as {new}"
        if is_integer(source) and is_integer(target):
            return f"{parenthesise(code)} as {new}"
        if is_pointer(source) and is_integer(target):
            return f"{parenthesise(type_null(code, old))} as usize as {new}"
        if is_integer(source) and is_pointer(target):
            if whole(code) == 0:
                return null(new)
            return f"{parenthesise(code)} as usize as {new}"
        if is_pointer(source) and is_pointer(target):
            return null(new) if type_null(code, new) != code else self.cast_code(code, new)
        raise Unsupported(
            "a conversion of {source} to {target}", source=source.spelling, target=target.spelling
        )

    def made_complex(self, code: str, source: Any, name: str) -> str:
        """Return a number as one of the record that a complex type is."""
        self.types.need(name)
        if is_complex(source) and complex_numbers.name_of(source) != name:
            self.types.need("complex_widths")
        return complex_numbers.convert_to_complex(code, source, name)

    def from_complex(self, code: str, name: str, target: Any) -> str:
        """Return a record called `name`, which is a complex number, as a value of a C type."""
        if is_complex(target):
            if complex_numbers.name_of(target) != name:
                self.types.need("complex_widths")
            return complex_numbers.resize_complex(code, name, complex_numbers.name_of(target))
        if kind(target) == "BOOL":
            return f"!{code}.is_zero()"
        return f"{code}.re as {self.types.of(target)}"

    def cast_code(self, code: str, wanted: str) -> str:
        """Return a raw pointer as another."""
        if (text := _TEXT.fullmatch(code)) is not None:
            code = text[1]
        return f"{code if text is not None else parenthesise(code)} as {wanted}"

    def truth(self, code: str, type_: Any) -> str:
        """Return whether a value is not zero."""
        if kind(type_) == "BOOL":
            return code
        if is_function_pointer(type_) or kind(type_) in FUNCTIONS:
            return f"{parenthesise(code)}.is_some()"
        if is_pointer(type_) or is_array(type_):
            return f"!{parenthesise(type_null(code, self.types.of(type_)))}.is_null()"
        if kind(type_) in FLOATS:
            return f"{parenthesise(code)} != 0.0"
        if is_complex(type_):
            return f"!{parenthesise(code)}.is_zero()"
        if kind(type_) == "RECORD" or (kind(type_) not in ("ENUM",) and not is_integer(type_)):
            raise Unsupported("whether a {type} is zero", type=type_.spelling)
        number = whole(code)
        return f"{parenthesise(code)} != 0" if number is None else str(number != 0).lower()

    def to_word(self, code: str, type_: Any) -> str:
        """Return a value that fits into 64 bits, as them."""
        if is_function_pointer(type_):
            return f"core::mem::transmute::<{self.types.of(type_)}, usize>({code}) as u64"
        if is_pointer(type_):
            return f"{parenthesise(code)} as usize as u64"
        if kind(type_) in FLOATS:
            return f"{parenthesise(code)}.to_bits() as u64"
        if is_integer(type_):
            return f"{parenthesise(code)} as u64"
        raise Unsupported("an atomic struct")

    def from_word(self, code: str, type_: Any) -> str:
        """64 bits as the value `to_word` made them of."""
        rust = self.types.of(type_)
        if is_function_pointer(type_):
            return f"core::mem::transmute::<usize, {rust}>({parenthesise(code)} as usize)"
        if is_pointer(type_):
            return f"{parenthesise(code)} as usize as {rust}"
        if kind(type_) == "FLOAT":
            return f"f32::from_bits({parenthesise(code)} as u32)"
        if kind(type_) == "DOUBLE":
            return f"f64::from_bits({code})"
        if kind(type_) == "BOOL":
            return f"{parenthesise(code)} & 255 != 0"
        if is_integer(type_):
            return f"{parenthesise(code)} as {rust}"
        raise Unsupported("an atomic struct")

    def function_at(self, code: str, rust: str) -> str:
        """Return the function at an address, which is a number."""
        return f"core::mem::transmute::<usize, {rust}>({code})"

    def _function_cast(self, code: str, source: Any, target: Any, old: str, new: str) -> str:
        if is_integer(source) and whole(code) == 0:
            return "None"
        if re.fullmatch(r"\(?core::ptr::null(_mut)?\(\)( as [^()]*)?\)?", code):
            return "None" if new.startswith("Option<") else null(new)
        if is_integer(source):
            return self.function_at(f"{parenthesise(code)} as usize", new)
        if is_integer(target):
            return f"core::mem::transmute::<{old}, usize>({code}) as {new}"
        return f"core::mem::transmute::<{old}, {new}>({code})"
