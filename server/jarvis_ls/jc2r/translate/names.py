"""Names of C as Rust can write them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from jarvis_ls.core.words import Words
from jarvis_ls.jc2r.crate.keywords import KEYWORDS, NEVER_RAW

_PRIMITIVES = frozenset(
    "i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 bool char str core std "
    "Option Some None Result Ok Err Vec Box String".split()
)

_OURS = frozenset(
    "main_0 types sys __all __amount __args __asked __at __new __old __one __over __right "
    "__to __value __wide __word".split()
)
"""Names that the translation gives to what C does not name."""


_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_INSIDE = re.compile(r"(?<=[^_])__+(?=[^_])")


class Unsupported(Exception):
    """A construct that is not translated; the text says which, in words."""

    line = 0
    """Of the statement it is in; 0 while that is not known."""

    def __init__(self, text: str, /, **values: object) -> None:
        """`text` may be a template, whose `{places}` get `values`."""
        super().__init__(Words(text, **values))


def rust_name(name: str) -> str:
    """`name`, made legal in Rust."""
    name = name.replace("$", "_")  # which gcc allows
    if not name.isascii():  # Rust wants ASCII where a name is the linker's, too
        name = "".join(
            character if character.isascii() else f"u{ord(character):x}_" for character in name
        )
    if name == "_":
        return "__"
    if name in NEVER_RAW or name in _PRIMITIVES or name in _OURS:
        return f"{name}_"
    return f"r#{name}" if name in KEYWORDS else name


def snake(name: str) -> str:
    """Return a name in snake case, as rustc would write it."""
    return _INSIDE.sub("_", "_".join(part.lower() for part in _HUMP.split(name)))


def capitals(name: str) -> str:
    """Return the name of a constant, as rustc would write it."""
    return snake(name).upper()


def spellings(name: str) -> tuple[str, ...]:
    """Return what the function or variable `name` of C may be called in a crate: as it was
    translated, or as `jc2r lift` names it, which no other one in its module is then."""
    plain = rust_name(name)
    bare = plain.removeprefix("r#")
    return tuple(dict.fromkeys((plain, bare, snake(bare), capitals(bare))))


class Names:
    """Names of one scope, each given once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def give(self, name: str) -> str:
        """`name`, or with a number behind it when it is taken."""
        wanted = rust_name(name or "anonymous")
        found, number = wanted, 1
        while found in self._taken:
            number += 1
            found = f"{wanted.removeprefix('r#')}_{number}"
        self._taken.add(found)
        return found
