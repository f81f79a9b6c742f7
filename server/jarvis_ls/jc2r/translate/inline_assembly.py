"""Assembly within functions, as gcc has it, in the form that Rust has: for x86-64 only.

Whole numbers and pointers go through registers as words of 64 bits, memory by its address. What
gcc would find out otherwise (names in the text, jumps out of it) is refused.
"""

from __future__ import annotations

import platform
import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.translate.ast import inside
from jarvis_ls.jc2r.translate.attributes import label_of
from jarvis_ls.jc2r.translate.c_types import FLOATS, is_integer, is_pointer, kind
from jarvis_ls.jc2r.translate.locals import Locals
from jarvis_ls.jc2r.translate.names import Unsupported
from jarvis_ls.jc2r.translate.strings import text_of

REFUSED = "inline assembly"
_TEXT = r'"(?:[^"\\]|\\.)*"'
_STATEMENT = re.compile(
    rf"{_TEXT}|'(?:[^'\\]|\\.)*'|(?<![\w.])asm (?P<goto>goto |volatile goto )?(?:volatile )?\("
)
_PART = re.compile(rf"{_TEXT}|'(?:[^'\\]|\\.)*'|[()\[\]{{}}]|[:,]")
_OPERAND = re.compile(rf"\s*(?:\[(\w+)\]\s*)?({_TEXT})")
_ALTERNATIVES = re.compile(r"\{([^{}|]*)\|[^{}]*\}")
"""What is written for each of the two ways to write assembly; the first is that of gcc."""
_PLACE = re.compile(r"%(?:(%)|([a-zA-Z]?)(?:(\d+)|\[(\w+)\])|(.?))", re.DOTALL)
_NAME = re.compile(r"(?<![%\w.$@{])\$?[A-Za-z_.][\w.@]*(?![\w(]*\})|\(%rip\)")
_DIRECTIVE = re.compile(r"(?!\.(?:byte|word|long|quad)\Z)\.|.*:\Z")
"""What is no instruction, but for one that is written as numbers."""
_PREFIXES = ("lock", "rep", "repe", "repz", "repne", "repnz")
_REGISTERS = {
    **{letter: (f"{letter}l", f"{letter}x", f"e{letter}x", f"r{letter}x") for letter in "abcd"},
    "S": ("sil", "si", "esi", "rsi"),
    "D": ("dil", "di", "edi", "rdi"),
    **{f"r{n}": (f"r{n}b", f"r{n}w", f"r{n}d", f"r{n}") for n in range(8, 16)},
}
"""What the parts of a register are called: of 8, 16, 32 and 64 bits."""
_BY_NAME = {name: letter for letter, names in _REGISTERS.items() for name in names}
_WIDTHS = {1: 0, 2: 1, 4: 2, 8: 3}
_MODIFIERS = "lxer"
"""What Rust calls the same parts."""
_ASKED = {"b": 0, "w": 1, "k": 2, "q": 3}
"""What gcc calls them."""
_NUMBERS = set("inIJKLMNOeZ")
_ANYWHERE = set("rqQlRgU")
_MEMORY = set("moV")
_VECTORS = set("xvY")


@dataclass(frozen=True, slots=True)
class AssemblyStatement:
    """A statement as the parser writes it."""

    text: str
    outputs: Sequence[tuple[str, str]]
    """Of each its name and where it is."""
    inputs: Sequence[tuple[str, str]]
    lost: Sequence[str]
    """Registers that have another value afterwards."""


@dataclass(slots=True)
class _Operand:
    """Where a value of C is for the assembly."""

    place: str
    """`number`, `memory`, `vector`, `any` register, or the letter of one."""
    cursor: Any
    name: str = ""
    value: str = ""
    """What goes in."""
    result: str = ""
    """What comes out."""

    @property
    def size(self) -> int:
        return int(self.cursor.type.get_size())


