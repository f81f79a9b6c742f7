"""Where optimized Rust may still panic, by what the compiler wrote of it.

Read is LLVM's intermediate representation with debug information, or the lines of it that `KEPT`
finds. A call may panic unless LLVM has shown that it does not unwind and that it returns. Where
code was merged or moved its line is unknown (0): then it counts for every line of its function.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

KEPT = (
    r"^define |^declare |^attributes |^ .*(call|invoke) |to label .* unwind label"
    r"|^![0-9]+ = (distinct )?!DI(Location|Subprogram|LexicalBlock|LexicalBlockFile|File)\("
    r'|^@[^ ]+ = .* c"'
)
"""Extended regular expression of the lines that are read."""
_CALLEE = re.compile(r'@("[^"]+"|[\w.$]+)\(|(%[\w.]+\(|\basm\b)')
_OPERATION = re.compile(r"\s+(?:[%@]\S+ = )?(?:(?:tail|musttail|notail) )?(call|invoke) ")
_DBG = re.compile(r"!dbg !(\d+)")
_ATTRIBUTE = re.compile(r"#(\d+)")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
_METADATA = re.compile(r"!(\d+) = (?:distinct )?!DI(\w+)\((.*)\)$")
_FIELD = re.compile(
    r'\b(line|name|scope|file|inlinedAt|filename|directory): (?:!(\d+)|(\d+)|"([^"]*)")'
)
_NAME = re.compile(r'^(@\S+) = [^"]*\[\d+ x i8\][^"]* c"([^"]*)"')
_LOCATION = re.compile(r'\{ ptr (@[^\s,]+), \[16 x i8\] c"([^"]*)" \}')
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2})")
_DEEPEST = 300


@dataclass(frozen=True, slots=True)
class Lines:
    """Some lines of a file."""

    file: str
    """Path as the compiler has it, from the root."""
    first: int
    last: int

    def has(self, file: str, line: int) -> bool:
        """Return whether a place is among them."""
        return file == self.file and self.first <= line <= self.last


@dataclass(frozen=True, slots=True)
class _Call:
    callee: str
    """Name behind the number of its module; empty when it is not known."""
    location: str
    """Number of its debug location; empty without one."""
    attributes: tuple[str, ...]
    """Numbers of groups at the call."""
    inside: str
    """Number of the subprogram of the function that it is in; empty without one."""


@dataclass(slots=True)
class OptimizedCode:
    """What was read of some modules; numbers of metadata begin with that of the module."""

    calls: list[_Call] = field(default_factory=list)
    defined: list[str] = field(default_factory=list)
    """Subprograms of the functions whose code is there."""
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, frozenset[str]] = field(default_factory=dict)
    functions: dict[str, set[str]] = field(default_factory=dict)
    """Groups of attributes of a function, by its name."""
    panics: list[tuple[str, int]] = field(default_factory=list)
    """File and line of places that panics name."""

    def defines(self, name: str, head: Lines) -> bool:
        """Return whether the code of a function whose name is in some lines is there."""
        return any(
            self._begins_in(item, head) and self.metadata[item].get("name") == name
            for item in self.defined
        )

    def checks(self, statement: Lines) -> bool:
        """Return whether a call that may panic is surely of a statement, and a panic names it."""
        return self._is_named(statement) and any(
            statement.has(self._file(place.get("scope", "")), int(place.get("line", "0")))
            for call in self.calls
            if self._unwinds(call)
            for place in self._chain(call.location)
        )

    def may_panic(self, statement: Lines, function: Lines) -> bool:
        """Return whether something may panic in a statement of a function, in what it calls
        included."""
        return self._is_named(statement) or any(
            self._is_at(call, statement, function) for call in self.calls if self._unwinds(call)
        )

    def _is_named(self, statement: Lines) -> bool:
        return any(
            statement.file.endswith(f"/{name}") and statement.first <= line <= statement.last
            for name, line in self.panics
        )

    def _unwinds(self, call: _Call) -> bool:
        groups = {*call.attributes, *self.functions.get(call.callee, ())}
        words: set[str] = set()
        for group in groups:
            words |= self.attributes.get(group, frozenset())
        return not ("nounwind" in words and "noreturn" not in words)

    def _is_at(self, call: _Call, statement: Lines, function: Lines) -> bool:
        if not call.location:
            return not call.inside or self._begins_in(call.inside, function)
        for location in self._chain(call.location):
            line = int(location.get("line", "0"))
            scope = location.get("scope", "")
            if statement.has(self._file(scope), line):
                return True
            if line == 0 and self._begins_in(self._subprogram(scope), function):
                return True
        return False

    def _chain(self, number: str) -> Iterator[dict[str, str]]:
        """Yield a location and those that it was inlined at."""
        for _ in range(_DEEPEST):
            found = self.metadata.get(number)
            if found is None:
                return
            yield found
            number = found.get("inlinedAt", "")

    def _file(self, scope: str) -> str:
        found = self.metadata.get(self.metadata.get(scope, {}).get("file", ""), {})
        name, folder = found.get("filename", ""), found.get("directory", "")
        return name if name.startswith("/") else f"{folder}/{name}"

    def _subprogram(self, scope: str) -> str:
        for _ in range(_DEEPEST):
            if self.kinds.get(scope) == "Subprogram" or scope not in self.metadata:
                break
            scope = self.metadata[scope].get("scope", "")
        return scope

    def _begins_in(self, subprogram: str, function: Lines) -> bool:
        found = self.metadata.get(subprogram, {})
        return function.has(self._file(subprogram), int(found.get("line", "0")))


def read_code(modules: Iterable[str]) -> OptimizedCode:
    """Return what is read of the texts of some modules."""
    code = OptimizedCode()
    for number, text in enumerate(modules):
        _Module(code, f"{number}.").read(text)
    return code


class _Module:
    """Reads one module."""

    def __init__(self, code: OptimizedCode, prefix: str) -> None:
        self._code, self._prefix = code, prefix
        self._names: dict[str, str] = {}
        self._inside = ""

    def read(self, text: str) -> None:
        """Read its lines. What an `invoke` says is on two of them."""
        lines = text.splitlines()
        for line, after in zip(lines, [*lines[1:], ""], strict=True):
            if line.startswith(";"):
                continue
            if line.startswith("@"):
                self._read_constant(line)
            elif line.startswith("!"):
                self._read_metadata(line)
            elif line.startswith("attributes "):
                number, _, words = line.partition("{")
                found = _TEXT.sub("", words).split()
                self._code.attributes[self._prefix + number.split("#")[1].split()[0]] = frozenset(
                    word.partition("(")[0] for word in found
                )
            elif line.startswith(("define ", "declare ")):
                self._read_function(line)
            elif operation := _OPERATION.match(line):
                self._read_call(f"{line} {after}" if operation[1] == "invoke" else line)

    def _read_function(self, line: str) -> None:
        name = _CALLEE.search(line)
        groups = {self._prefix + found for found in _ATTRIBUTE.findall(_TEXT.sub("", line))}
        if name is not None and name[1]:
            self._code.functions.setdefault(self._prefix + name[1], set()).update(groups)
        if line.startswith("define "):
            self._inside = self._number(_DBG.search(line))
            self._code.defined.append(self._inside)

    def _read_call(self, line: str) -> None:
        name = _CALLEE.search(line)
        callee = name[1] if name is not None and name[1] else ""
        if callee.startswith("llvm.") and callee != "llvm.trap":
            return
        groups = _ATTRIBUTE.findall(_TEXT.sub("", line))
        self._code.calls.append(
            _Call(
                self._prefix + callee if callee else "",
                self._number(_DBG.search(line)),
                tuple(self._prefix + group for group in groups),
                self._inside,
            )
        )

    def _read_metadata(self, line: str) -> None:
        found = _METADATA.match(line)
        if found is None:
            return
        fields = {
            name: self._prefix + number if number else plain or text
            for name, number, plain, text in _FIELD.findall(found[3])
        }
        self._code.metadata[self._prefix + found[1]] = fields
        self._code.kinds[self._prefix + found[1]] = found[2]

    def _read_constant(self, line: str) -> None:
        for name, data in _LOCATION.findall(line):
            place = _bytes(data)
            if len(place) == 16:
                number = int.from_bytes(place[8:12], "little")
                self._code.panics.append((self._names.get(name, ""), number))
        if (named := _NAME.match(line)) is not None:
            self._names[named[1]] = _bytes(named[2]).rstrip(b"\0").decode("utf-8", "replace")

    def _number(self, found: re.Match[str] | None) -> str:
        return self._prefix + found[1] if found is not None else ""


def _bytes(text: str) -> bytes:
    """Return the bytes of a constant: backslashes are followed by two hexadecimal digits."""
    whole = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    return whole.encode("latin-1", "replace")
