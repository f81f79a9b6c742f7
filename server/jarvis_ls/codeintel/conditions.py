"""Conditions of the preprocessor, as far as the platform decides them: Linux on x86-64 with GCC.

A project defines most macros when it is configured, so most conditions stay open. Those that only
ask for the platform are decided, so that of several definitions of a name the one that belongs to
the others is taken. The grammar is that of C17, 6.10.1.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

_VALUES = {
    **dict.fromkeys(
        "__linux__ __linux linux __gnu_linux__ __unix__ __unix unix __x86_64__ __x86_64 __amd64__ "
        "__amd64 __LP64__ _LP64 __ELF__ __STDC__ __STDC_HOSTED__ __BYTE_ORDER_LITTLE__".split(),
        1,
    ),
    **dict.fromkeys(
        "__SIZEOF_POINTER__ __SIZEOF_LONG__ __SIZEOF_SIZE_T__ SIZEOF_LONG SIZEOF_VOID_P "
        "SIZEOF_LONG_LONG SIZEOF_SIZE_T SIZEOF_VOIDP SIZEOF_CHAR_P SIZEOF_INT64_T".split(),
        8,
    ),
    "SIZEOF_INT": 4,
    "SIZEOF_SHORT": 2,
    "__SIZEOF_INT__": 4,
    "__GNUC__": 12,
    "__GNUC_MINOR__": 2,
    "__STDC_VERSION__": 201710,
    "CHAR_BIT": 8,
    "SCHAR_MAX": 127,
    "UCHAR_MAX": 255,
    "SHRT_MAX": 2**15 - 1,
    "USHRT_MAX": 2**16 - 1,
    "INT_MAX": 2**31 - 1,
    "UINT_MAX": 2**32 - 1,
    "LONG_MAX": 2**63 - 1,
    "ULONG_MAX": 2**64 - 1,
    "LLONG_MAX": 2**63 - 1,
    "ULLONG_MAX": 2**64 - 1,
    "SIZE_MAX": 2**64 - 1,
    "__INT_MAX__": 2**31 - 1,
    "__LONG_MAX__": 2**63 - 1,
}
"""Macros that the compiler or the standard headers define."""
_OTHERS = frozenset(
    "_WIN32 WIN32 _WIN64 WIN64 __WIN32__ _WIN32_WCE __WINDOWS__ _WINDOWS __MINGW32__ __MINGW64__ "
    "__MINGW32_VERSION __CYGWIN__ __CYGWIN32__ _MSC_VER __BORLANDC__ __WATCOMC__ __TURBOC__ "
    "__DJGPP__ __GO32__ MSDOS __MSDOS__ _MSDOS __DOS__ __OS2__ __EMX__ OS2 __APPLE__ __MACH__ "
    "macintosh __APPLE_CC__ _AIX __hpux hpux __sun sun __sun__ __SUNPRO_C __SUNPRO_CC __sgi sgi "
    "__osf__ __ultrix __QNX__ __QNXNTO__ VMS __VMS vms __riscos__ __riscos AMIGA __amigaos__ "
    "__BEOS__ __HAIKU__ __MVS__ __TANDEM __FreeBSD__ __NetBSD__ __OpenBSD__ __DragonFly__ "
    "__ANDROID__ __EMSCRIPTEN__ __i386__ __i386 _M_IX86 __ia64__ __arm__ __aarch64__ _M_ARM64 "
    "__powerpc__ __powerpc64__ __mips__ __sparc__ __s390__ __alpha__ __hppa__ __m68k__ __riscv "
    "__ILP32__ __BIG_ENDIAN__ _CRAY _LCLINT __LCLINT__ S_SPLINT_S __PGI __xlC__ __IBMC__ __DECC "
    "__ARMCC_VERSION __TINYC__ __LCC__".split()
)
"""Macros of other compilers, systems and processors."""

_FEATURE = re.compile(
    r"HAVE_(?!\w*(?:WIN|W32|DOS|OS2|MACH|APPLE|CARBON|FOUNDATION|DIRECT_H|_IO_H|SOLARIS|AIX|HPUX|"
    r"BSD|KQUEUE|KVM))\w+"
)
"""What `configure` finds on this platform, as a rule; the build makes the file that says so."""

_TOKEN = re.compile(r"\s*(?:(\d[\w.]*)|([A-Za-z_]\w*)|(&&|\|\||[<>=!]=|<<|>>|[-+*/%<>!~()?:&|^]))")
_MOST_TOKENS = 200
_MOST_NESTED = 40
"""Brackets of a condition that is read: each is a level of recursion."""
_RANKS: tuple[dict[str, Callable[[int, int], int]], ...] = (
    {"==": int.__eq__, "!=": int.__ne__},
    {"<": int.__lt__, ">": int.__gt__, "<=": int.__le__, ">=": int.__ge__},
    {"<<": lambda a, b: a << max(0, min(b, 64)), ">>": lambda a, b: a >> max(0, min(b, 64))},
    {"+": int.__add__, "-": int.__sub__},
    {"*": int.__mul__},
)
"""Binary operators between `&&` and the unary ones, the loosest first."""


class Definitions:
    """Macros that are known beside those of the platform, such as those of a compiler's `-D`."""

    def __init__(self, values: Mapping[str, str | None], *, prefixes: tuple[str, ...] = ()) -> None:
        """`values` are what macros represent by their names; None for those that are not defined.
        Other names that begin with one of `prefixes` are defined."""
        self.values = values
        self._prefixes = prefixes

    def __contains__(self, name: str) -> bool:
        return name in self.values or name.startswith(self._prefixes)

    def is_defined(self, name: str) -> bool:
        """Return whether a macro that these contain is defined."""
        return self.values.get(name, "") is not None

    def value(self, name: str) -> int | None:
        """Return the number that a macro which these contain is in a condition; None when it is
        none by itself. What is not defined is 0."""
        written = self.values.get(name, "1")
        return 0 if written is None else _number(written)