def written_in(function: str) -> list[AssemblyStatement | None]:
    """Return the statements of assembly in a function that the parser wrote; None for those that
    jump.
    """
    found: list[AssemblyStatement | None] = []
    for match in _STATEMENT.finditer(function):
        if match[0].startswith(("asm ", "asm(")):
            parts = list(_parts(function, match.end()))
            found.append(None if match["goto"] or not parts else _parse_statement(parts))
    return found


def _parts(text: str, at: int) -> Iterator[list[str]]:
    """Yield what is between the colons of a statement, taken apart at its commas."""
    depth, start = 0, at
    found: list[str] = []
    for match in _PART.finditer(text, at):
        word = match[0]
        if depth == 0 and word in (":", ",", ")"):
            found.append(text[start : match.start()].strip())
            start = match.end()
            if word != ",":
                yield [part for part in found if part]
                found = []
            if word == ")":
                return
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(word, 0)


def _parse_statement(parts: list[list[str]]) -> AssemblyStatement:
    text, outputs, inputs, lost = [*parts, [], [], []][:4]
    return AssemblyStatement(
        text_of(text[0]) if text else "",
        _constraints(outputs),
        _constraints(inputs),
        [text_of(register) for register in lost],
    )


def _constraints(operands: Sequence[str]) -> list[tuple[str, str]]:
    return [
        (match[1] or "", text_of(match[2]))
        for operand in operands
        if (match := _OPERAND.match(operand)) is not None
    ]


class Assembly(Locals):
    """Statements of assembly."""

    @abstractmethod
    def assembly_in(self) -> list[tuple[Any, AssemblyStatement | None]]:
        """All statements of assembly of the function, with how the parser writes each."""

    def assembly_statement(self, cursor: Any) -> list[str]:
        """Return a statement of assembly in Rust. Raises `Unsupported`."""
        written = next(
            (assembly for found, assembly in self.assembly_in() if found.hash == cursor.hash), None
        )
        if written is None or platform.machine() not in ("x86_64", "AMD64"):
            raise Unsupported(REFUSED)
        children = clang.children(cursor)
        asked = [*written.outputs, *written.inputs]
        if len(children) != len(asked):
            raise Unsupported(REFUSED)
        operands: list[_Operand] = []
        before: list[str] = []
        after: list[str] = []
        for n, ((name, constraint), child) in enumerate(zip(asked, children, strict=True)):
            is_result = n < len(written.outputs)
            operand = self._operand(constraint, child, operands, is_result=is_result)
            operand.name = name
            self._add_operand(operand, n, constraint, before, after, is_result=is_result)
            operands.append(operand)
        kept, first, last = _rust_operands(operands, written.lost)
        text = _text(written, operands)
        named = [match[1] for line in kept if (match := re.match(r"(o\d+) =", line))]
        if unnamed := [name for name in named if not any(f"{{{name}" in line for line in text)]:
            text.append(
                "# " + " ".join(f"{{{name}}}" for name in unnamed)
            )  # Rust has all of them named
        arguments = [f'"{line}",' for line in [*first, *text, *last]]
        return [
            "{",
            *before,
            "core::arch::asm!(",
            *arguments,
            *kept,
            "options(att_syntax),",
            ");",
            *after,
            "}",
        ]

    def _operand(
        self, constraint: str, child: Any, known: Sequence[_Operand], *, is_result: bool
    ) -> _Operand:
        letters = constraint.split(",")[0].strip("=+&% ")
        if letters.isdigit():  # where another one is
            other = int(letters)
            place = known[other].place if other < len(known) else ""
            if is_result or place not in ("any", *_REGISTERS) or known[other].value:
                raise Unsupported(REFUSED)
            return _Operand(f"={other}" if place == "any" else place, child)
        if letters.startswith("@"):
            raise Unsupported(REFUSED)
        declared = inside(child).referenced
        label = label_of(declared) if declared is not None and _is_local(declared) else ""
        if label:
            if label.strip("%") not in _BY_NAME:
                raise Unsupported(REFUSED)
            return _Operand(_BY_NAME[label.strip("%")], child)
        if not is_result and set(letters) & _NUMBERS and isinstance(clang.constant(child), int):
            return _Operand("number", child)
        for letter in letters:
            if letter in _ANYWHERE:
                return _Operand("any", child)
            if letter in _REGISTERS:
                return _Operand(letter, child)
            if letter in _MEMORY:
                return _Operand("memory", child)
            if letter in _VECTORS:
                return _Operand("vector", child)
        raise Unsupported(REFUSED)

    def _add_operand(
        self,
        operand: _Operand,
        n: int,
        constraint: str,
        before: list[str],
        after: list[str],
        *,
        is_result: bool,
    ) -> None:
        """Add what goes into an operand and what comes out of it."""
        child = operand.cursor
        if operand.place == "number":
            operand.value = f"{clang.constant(child)}"
        elif operand.place == "memory":
            way = "mut" if is_result else "const"
            before.append(f"let __at{n} = &raw {way} {self.place(child)};")
            operand.value = f"__at{n}"
        elif operand.place == "vector":
            if kind(child.type) not in (*FLOATS, "VECTOR"):
                raise Unsupported(REFUSED)
            self._pass_operand(operand, n, constraint, before, is_result=is_result)
            if is_result:
                after.append(self.write(child, f"__out{n}"))
        else:
            if not (is_integer(child.type) or is_pointer(child.type)) or child.type.get_size() > 8:
                raise Unsupported(REFUSED)
            self._pass_operand(operand, n, constraint, before, is_result=is_result)
            if is_result:
                after.append(self.write(child, self.from_word(f"__out{n}", child.type)))

    def _pass_operand(
        self, operand: _Operand, n: int, constraint: str, before: list[str], *, is_result: bool
    ) -> None:
        in_word = operand.place != "vector"
        type_ = operand.cursor.type
        if not is_result or "+" in constraint:
            value = self.read(operand.cursor) if is_result else self.value(operand.cursor)
            value = self.to_word(value, type_) if in_word else value
            before.append(f"let __in{n} = {value};")
            operand.value = f"__in{n}"
        if is_result:
            before.append(f"let __out{n}: {'u64' if in_word else self.types.of(type_)};")
            operand.result = f"__out{n}"


