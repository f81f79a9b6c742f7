"""An installed header cut into its declarations and macros, without running a preprocessor.

Headers of systems are written for many compilers: what a declaration is becomes clear only when
its macros are replaced. So a header is read in two steps. Here its lines are taken that the
platform compiles, and cut where declarations end; each is found by the names it may declare. What
one says is read when somebody asks for it (`installed_headers`), so that what cannot be read right
costs only what it would have said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum

from jarvis_ls.codeintel.comments import blank
from jarvis_ls.codeintel.conditions import Definitions, holds, is_defined, using

_LONGEST = 60_000
"""Characters of a declaration; longer ones are data, or torn."""

_PLATFORM = Definitions(
    {
        **dict.fromkeys(
            "__cplusplus __KERNEL__ _LIBC __ASSEMBLER__ __ASSEMBLY__ __USE_FILE_OFFSET64 "
            "__USE_TIME_BITS64 __USE_TIME64_REDIRECTS __USE_EXTERN_INLINES __CHECKER__ __lint "
            "__OBJC__ _ISOMAC __NO_LONG_DOUBLE_MATH SWIG RC_INVOKED __BIG_ENDIAN_BITFIELD "
            "__clang__ __STRICT_ANSI__ __INTEL_COMPILER".split()
        ),
        **dict.fromkeys(("__USE_FORTIFY_LEVEL", "__WORDSIZE_TIME64_COMPAT32"), "0"),
        **dict.fromkeys(("__WORDSIZE", "__TIMESIZE", "__SYSCALL_WORDSIZE"), "64"),
        **dict.fromkeys(("__BYTE_ORDER", "__LITTLE_ENDIAN", "__FLOAT_WORD_ORDER"), "1234"),
        **dict.fromkeys(("__GNUC_PREREQ", "__GLIBC_PREREQ", "__LITTLE_ENDIAN_BITFIELD"), "1"),
        "__glibc_c99_flexarr_available": "1",
        "__glibc_clang_prereq": "0",
        "__BIG_ENDIAN": "4321",
    },
    prefixes=("__USE_MISC", "__USE_POSIX", "__USE_XOPEN", "__USE_ISOC", "__USE_UNIX98", "__USE_AT"),
)
"""What a compiler of C defines that was given no options, and the headers of the GNU library
themselves; all else stays open."""

_DIRECTIVE = re.compile(r"\s*#\s*([a-z_]+)\s*(.*)")
_MACRO = re.compile(r"([A-Za-z_]\w*)(\(([^()]*)\))?\s*(.*)")
_INCLUDE = re.compile(r'[<"]([^>"]+)[>"]')
_DEFINED_NOT = re.compile(r"!\s*defined\s*\(?\s*([A-Za-z_]\w*)\s*\)?\s*")
_MARK = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|[{}();]')
_LINKAGE = re.compile(r'\s*extern\s*"C(?:\+\+)?"\s*')
_BEGINS = re.compile(r"(?:typedef|extern|struct|union|enum|static)\b")
_AGGREGATE = re.compile(r"\s*(?:typedef|struct|union|enum|class|namespace)\b")
_NAMED = re.compile(r"\b([A-Za-z_]\w*)\b\s*(?=[(;,\[)])")
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\b\s*(?=\()")
_TAGGED = re.compile(r"\b(?:struct|union|enum)\b[^{};()]{0,200}?\b([A-Za-z_]\w*)\b\s*\{")
_ENUMERATOR = re.compile(r"\b([A-Za-z_]\w*)\b\s*(?=[,=}])")
_BEFORE_MACRO = re.compile(r"\b([A-Za-z_]\w*)\b\s+[A-Z_][A-Z_\d]*\s*(?=\()")
_WRAPPED = re.compile(r"\s*[A-Za-z_]\w*\s*\(")


@dataclass(frozen=True, slots=True)
class Template:
    """A macro with parameters."""

    parameters: tuple[str, ...]
    """Names of the parameters."""
    body: str
    """What is put in place of it."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One declaration as it is written."""

    text: str
    """Its text without comments; of a function that is defined its head alone."""
    is_open: bool
    """Whether how the program is compiled decides that it is there."""