_NONE = Definitions({})
_used = _NONE


@contextmanager
def using(definitions: Definitions) -> Iterator[None]:
    """Have conditions know these macros as well, while one file is read."""
    global _used
    before, _used = _used, definitions
    try:
        yield
    finally:
        _used = before


def is_defined(name: str) -> bool | None:
    """Return whether a macro is defined on this platform; None for one that is not the platform's
    to define.
    """
    return _is_defined(name, _used)


def _is_defined(name: str, definitions: Definitions) -> bool | None:
    if name in definitions:
        return definitions.is_defined(name)
    if name in _VALUES or _FEATURE.fullmatch(name):
        return True
    return False if name in _OTHERS else None


def holds(condition: str) -> bool | None:
    """Return whether a condition of `#if` is true on this platform; None when that is open."""
    return _holds(condition, _used)


@functools.lru_cache(4096)
def _holds(condition: str, definitions: Definitions) -> bool | None:
    condition = condition.replace("\\\n", " ")
    tokens = [match.group().strip() for match in _TOKEN.finditer(condition)]
    if len(tokens) > _MOST_TOKENS or tokens.count("(") > _MOST_NESTED:
        return None
    if "".join(tokens) != "".join(condition.split()):
        return None
    parser = _Parser(tokens, definitions)
    value = parser.any_of()
    return None if value is None or not parser.is_done else bool(value)


def _number(written: str) -> int | None:
    """Return the value of a plain number, with or without what says its type."""
    digits = written.strip().rstrip("uUlL")
    known = re.fullmatch(r"0[xX][\da-fA-F]{1,16}|[1-9]\d{0,19}|0", digits)
    return int(digits, 0) if known else None


class _Parser:
    """Reads a condition from the left; None is a value that is not known."""

    def __init__(self, tokens: list[str], definitions: Definitions) -> None:
        self._tokens = tokens
        self._definitions = definitions
        self._at = 0

    @property
    def is_done(self) -> bool:
        """Return whether all of the condition was read."""
        return self._at == len(self._tokens)

    def any_of(self) -> int | None:
        """Read operands of `||`."""
        value = self._all_of()
        while self._take("||"):
            right = self._all_of()
            known = None if value is None or right is None else 0
            value = 1 if value or right else known
        return value

    def _all_of(self) -> int | None:
        value = self._binary(0)
        while self._take("&&"):
            right = self._binary(0)
            known = None if value is None or right is None else 1
            value = 0 if 0 in (value, right) else known
        return value

    def _binary(self, rank: int) -> int | None:
        if rank == len(_RANKS):
            return self._unary()
        value = self._binary(rank + 1)
        while self._peek() in _RANKS[rank]:
            operator = _RANKS[rank][self._next()]
            right = self._binary(rank + 1)
            value = None if value is None or right is None else int(operator(value, right))
        return value

    def _unary(self) -> int | None:
        token = self._next()
        if token == "!":
            value = self._unary()
            return None if value is None else int(not value)
        if token == "-":
            value = self._unary()
            return None if value is None else -value
        if token == "(":
            value = self.any_of()
            self._take(")")
            return value
        if token == "defined":
            bracket = self._take("(")
            known = _is_defined(self._next(), self._definitions)
            if bracket:
                self._take(")")
            return None if known is None else int(known)
        if token[:1].isdigit():
            return _number(token)
        given = self._definitions.value(token) if token in self._definitions else None
        if self._peek() == "(":
            self._skip_arguments()
            return given
        if token in self._definitions:
            return given
        if token in _OTHERS:
            return 0
        return 1 if _FEATURE.fullmatch(token) else _VALUES.get(token)

    def _skip_arguments(self) -> None:
        depth = 0
        while self._at < len(self._tokens):
            token = self._next()
            depth += (token == "(") - (token == ")")
            if depth == 0:
                return

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _take(self, token: str) -> bool:
        found = self._peek() == token
        self._at += found
        return found