def _is_local(declared: Any) -> bool:
    return bool(declared.kind.name == "VAR_DECL" and declared.linkage.name == "NO_LINKAGE")


def _rust_operands(
    operands: Sequence[_Operand], lost: Sequence[str]
) -> tuple[list[str], list[str], list[str]]:
    """Return the operands for Rust, and what must be done before and after the assembly: `rbx` is
    not for it, so that what is to be there changes places with another register.
    """
    lines: list[str] = []
    by_register: dict[str, list[_Operand]] = {}
    for n, operand in enumerate(operands):
        if operand.place in _REGISTERS:
            by_register.setdefault(operand.place, []).append(operand)
        elif operand.place == "memory":
            lines.append(f"o{n} = in(reg) {operand.value},")
        elif operand.place == "number":
            lines.append(f"o{n} = const {operand.value},")
        elif operand.place in ("any", "vector"):
            lines += _register(n, operand, operands)
    for name in lost:
        letter = _BY_NAME.get(name.strip("%"))
        if letter is not None:
            by_register.setdefault(letter, [])
        elif re.fullmatch(r"%?[xy]mm\d+", name):
            lines.append(f'out("{name.strip("%")}") _,')
        elif name not in ("memory", "cc", "flags", "dirflag", "fpsr", "redzone"):
            raise Unsupported(REFUSED)
    first: list[str] = []
    last: list[str] = []
    for letter, every in by_register.items():
        values = [operand.value for operand in every if operand.value]
        results = [operand.result for operand in every if operand.result]
        if len(values) > 1 or len(results) > 1:
            raise Unsupported(REFUSED)
        value, result = (values or [""])[0], (results or ["_"])[0]
        if letter == "b":
            lines.append(f"kept = inout(reg) {value or '0u64'} => {result},")
            first, last = ["xchgq %rbx, {kept:r}"], ["xchgq %rbx, {kept:r}"]
            continue
        where = f'("{_REGISTERS[letter][3]}")'
        if not value:
            lines.append(f"out{where} {result},")
        elif results or any(_BY_NAME.get(name.strip("%")) == letter for name in lost):
            lines.append(f"inout{where} {value} => {result},")
        else:
            lines.append(f"in{where} {value},")
    return lines, first, last


