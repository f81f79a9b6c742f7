"""What string literals represent, told from how libclang writes them."""

from __future__ import annotations

import re
from typing import Any

from jarvis_ls.jc2r.translate.names import Unsupported

_PIECE = re.compile(r'(?:u8|u|U|L)?"((?:[^"\\]|\\.)*)"', re.DOTALL)
_PART = re.compile(
    r"\\x([0-9A-Fa-f]+)|\\([0-7]{1,3})|\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})|\\(.)|(.)", re.DOTALL
)
_SIMPLE = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27, "E": 27}


def bytes_of(cursor: Any) -> bytes:
    """Return the bytes of a literal of bytes, without its final zero."""
    found = bytearray()
    for number, is_code in _parts(cursor.spelling):
        if is_code and number < 256:
            found.append(number)
        else:
            found += chr(number).encode("utf-8", "surrogatepass")
    return bytes(found)


def text_of(spelling: str) -> str:
    """Return the characters of a literal, told from how it is spelled."""
    return "".join(chr(number) for number, _ in _parts(spelling))


def units_of(cursor: Any) -> list[int]:
    """Return the characters of a wide literal, in units of its type, without its final zero."""
    size = cursor.type.get_canonical().element_type.get_size()
    found: list[int] = []
    for number, _ in _parts(cursor.spelling):
        if size == 2 and number > 0xFFFF:
            number -= 0x10000
            found += [0xD800 + (number >> 10), 0xDC00 + (number & 0x3FF)]
        else:
            found.append(number)
    return found


def _parts(spelling: str) -> list[tuple[int, bool]]:
    """Numbers of characters, and whether each was written as a number of its own."""
    found: list[tuple[int, bool]] = []
    for piece in _PIECE.findall(spelling):
        for hexadecimal, octal, short, long, simple, plain in _PART.findall(piece):
            if hexadecimal:
                found.append((int(hexadecimal, 16), True))
            elif octal:
                found.append((int(octal, 8), True))
            elif short or long:
                found.append((int(short or long, 16), False))
            elif simple:
                found.append((_SIMPLE.get(simple, ord(simple)), True))
            else:
                found.append((ord(plain), False))
    if any(number > 0x10FFFF for number, _ in found):
        raise Unsupported("the string {text}", text=spelling[:40])
    return found
