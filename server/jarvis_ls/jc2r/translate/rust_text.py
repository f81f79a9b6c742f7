"""Pieces of Rust as text: literals, parentheses, null."""

from __future__ import annotations

import re

_ATOM = re.compile(r"[\w#.:]+")

_NULLS = ("core::ptr::null()", "core::ptr::null_mut()")


def literal(number: int, rust: str) -> str:
    """Return a whole number as a literal of a Rust type, wrapped to its width."""
    if rust == "bool":
        return "true" if number else "false"
    if rust in ("f32", "f64"):
        return f"{number}.0{rust}"
    bits = {"isize": 64, "usize": 64}.get(rust) or int(rust[1:])
    number &= (1 << bits) - 1
    if rust.startswith("i") and number >> (bits - 1):
        number -= 1 << bits
    return f"({number}{rust})" if number < 0 else f"{number}{rust}"


def parenthesise(code: str) -> str:
    """`code` in parentheses unless it is one word or is in some already."""
    if _ATOM.fullmatch(code) or _is_closed(code):
        return code
    return f"({code})"


def null(rust: str) -> str:
    """No address, as a value of a Rust type."""
    if rust.startswith("Option"):
        return "None"
    return "core::ptr::null()" if rust.startswith("*const") else "core::ptr::null_mut()"


def is_null(code: str) -> bool:
    """Return whether `code` is no address, of whatever type."""
    return code == "None" or f"{code.strip('()')}()" in _NULLS


def type_null(code: str, rust: str) -> str:
    """`code`; no address says of which type it is, where nothing around it would."""
    bare = code.strip("()") + "()"
    if bare not in _NULLS:
        return code
    return f"{bare[:-2]}::<{re.sub(r'^[*](?:const|mut) ', '', rust)}>()"


def as_isize(code: str) -> str:
    """Return a whole number as a distance."""
    match = re.fullmatch(r"\(?(-?\d+)[iu]\d+\)?", code)
    return match[1] if match else f"{parenthesise(code)} as isize"


def as_u32(code: str) -> str:
    """Return a whole number as a count of bits."""
    match = re.fullmatch(r"(\d+)[iu]\d+", code)
    return match[1] if match else f"{parenthesise(code)} as u32"


def whole(code: str) -> int | None:
    """Return the number a literal of a whole number represents; None for other code."""
    match = re.fullmatch(r"\(?(-?\d+)(?:[iu](?:\d+|size))?\)?", code)
    return int(match[1]) if match else None


def escape_bytes(data: bytes) -> str:
    """Bytes as they are in a byte string."""
    out = []
    for byte in data:
        if byte in (34, 92):
            out.append("\\" + chr(byte))
        elif 32 <= byte < 127:
            out.append(chr(byte))
        else:
            out.append({10: "\\n", 13: "\\r", 9: "\\t", 0: "\\0"}.get(byte, f"\\x{byte:02x}"))
    return "".join(out)


def in_unsafe(code: str) -> str:
    """Return an expression in `unsafe { … }`, unless it is such a block."""
    word = "unsafe "
    if code.startswith(word) and _is_closed(code.removeprefix(word), "{", "}"):
        return code
    return f"unsafe {{ {code} }}"


def _is_closed(code: str, opening: str = "(", closing: str = ")") -> bool:
    """Return whether the first character opens a parenthesis that the last one closes."""
    if not code.startswith(opening) or not code.endswith(closing):
        return False
    depth = 0
    for place, character in enumerate(code):
        depth += (character == opening) - (character == closing)
        if depth == 0:
            return place == len(code) - 1
    return False
