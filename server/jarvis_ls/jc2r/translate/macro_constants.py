"""Macros without parameters that represent one number: constants of the Rust.

The parser shows what a macro represents, and as its place the name that was written. What is
there counts as the macro only when its definition is one whole: in `#define A 2 + 3` the place of
`A` in `A * 2` is also that of the 2.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.jc2r.translate.c_types import FLOATS, WORDS, is_integer, kind, plain
from jarvis_ls.jc2r.translate.names import Names, rust_name
from jarvis_ls.jc2r.translate.rust_text import literal

MAX_BYTES = 16_000_000
NAMED = frozenset(
    {
        "INTEGER_LITERAL",
        "CHARACTER_LITERAL",
        "FLOATING_LITERAL",
        "PAREN_EXPR",
        "UNARY_OPERATOR",
        "CXX_UNARY_EXPR",
    }
)
"""Kinds of nodes that a macro may represent."""
_DEFINED = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w+)((?:[ \t(](?:[^\\\n]|\\\r?\n)*)?)", re.MULTILINE
)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*|\\\r?\n", re.DOTALL)
_NUMBER = re.compile(
    r"(?:0[xX][\da-fA-F]+|\d+)[uUlL]*|(?:\d+\.\d*|\.?\d+)(?:[eE][+-]?\d+)?[fF]?|'(?:[^'\\]|\\.)'"
)
_SUM = re.compile(rf"(?:{_NUMBER.pattern}|\b[A-Za-z_]\w*|<<|>>|[-+*/%&|^~()\s])+")
_NAME = re.compile(r"'(?:[^'\\]|\\.)'|(?<![\w.])[A-Za-z_]\w*")
_IDENTIFIER = re.compile(rb"[A-Za-z_][A-Za-z0-9_]+")
_SIGNS = dict(zip("abefnrtv\\'\"?0", b"\a\b\x1b\f\n\r\t\v\\'\"?\0", strict=True))
"""What is behind a backslash, and for what."""
_TYPES = frozenset({"unsigned", "signed", "int", "long", "char", "short", "sizeof"})


@dataclass(frozen=True, slots=True)
class Macro:
    """A definition."""

    name: str
    body: str
    start: int
    end: int
    """Where it is in its file, in bytes."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A macro as it is in Rust."""

    macro: Macro
    rust: str
    """Its type."""
    code: str

    def item(self, visible: str) -> str:
        """Its definition; the C is quoted where it is not there."""
        body = " ".join(self.macro.body.split())
        said = "" if _NUMBER.fullmatch(body.removeprefix("-")) else f" // {body}"
        return f"pub const {visible}: {self.rust} = {self.code};{said}"


@dataclass
class Macros:
    """The definitions of all files, each read once."""

    names: Names
    """Names of constants of the crate, to which those of headers belong."""
    shared: dict[str, tuple[Constant, str]] = field(default_factory=dict)
    """Constants of headers and how they are named."""
    _files: dict[str, tuple[bytes, tuple[Macro, ...]]] = field(default_factory=dict)

    def text(self, file: str) -> bytes:
        """Return the text of a file; empty when it cannot be read."""
        return self._read(file)[0]

    def source_text(self, cursor: Any) -> bytes:
        """Return the text of what the parser shows."""
        extent = cursor.extent
        start = extent.start
        if start.file is None:
            return b""
        return self.text(start.file.name)[start.offset : extent.end.offset]

    def word(self, cursor: Any) -> str:
        """Return the name of a macro that is where an expression does; empty when more does."""
        data = self.source_text(cursor)
        if not data or b"(" in data:  # in what is given to another macro
            _, start, end = clang.written_at(cursor)
            found = _IDENTIFIER.match(self.text(cursor.extent.start.file.name), start)
            data = found[0] if found is not None and start == end else b""
        return data.decode() if _IDENTIFIER.fullmatch(data) else ""

    def of(self, file: str) -> tuple[Macro, ...]:
        """Return the macros without parameters that a file defines."""
        return self._read(file)[1]

    def named(self, constant: Constant) -> str:
        """Return how the constant of a header is named; empty when another has its name."""
        name = constant.macro.name
        known = self.shared.get(name)
        if known is None:
            known = self.shared[name] = (constant, self.names.give(name))
        same = (known[0].rust, known[0].code) == (constant.rust, constant.code)
        return f"types::{name}" if same and known[1] == name else ""

    def items(self) -> Iterator[str]:
        """Return the constants of headers as Rust."""
        return (
            shared.item(name) for shared, name in self.shared.values() if shared.macro.name == name
        )

    def _read(self, file: str) -> tuple[bytes, tuple[Macro, ...]]:
        if file not in self._files:
            data = b""
            with contextlib.suppress(SkippedFile):
                data = read_regular(Path(file), limit=MAX_BYTES)
            self._files[file] = (data, tuple(_macros(data)))
        return self._files[file]


