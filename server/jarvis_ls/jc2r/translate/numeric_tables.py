"""Tables of numbers, read as text: asking the parser for each of their elements takes long."""

from __future__ import annotations

import re
from typing import Any

from jarvis_ls.jc2r.translate.c_types import INTEGERS, is_array, kind, plain
from jarvis_ls.jc2r.translate.rust_text import literal

LEAST = 256
"""Shorter tables are written with the names and types that C has for their elements."""
IN_A_LINE = 16
_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)
_TABLE = re.compile(rb"\{\s*(?:(?:-\s*)?(?:0[xX][\da-fA-F]+|\d+)[uUlL]*\s*(?:,\s*|(?=\})))+\}")
_NUMBER = re.compile(rb"(-?)\s*(0[xX][\da-fA-F]+|\d+)")


def table(type_: Any, written: bytes) -> str:
    """Return the value of an array of whole numbers that is `written` as nothing but numbers; empty
    for everything else.
    """
    type_ = plain(type_)
    if not is_array(type_) or len(written) < LEAST:
        return ""
    rust = INTEGERS.get(kind(type_.element_type), "")
    text = _COMMENT.sub(b" ", written)
    if rust in ("", "bool") or _TABLE.fullmatch(text) is None:
        return ""
    numbers = [_value(sign, digits) for sign, digits in _NUMBER.findall(text)]
    size = int(type_.element_count)
    if not LEAST <= len(numbers) <= size:
        return ""
    codes = [literal(number, rust).strip("()").removesuffix(rust) for number in numbers]
    lines = (", ".join(codes[at : at + IN_A_LINE]) for at in range(0, len(codes), IN_A_LINE))
    listed = "[" + ",\n".join(lines) + "]"
    if len(numbers) == size:
        return listed
    return (
        f"{{ let __some: [{rust}; {len(numbers)}] = {listed};"
        f" let mut __all: [{rust}; {size}] = [0; {size}]; let mut __at = 0;"
        f" while __at < {len(numbers)} {{ __all[__at] = __some[__at]; __at += 1; }} __all }}"
    )


def _value(sign: bytes, digits: bytes) -> int:
    octal = digits.startswith(b"0") and digits.isdigit()
    value = int(digits, 8) if octal else int(digits, 0)
    return -value if sign else value
