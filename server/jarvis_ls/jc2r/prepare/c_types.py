"""Types as C spells them in a symbol table, and what safe Rust takes in their place."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

_WORDS = re.compile(r"\b(?:const|volatile|struct|union|enum|restrict|register)\b")
_LENGTH = re.compile(
    r"(?:[a-z]\w*_)?(?:n|len|length|size|sz|count|cnt|num|nbytes|bytes|[a-z]+len)\Z", re.IGNORECASE
)
_SCALARS = {
    "_Bool": "bool",
    "bool": "bool",
    "char": "u8",
    "signed char": "i8",
    "unsigned char": "u8",
    "short": "i16",
    "unsigned short": "u16",
    "int": "i32",
    "unsigned int": "u32",
    "unsigned": "u32",
    "long": "i64",
    "unsigned long": "u64",
    "long long": "i64",
    "unsigned long long": "u64",
    "float": "f32",
    "double": "f64",
    "size_t": "usize",
    "ssize_t": "isize",
    "ptrdiff_t": "isize",
    **{
        f"{sign}int{bits}_t": f"{letter}{bits}"
        for sign, letter in (("", "i"), ("u", "u"))
        for bits in (8, 16, 32, 64)
    },
}


@dataclass(frozen=True, slots=True)
class CType:
    """One type."""

    base: str
    """Without qualifiers and stars."""
    stars: int
    const: bool
    """Whether what the first star leads to is only read."""
    plain: bool
    """Whether it is a name with stars, and no array or function."""

    @property
    def scalar(self) -> str:
        """Return the number it is in Rust; empty when it is none."""
        return _SCALARS.get(self.base, "")


def read_type(text: str) -> CType:
    """Return a type of a symbol table."""
    head, star, _ = text.partition("*")
    base = " ".join(_WORDS.sub(" ", head).split())
    plain = re.fullmatch(r"[\w ]+", base) is not None and "(" not in text and "[" not in text
    return CType(base, text.count("*"), bool(star) and "const" in head, plain)


def is_length(name: str, kind: CType) -> bool:
    """Return whether a parameter is the number of elements of the one before it."""
    whole = kind.scalar not in ("", "bool", "f32", "f64")
    return kind.stars == 0 and whole and _LENGTH.match(name) is not None


def camel(name: str) -> str:
    """Return a name as Rust spells types."""
    words = re.split(r"[^A-Za-z0-9]+", re.sub(r"_t\Z", "", name))
    text = "".join(word[:1].upper() + word[1:] for word in words if word)
    return text if text[:1].isalpha() else f"T{text}"


def prefixes(name: str) -> Collection[str]:
    """Return what functions of a type may begin with."""
    plain = re.sub(r"_t\Z", "", name)
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain).lower()
    return {f"{plain}_", f"{snake}_", f"{plain.lower()}_"}
