"""Numbers, characters and strings as written, and constant expressions as text."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from jarvis_ls.codeintel.declarations import Facts
from jarvis_ls.jsec.flow.ir.c_types import DOUBLE, INT, LONG, UINT, ULONG
from jarvis_ls.jsec.flow.ir.constant_folding import OPERATORS
from jarvis_ls.jsec.flow.ir.nodes import Number
from jarvis_ls.jsec.flow.ir.types import Type
from jarvis_ls.jsec.flow.library.c_tables import LIBRARY

_NUMBER: Final = re.compile(r"(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)([uUlLzZ]*)$")
_TOKEN: Final = re.compile(
    r"\s*(?:([0-9][0-9a-zA-Z.']*)|(sizeof\b)|([A-Za-z_]\w*)|('(?:\\.|[^'\\])+')"
    r"|(<<|>>|[-+*/%()~&|^])|(.))"
)
_ESCAPES: Final = {"n": 10, "t": 9, "r": 13, "0": 0, "a": 7, "b": 8, "f": 12, "v": 11, "e": 27}
_BY_RANK: Final = (
    {"|": 0},
    {"^": 1},
    {"&": 2},
    {"<<": 3, ">>": 3},
    {"+": 4, "-": 4},
    {"*": 5, "/": 5, "%": 5},
)
_RANKS: Final = {operator: rank for ranks in _BY_RANK for operator, rank in ranks.items()}
_UNITS: Final = re.compile(r"\b([0-9]\w*)[ \t]+([A-Za-z_]\w*)")
_MAX_TOKENS: Final = 200

LIMITS: Final[dict[str, tuple[Number, Type]]] = {
    **LIBRARY.constants,
    "CHAR_MAX": (127, INT),
    "CHAR_MIN": (-128, INT),
    "SCHAR_MAX": (127, INT),
    "SCHAR_MIN": (-128, INT),
    "UCHAR_MAX": (255, INT),
    "SHRT_MAX": (32767, INT),
    "SHRT_MIN": (-32768, INT),
    "USHRT_MAX": (65535, INT),
    "INT_MAX": (2**31 - 1, INT),
    "INT_MIN": (-(2**31), INT),
    "UINT_MAX": (2**32 - 1, UINT),
    "LONG_MAX": (2**63 - 1, LONG),
    "LONG_MIN": (-(2**63), LONG),
    "ULONG_MAX": (2**64 - 1, ULONG),
    "LLONG_MAX": (2**63 - 1, LONG),
    "LLONG_MIN": (-(2**63), LONG),
    "ULLONG_MAX": (2**64 - 1, ULONG),
    "SIZE_MAX": (2**64 - 1, ULONG),
    "INT8_MAX": (127, INT),
    "INT16_MAX": (32767, INT),
    "INT32_MAX": (2**31 - 1, INT),
    "INT64_MAX": (2**63 - 1, LONG),
    "INT64_MIN": (-(2**63), LONG),
    "UINT8_MAX": (255, INT),
    "UINT16_MAX": (65535, INT),
    "UINT32_MAX": (2**32 - 1, UINT),
    "INT32_MIN": (-(2**31), INT),
    "UINT64_MAX": (2**64 - 1, ULONG),
    "RAND_MAX": (2**31 - 1, INT),
    "EOF": (-1, INT),
    "WEOF": (2**32 - 1, UINT),
    "PATH_MAX": (4096, INT),
    "MAX_PATH": (260, INT),
    "BUFSIZ": (8192, INT),
    "INVALID_SOCKET": (-1, INT),
    "SOCKET_ERROR": (-1, INT),
    "true": (1, INT),
    "false": (0, INT),
    "TRUE": (1, INT),
    "FALSE": (0, INT),
    "FLT_MAX": (3.402823466e38, DOUBLE),
    "DBL_MAX": (1.797693134e308, DOUBLE),
    "O_RDONLY": (0, INT),
    "O_WRONLY": (1, INT),
    "O_RDWR": (2, INT),
    "O_CREAT": (64, INT),
    "SEEK_SET": (0, INT),
    "SEEK_CUR": (1, INT),
    "SEEK_END": (2, INT),
    "EXIT_SUCCESS": (0, INT),
    "EXIT_FAILURE": (1, INT),
    "CHAR_BIT": (8, INT),
    "STDIN_FILENO": (0, INT),
    "STDOUT_FILENO": (1, INT),
    "STDERR_FILENO": (2, INT),
    "thrd_success": (0, INT),
}
"""Constants of the standard headers, which are rarely part of a project."""


class TypeNames(ABC):
    """The names that a constant expression may use."""

    facts: Facts
    """Declarations of the headers, macros among them."""
    enumerators: dict[str, int]

    @abstractmethod
    def size(self, type_: Type) -> int:
        """Return the bytes of a type; 0 when not known."""

    @abstractmethod
    def words(self, written: str) -> Type:
        """Return the type that words such as `const unsigned char` name."""

    @abstractmethod
    def installed_constant(self, name: str) -> int | None:
        """Return the value that a header outside of the project gives a name."""


@lru_cache(4096)
def literal(written: str) -> tuple[Number, Type] | None:
    """Value and type of a number or character as written."""
    if written[-1:] == "'":
        return character(written), INT
    if written[:1] in ("-", "+"):
        found = literal(written[1:].lstrip())
        return (-found[0] if written[0] == "-" else found[0], found[1]) if found else None
    match = _NUMBER.match(written)
    if match is None:
        return _floating(written)
    digits, suffix = match.group(1).replace("'", ""), match.group(2).lower()
    if len(digits) > 40:
        return None
    octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
    try:
        value = int(digits, 8) if octal else int(digits, 0)
    except ValueError:
        return None
    decimal = digits[0] != "0" or digits == "0"
    if "u" in suffix:
        return value, ULONG if "l" in suffix or value >= 2**32 else UINT
    if "l" in suffix or value >= 2**32 or (decimal and value >= 2**31):
        return value, LONG if value < 2**63 else ULONG
    return value, INT if value < 2**31 else UINT


def _floating(written: str) -> tuple[Number, Type] | None:
    try:
        return float(written.rstrip("fFlL")), DOUBLE
    except ValueError:
        return None


def character(written: str) -> int:
    """Return the number of a character literal with its quotes."""
    data = unescape(written[written.find("'") + 1 : -1])
    if not data:
        return 0
    return data[0] - 256 if data[0] > 127 and written[0] == "'" else data[0]


def unescape(inner: str) -> bytes:
    """Return the bytes of the inside of a string or character literal."""
    if "\\" not in inner:
        return inner.encode("utf-8", "replace")
    found = bytearray()
    at = 0
    while at < len(inner):
        char = inner[at]
        at += 1
        if char != "\\" or at >= len(inner):
            found += char.encode("utf-8", "replace")
            continue
        char = inner[at]
        at += 1
        if char == "x":
            end = at
            while end < len(inner) and inner[end] in "0123456789abcdefABCDEF" and end < at + 8:
                end += 1
            found.append(int(inner[at:end] or "0", 16) & 255)
            at = end
        elif char in "01234567":
            end = at
            while end < len(inner) and inner[end] in "01234567" and end < at + 2:
                end += 1
            found.append(int(inner[at - 1 : end], 8) & 255)
            at = end
        elif char != "\n":
            found.append(_ESCAPES.get(char, ord(char) & 255))
    return bytes(found)


def constant(written: str, types: TypeNames, depth: int = 0) -> int | None:
    """Return the value of a constant integer expression, or None when it is none or not plain."""
    written = written.strip()
    if written.isdigit() and len(written) < 10 and written[0] != "0":
        return int(written)
    if not written or depth > 8 or len(written) > 400:
        return None
    written = with_unit_macro(written, types.facts.macros)
    tokens = [m for m in _TOKEN.finditer(written) if m.group().strip()]
    if len(tokens) > _MAX_TOKENS:
        return None
    return _Parser(written, tokens, types, depth).parse()


def with_unit_macro(written: str, macros: Mapping[str, str]) -> str:
    """Return `8 MB` with the text of the macro put in, which begins with an operator."""

    def put(match: re.Match[str]) -> str:
        factor = macros.get(match[2], "").strip()
        return match[1] + factor if factor[:1] in ("*", "<") else match.group()

    return _UNITS.sub(put, written) if " " in written else written


class _Parser:
    """Operator precedence over the tokens of one expression; None is what is not constant."""

    def __init__(
        self, written: str, tokens: list[re.Match[str]], types: TypeNames, depth: int
    ) -> None:
        self.written, self.tokens, self.types, self.depth = written, tokens, types, depth
        self.at = 0

    def parse(self) -> int | None:
        value = self._binary(0, 0)
        return value if self.at == len(self.tokens) else None

    def _peek(self) -> str:
        return self.tokens[self.at].group().strip() if self.at < len(self.tokens) else ""

    def _binary(self, rank: int, level: int) -> int | None:
        left = self._unary(level)
        while left is not None and _RANKS.get(self._peek(), -1) >= rank:
            operator = self._peek()
            self.at += 1
            right = self._binary(_RANKS[operator] + 1, level + 1)
            left = None if right is None else OPERATORS[operator](left, right)
        return left

    def _unary(self, level: int) -> int | None:
        if level > 30 or self.at >= len(self.tokens):
            return None
        match = self.tokens[self.at]
        word = match.group().strip()
        self.at += 1
        if word in ("-", "+", "~"):
            value = self._unary(level + 1)
            return (
                None
                if value is None
                else -value
                if word == "-"
                else ~value
                if word == "~"
                else value
            )
        if word == "(":
            return self._bracket(level)
        if match.group(1) or match.group(4):
            found = literal(word)
            return found[0] if found is not None and isinstance(found[0], int) else None
        if match.group(2):
            return self._sizeof()
        return self._name(word) if match.group(3) else None

    def _bracket(self, level: int) -> int | None:
        start = self.at
        close = self._close()
        inside = [m.group().strip() for m in self.tokens[start : close - 1]]
        if (
            inside
            and all(w.isidentifier() or w == "*" for w in inside)
            and (
                set(inside) & {"int", "char", "long", "unsigned", "short", "size_t", "*"}
                or (len(inside) == 1 and inside[0].endswith("_t"))
            )
        ):
            self.at = close  # a cast
            return self._unary(level + 1)
        value = self._binary(0, level + 1)
        if self._peek() != ")":
            return None
        self.at += 1
        return value

    def _close(self) -> int:
        depth = 1
        for index in range(self.at, len(self.tokens)):
            word = self.tokens[index].group().strip()
            depth += (word == "(") - (word == ")")
            if depth == 0:
                return index + 1
        return len(self.tokens)

    def _sizeof(self) -> int | None:
        if self._peek() != "(":
            return None
        start = self.tokens[self.at].end()
        self.at += 1
        self.at = self._close()
        inner = self.written[start : self.tokens[self.at - 1].start()].strip()
        return self.types.size(self.types.words(inner)) or None

    def _name(self, name: str) -> int | None:
        if name in self.types.enumerators:
            return self.types.enumerators[name]
        macro = self.types.facts.macros.get(name)
        if macro is not None and macro != name:
            return constant(macro, self.types, self.depth + 1)
        known = LIMITS.get(name)
        if known is None:
            return self.types.installed_constant(name)
        return known[0] if isinstance(known[0], int) else None