class UnitMacros:
    """The macros that the files of one unit define."""

    def __init__(self, macros: Macros, own: str, headers: Iterable[str]) -> None:
        self._macros, self._own = macros, own
        self._found: dict[str, list[Macro]] = {}
        self._here = {macro.name for macro in macros.of(own)}
        for file in [own, *headers]:
            for macro in macros.of(file):
                self._found.setdefault(macro.name, []).append(macro)
        self.constants: dict[str, Constant | None] = {}
        """Those of the file itself that are used; None for one that means several things."""

    @property
    def own(self) -> set[str]:
        """Names of macros of the file itself that may become constants."""
        return {name for name in self._here if self._is_whole(name, 0)}

    def name(self, cursor: Any, taken: set[str]) -> str:
        """Return how the constant is named that is where `cursor` does; empty when none does.
        `taken` are names of other things of the file.
        """
        name = self._macros.word(cursor)
        if not name or rust_name(name) != name or not self._is_whole(name, 0):
            return ""
        macro = self._definition_of(name, cursor)
        constant = None if macro is None else _constant(macro, cursor)
        if constant is None:
            return ""
        if name not in self._here:
            return self._macros.named(constant)
        if name in taken:
            return ""
        known = self.constants.setdefault(name, constant)
        return name if known == constant else ""

    def _is_whole(self, name: str, depth: int) -> bool:
        found = self._found.get(name, [])
        return (
            bool(found)
            and depth < 8
            and all(
                _NUMBER.fullmatch(macro.body.removeprefix("-").lstrip()) is not None
                or (self._is_whole(macro.body, depth + 1))
                or (_is_closed(macro.body) and self._is_sum(macro.body, depth))
                or _is_size(macro.body)
                for macro in found
            )
        )

    def _is_sum(self, body: str, depth: int) -> bool:
        words = (word for word in _NAME.findall(body) if word[0] != "'")
        return _SUM.fullmatch(body) is not None and all(
            word in _TYPES or self._is_whole(word, depth + 1) for word in words
        )

    def _definition_of(self, name: str, cursor: Any) -> Macro | None:
        """Return the definition that the node is of: those of one name say different things."""
        for macro in self._found[name]:
            body = macro.body
            seen = 0
            while body in self._found and seen < 8:
                body, seen = self._found[body][0].body, seen + 1
            form = cursor.kind.name
            if body.startswith("("):
                fits = form == "PAREN_EXPR"
            elif _is_size(body):
                fits = form == "CXX_UNARY_EXPR"
            elif body.startswith("-"):
                fits = form == "UNARY_OPERATOR" and _value(body) == clang.constant(cursor)
            else:
                fits = form.endswith("LITERAL") and _value(body) in (None, clang.constant(cursor))
            if fits:
                return macro
        return None


def _constant(macro: Macro, cursor: Any) -> Constant | None:
    type_ = plain(cursor.type)
    value = clang.constant(cursor)
    if kind(type_) in FLOATS and isinstance(value, float) and abs(value) < float("inf"):
        return Constant(macro, WORDS[kind(type_)], repr(value))
    if not isinstance(value, int) or not is_integer(type_) or kind(type_) not in WORDS:
        return None
    rust = WORDS[kind(type_)]
    body = macro.body
    if len(body) == 3 and body[0] == "'" and rust == "i32" and body.isprintable():
        return Constant(macro, rust, f"b{body} as i32" if body != "'''" else str(value))
    code = literal(value, rust).removesuffix(rust).strip("()").removesuffix(rust)
    if re.fullmatch(r"0[xX][\da-fA-F]+[uUlL]*", body) and not code.startswith("-"):
        code = f"0x{value:x}" if rust.startswith("u") or value < 1 << 31 else code
    return Constant(macro, rust, code)


def without_comments(body: str) -> str:
    """Return what a definition says, on one line."""
    return _COMMENT.sub(" ", body).strip()


def _macros(data: bytes) -> Iterator[Macro]:
    for match in _DEFINED.finditer(data):
        body = match[2].decode("utf-8", "replace")
        if body[:1] != "(":
            end = match.end()
            if match[2].rfind(b"/*") > match[2].rfind(b"*/"):  # the comment continues
                end = max(end, data.find(b"*/", end) + 2)
            yield Macro(match[1].decode(), without_comments(body), match.start(), end)


def _value(body: str) -> int | None:
    """Return what a character, a decimal or a hexadecimal number represents; None for other
    numbers.
    """
    if len(body) == 3 and body[0] == "'":
        return ord(body[1])
    if len(body) == 4 and body[0] == "'":
        return _SIGNS.get(body[2])
    match = re.fullmatch(r"(-?)\s*(0[xX][\da-fA-F]+|0|[1-9]\d*)[uUlL]*", body)
    if match is None:
        return None
    return int(match[2], 0) * (-1 if match[1] else 1)


def _is_size(body: str) -> bool:
    """Return whether a definition is the size of something, which binds closer than all around
    it.
    """
    rest = body.removeprefix("sizeof").lstrip()
    return rest != body and _is_closed(rest)


def _is_closed(body: str) -> bool:
    """Return whether the first parenthesis is closed by the last."""
    if not body.startswith("(") or not body.endswith(")"):
        return False
    depth = 0
    for place, character in enumerate(body):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return place == len(body) - 1
    return False