@dataclass(slots=True)
class HeaderText:
    """What one header holds."""

    includes: tuple[str, ...] = ()
    """Headers that it names, those for other platforms among them."""
    names: dict[str, list[Chunk]] = field(default_factory=dict)
    """Declarations by the names that they may declare."""
    macros: dict[str, list[tuple[str, bool]]] = field(default_factory=dict)
    """Replacement texts of macros without parameters, and whether each is open."""
    function_macros: dict[str, list[Template]] = field(default_factory=dict)
    """Macros with parameters."""
    undefined: set[str] = field(default_factory=set)
    """Macros that it takes back at its end: only its own declarations use them."""


def read_header(data: bytes) -> HeaderText:
    """Return what a header holds."""
    plain = blank(data, "c", literals=False).decode("utf-8", "replace").replace("\r\n", "\n")
    with using(_PLATFORM):
        return _Reader(plain.replace("\\\n", " ").split("\n")).read()


class _Branch(Enum):
    """Whether a branch of a conditional directive is compiled."""

    YES = "yes"
    NO = "no"
    OPEN = "open"


@dataclass(slots=True)
class _Conditional:
    """A conditional directive whose end is not reached."""

    now: _Branch
    """The branch that is being read."""
    before: _Branch
    """Whether one of the branches up to it is compiled."""
    written: bool
    """Whether its directives are part of a declaration."""


def _branch(known: bool | None) -> _Branch:
    return _Branch.OPEN if known is None else _Branch.YES if known else _Branch.NO