def _register(n: int, operand: _Operand, operands: Sequence[_Operand]) -> list[str]:
    """Return an operand that may be in any register of a kind; the one that goes in where it comes
    out is told with that.
    """
    where = "reg" if operand.place == "any" else "xmm_reg"
    if operand.result and not operand.value:
        mine = next((other for other in operands if other.place == f"={n}"), None)
        if mine is not None:
            return [f"o{n} = inout({where}) {mine.value} => {operand.result},"]
        return [f"o{n} = out({where}) {operand.result},"]
    if operand.result:
        return [f"o{n} = inout({where}) {operand.value} => {operand.result},"]
    return [f"o{n} = in({where}) {operand.value},"]


def _text(written: AssemblyStatement, operands: Sequence[_Operand]) -> list[str]:
    """Return the lines of the assembly as Rust has them in quotes."""
    text = _ALTERNATIVES.sub(r"\1", written.text)
    if "{" in text or "}" in text or "%=" in text:
        raise Unsupported(REFUSED)
    plain = not operands and not written.lost and "%%" not in text
    made = text if plain else _PLACE.sub(lambda match: _put_in(match, written, operands), text)
    _refuse_names(made)
    escaped = made.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return escaped.split("\n")


def _put_in(match: re.Match[str], written: AssemblyStatement, operands: Sequence[_Operand]) -> str:
    if match[1]:
        return "%"
    names = [name for name, _ in [*written.outputs, *written.inputs]]
    n = int(match[3]) if match[3] else names.index(match[4]) if match[4] in names else -1
    if match[5] is not None or not 0 <= n < len(operands):
        raise Unsupported(REFUSED)
    operand, asked = operands[n], match[2]
    if operand.place == "number" and asked in ("", "c", *_ASKED):
        return f"{'' if asked == 'c' else '$'}{{o{n}}}"
    if operand.place == "memory" and not asked:
        return f"({{o{n}:r}})"
    if operand.place == "vector" and not asked:
        return f"{{o{n}}}"
    width = _WIDTHS.get(operand.size) if not asked else _ASKED.get(asked)
    if width is None or operand.place in ("number", "memory", "vector"):
        raise Unsupported(REFUSED)
    if operand.place in _REGISTERS:
        return f"%{_REGISTERS[operand.place][width]}"
    n = int(operand.place[1:]) if operand.place.startswith("=") else n
    return f"{{o{n}:{_MODIFIERS[width]}}}"


def _refuse_names(text: str) -> None:
    """Raise `Unsupported` where assembly names something that only the linker knows, or a label
    that would be there as often as the function is taken over into others."""
    for line in re.split(r"[;\n]", text):
        line = re.sub(r"#.*|/\*.*?\*/", "", line)
        while (label := re.match(r"\s*\d+:", line)) is not None:
            line = line[label.end() :]
        words = line.split(None, 1)
        while words and words[0] in _PREFIXES:
            words = words[1].split(None, 1) if len(words) > 1 else []
        named = _NAME.search(words[1]) if len(words) > 1 else None
        if named is not None or (words and _DIRECTIVE.match(words[0])):
            raise Unsupported(REFUSED)