class _Reader:
    """Reads lines from the first to the last."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._found = HeaderText()
        self._includes: dict[str, None] = {}
        self._open: list[_Conditional] = []
        self._parts: list[str] = []
        self._length = 0
        self._braces = self._brackets = 0
        self._head = ""
        """What is before the body of a function; empty outside of one."""
        self._in_open = self._torn = False
        """Whether the declaration is open, and whether directives cut it up."""

    def read(self) -> HeaderText:
        """Return what the lines hold."""
        for number, line in enumerate(self._lines):
            if line.lstrip()[:1] == "#":
                match = _DIRECTIVE.match(line)
                if match is not None:
                    self._directive(match[1], match[2].strip(), number)
            elif line and not any(branch.now is _Branch.NO for branch in self._open):
                self._take(line)
        self._found.includes = tuple(self._includes)
        return self._found

    def _directive(self, word: str, rest: str, number: int) -> None:
        if word in ("if", "ifdef", "ifndef"):
            self._begin(word, rest, number)
        elif word in ("elif", "else", "endif"):
            self._go_on(word, rest)
        elif word in ("include", "include_next"):
            match = _INCLUDE.match(rest)  # all of them, so that what is reached hangs on no macro
            if match is not None:
                self._includes[match[1]] = None
        elif word == "define" and not any(branch.now is _Branch.NO for branch in self._open):
            self._define(rest)
        elif word == "undef" and all(branch.now is _Branch.YES for branch in self._open):
            self._found.undefined.add(rest)

    def _begin(self, word: str, rest: str, number: int) -> None:
        now = self._condition(word, rest, number)
        written = self._braces > 0 and now is _Branch.OPEN and not self._head
        if written:
            self._write(f"\n#{word} {rest}\n")
        elif now is _Branch.OPEN and self._parts:
            self._torn = True
        self._open.append(_Conditional(now, now, written))

    def _condition(self, word: str, rest: str, number: int) -> _Branch:
        if word == "if":
            match = _DEFINED_NOT.fullmatch(rest)
            if match is None:
                return _branch(holds(rest))
            word, rest = "ifndef", match[1]
        known = is_defined(rest)
        if known is None and rest in self._found.macros:
            known = any(not is_open for _, is_open in self._found.macros[rest]) or None
        if known is None and word == "ifndef" and self._defines(rest, number + 1):
            return _Branch.YES  # a guard, or what holds unless somebody says otherwise
        return _branch(known if known is None else known == (word == "ifdef"))

    def _defines(self, name: str, number: int) -> bool:
        """Return whether the next line with text defines a macro."""
        for line in self._lines[number : number + 20]:
            if line.strip():
                match = _DIRECTIVE.match(line)
                return match is not None and match[1] == "define" and match[2].split()[:1] == [name]
        return False

    def _go_on(self, word: str, rest: str) -> None:
        if not self._open:
            return
        branch = self._open[-1]
        if branch.written:
            self._write(f"\n#{word} {rest}\n")
        if word == "endif":
            self._open.pop()
            return
        if branch.before is _Branch.YES:
            branch.now = _Branch.NO
            return
        own = _Branch.YES if word == "else" else _branch(holds(rest))
        if branch.before is _Branch.OPEN and own is _Branch.YES:
            own = _Branch.OPEN
        branch.now = own
        branch.before = own if own is not _Branch.NO else branch.before

    def _define(self, rest: str) -> None:
        match = _MACRO.match(rest)
        if match is None:
            return
        name, listed, body = match[1], match[3], match[4].strip()
        if name in self._found.undefined:
            self._found.undefined.discard(name)
            self._found.macros.pop(name, None)
            self._found.function_macros.pop(name, None)
        if listed is None or match.start(2) != match.end(1):
            is_open = any(branch.now is _Branch.OPEN for branch in self._open)
            self._found.macros.setdefault(name, []).append((rest[len(name) :].strip(), is_open))
            return
        parameters = tuple(word.strip() for word in listed.split(",") if word.strip())
        self._found.function_macros.setdefault(name, []).append(Template(parameters, body))

    def _take(self, line: str) -> None:
        """Take in a line of text."""
        if self._brackets and not self._braces and _BEGINS.match(line):
            self._drop()  # brackets that are not closed belong to something that is torn
        if not self._parts:
            self._in_open = any(branch.now is _Branch.OPEN for branch in self._open)
        at = 0
        for match in _MARK.finditer(line):
            mark = match.group()
            if mark == ";":
                if not (self._braces or self._brackets):
                    self._write(line[at : match.end()])
                    self._end()
                    at = match.end()
            elif mark == "(":
                self._brackets += 1
            elif mark == ")":
                self._brackets = max(self._brackets - 1, 0)
            elif mark == "{":
                if not self._braces:
                    self._write(line[at : match.start()])
                    at = match.start()
                    if self._begins_linkage():
                        at = match.end()
                        continue
                self._braces += 1
            elif mark == "}" and self._braces:
                self._braces -= 1
                if not self._braces and self._head:
                    self._parts, self._length = [self._head, ";"], len(self._head) + 1
                    self._end()
                    at = match.end()
            elif mark == "}":  # the end of `extern "C"`
                at = match.end()
        self._write(line[at:] + "\n")

    def _drop(self) -> None:
        """Forget the declaration that is being read."""
        self._parts, self._length, self._head = [], 0, ""
        self._braces = self._brackets = 0
        self._torn = False

    def _begins_linkage(self) -> bool:
        """Note what a brace outside of all others begins; return whether it is only `extern "C"`,
        whose declarations are like any others."""
        before = "".join(self._parts)
        self._brackets = 0
        if _LINKAGE.fullmatch(before):
            self._parts, self._length = [], 0
            return True
        if before.rstrip().endswith(")") and not _AGGREGATE.match(before):
            self._head = before
        return False

    def _write(self, text: str) -> None:
        if (self._parts or text.strip()) and self._length <= _LONGEST:
            self._parts.append(text)
            self._length += len(text)

    def _end(self) -> None:
        """Keep the declaration that ends here."""
        written = "".join(self._parts)
        torn = self._torn
        self._drop()
        if torn or len(written) > _LONGEST:
            return
        chunk = Chunk(written.strip(), self._in_open)
        self._in_open = any(branch.now is _Branch.OPEN for branch in self._open)
        for name in _names_in(chunk.text):
            self._found.names.setdefault(name, []).append(chunk)


def _names_in(written: str) -> set[str]:
    """Return the names that a declaration may declare."""
    before, brace, rest = written.partition("{")
    behind = rest.rpartition("}")[2] if brace else ""
    names = set(_TAGGED.findall(written)) if brace else set()
    if brace and re.search(r"\benum\b", before):
        names.update(_ENUMERATOR.findall(rest))
    outside = behind if brace else before
    if _WRAPPED.match(outside) or "(" not in outside or before.lstrip().startswith("typedef"):
        names.update(_NAMED.findall(outside))
    else:
        names.update(_CALLED.findall(outside))
        names.update(_BEFORE_MACRO.findall(outside))
    return names
