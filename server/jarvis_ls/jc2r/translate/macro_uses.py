"""Macros with parameters, and where the functions of a file use them.

The parser tells of an expression that comes of a macro where it is written: an argument where it is
given, all else where the macro is named. So what a macro represents is the outermost expression
that is written where its name is, and arguments are those below it that are written between the
parentheses. An argument that does not stay whole (`x + 1` in `a * 2`) is none.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from jarvis_ls.codeintel import clang
from jarvis_ls.jc2r.translate.c_types import is_array
from jarvis_ls.jc2r.translate.macro_constants import Macros, without_comments
from jarvis_ls.jc2r.translate.names import rust_name

_DEFINED = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)\(([\w\s,\\]*)\)((?:[^\\\n]|\\\r?\n)*)", re.MULTILINE
)
_DIRECTIVE = re.compile(rb"^[ \t]*#(?:[^\\\n]|\\\r?\n|\\.)*", re.MULTILINE)
_SKIPPED = re.compile(rb"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)
_WORD = re.compile(
    rb""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[A-Za-z_][\w\x80-\xff]*|\d[\w.\x80-\xff]*"""
)
_PLAIN = re.compile(rb"\b[A-Za-z_]\w*\b(?!\s*\()")
_NAMED = re.compile(rb"[A-Za-z_]\w*\s*(?:\(.*\))?", re.DOTALL)
_DEPTH = 8
_MOST = 20_000
"""Bytes that the arguments of one use may take."""
_WRAPPING = ("PAREN_EXPR", "UNEXPOSED_EXPR")
_NEVER = tuple(
    "typeof __typeof__ __VA_ARGS__ __LINE__ __func__ __COUNTER__ __FUNCTION__ __FILE__ "
    "alloca __builtin_alloca va_arg va_start".split()
)
"""Words in a definition that mean something else in a function of its own, or for each argument."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A macro with parameters."""

    name: str
    parameters: tuple[str, ...]
    body: str
    file: str
    start: int
    end: int
    """Where it is in its file, in bytes."""


@dataclass(slots=True)
class Argument:
    """What is given for a parameter, each time the macro names it."""

    places: list[tuple[Any, Any]] = field(default_factory=list)
    """Each time: the argument, and the same with the conversions that the macro asks for."""
    always: int = 0
    """How often it is worked out whatever the others are worth."""


@dataclass(slots=True)
class Use:
    """One expansion."""

    definition: Definition
    root: Any
    """The expression it represents."""
    arguments: list[Argument]
    others: list[Any]
    """What is below the root and belongs to no argument."""


@dataclass(frozen=True, slots=True)
class Function:
    """A macro as it is in Rust."""

    definition: Definition
    parameters: tuple[tuple[str, str], ...]
    """Name and type of each."""
    result: str
    """Its type; empty for none, `bool` where C has 0 or 1 of a question."""
    code: str

    def item(self) -> str:
        """Its definition."""
        given = ", ".join(f"{name}: {rust}" for name, rust in self.parameters)
        back = f" -> {self.result}" if self.result else ""
        return (
            f"#[inline(always)]\npub unsafe fn {self.definition.name}({given}){back}"
            f" {{ {self.code} }}"
        )


class Definitions:
    """The macros with parameters that one unit may use as functions."""

    def __init__(self, macros: Macros, own: str, headers: Iterable[str], taken: set[str]) -> None:
        self._macros = macros
        found: dict[str, list[Definition]] = {}
        for file in [own, *headers]:
            for definition in _definitions(macros.text(file), file):
                found.setdefault(definition.name, []).append(definition)
        self._found = {name: ones[0] for name, ones in found.items() if len(ones) == 1}
        self.bodies = {
            name: [definition.body for definition in ones] for name, ones in found.items()
        }
        """What each represents, in all its definitions."""
        self._several = {name for name, ones in found.items() if len(ones) > 1}
        self.files = {own, *headers}
        text = _SKIPPED.sub(b" ", _DIRECTIVE.sub(b" ", macros.text(own))) if found else b""
        other = taken | {word.decode() for word in _PLAIN.findall(text)}
        self._counts: dict[str, dict[str, int]] = {}
        for name in self._found:
            if name not in other and rust_name(name) == name and self._is_whole(name):
                counts = self._count_uses(name, 0)
                if counts is not None and all(counts.values()):
                    self._counts[name] = counts
        names = "|".join(re.escape(count) for count in sorted(self._counts))
        self._pattern = re.compile(rf"\b(?:{names})\b(?=\s*\()".encode()) if names else None
        self._named: dict[str, list[tuple[int, str]]] = {}
        """By file: where it names one of them, in order."""

    def uses(self, function: Any) -> dict[int, Use]:
        """Return what represents a macro in a function, by its hash."""
        extent = function.extent
        file = extent.start.file
        if self._pattern is None or file is None or file.name not in self.files:
            return {}
        data = self._macros.text(file.name)
        if file.name not in self._named:
            self._named[file.name] = [
                (match.start(), match[0].decode()) for match in self._pattern.finditer(data)
            ]
        named = self._named[file.name]
        first, last = (
            bisect_left(named, (position.offset, "")) for position in (extent.start, extent.end)
        )
        at = dict(named[first:last])
        if not at:
            return {}
        found: dict[int, Use] = {}
        self._walk(function, frozenset(), (clang.written_at(function)[0], data, at), found)
        return found

    def _walk(
        self,
        node: Any,
        within: frozenset[int],
        seen: tuple[int, bytes, dict[int, str]],
        found: dict[int, Use],
    ) -> None:
        if node.kind.name == "PAREN_EXPR":
            own, data, at = seen
            file, start, _ = clang.written_at(node)
            if file == own and start in at and start not in within:
                within |= {start}
                use = self._use(node, self._found[at[start]], own, data, start)
                if use is not None:
                    found[node.hash] = use
        for child in clang.children(node):
            self._walk(child, within, seen, found)

    def _use(
        self, node: Any, definition: Definition, file: int, data: bytes, start: int
    ) -> Use | None:
        spans = _arguments(data, start + len(definition.name))
        if not definition.parameters and spans == [(0, 0)]:
            spans = []
        if spans is None or len(spans) != len(definition.parameters):
            return None
        use = Use(definition, node, [Argument() for _ in spans], [])
        for child in clang.children(node):
            if not _collect(child, None, True, use, (file, data, spans)):
                return None
        counts = self._counts[definition.name]
        found = [len(argument.places) for argument in use.arguments]
        return use if found == [counts[parameter] for parameter in definition.parameters] else None

    def _is_whole(self, name: str) -> bool:
        body = self._found[name].body
        words = {word.decode() for word in _WORD.findall(body.encode())}
        return is_closed(body) and not set("#;{}") & set(body) and words.isdisjoint(_NEVER)

    def _count_uses(self, name: str, depth: int) -> dict[str, int] | None:
        """Return how often each parameter is named, seen through macros in the definition; None
        when that is unknown.
        """
        definition = self._found[name]
        if depth > _DEPTH:
            return None
        total = dict.fromkeys(definition.parameters, 0)
        return total if self._count(definition.body.encode(), total, depth) else None

    def _count(self, text: bytes, total: dict[str, int], depth: int) -> bool:
        at = 0
        while match := _WORD.search(text, at):
            word, at = match[0].decode(), match.end()
            if word in self._several:
                return False
            if word in total:
                total[word] += 1
            elif word in self._found and text[at:].lstrip().startswith(b"("):
                spans, end = _arguments(text, at), _closing(text, at)
                inner = self._count_uses(word, depth + 1)
                names = self._found[word].parameters
                if (
                    spans is None
                    or end is None
                    or inner is None
                    or len(spans) != len(names)
                    or ("#" in self._found[word].body)
                ):
                    return False
                for (first, last), name in zip(spans, names, strict=True):
                    for _ in range(inner[name]):
                        if not self._count(text[first:last], total, depth + 1):
                            return False
                at = end
        return True


def _collect(
    node: Any, top: Any, always: bool, use: Use, seen: tuple[int, bytes, list[tuple[int, int]]]
) -> bool:
    """Find the arguments below a node of a macro; whether all that was found is whole."""
    own, data, spans = seen
    file, start, end = clang.written_at(node)
    if file != own:
        return False
    for number, (first, last) in enumerate(spans):
        if first <= start and first <= end <= last and start <= last:
            whole = start == first and (end == last or _NAMED.fullmatch(data, end, last))
            use.arguments[number].places.append((node, top if top is not None else node))
            use.arguments[number].always += always
            return bool(whole)
    use.others.append(node)
    children = clang.children(node)
    wraps = node.kind.name in _WRAPPING and len(children) == 1
    inner = (top if top is not None else node) if wraps else None
    for number, child in enumerate(children):
        if not _collect(child, inner, always and not _may_skip(node, number), use, seen):
            return False
    return True


def _may_skip(node: Any, number: int) -> bool:
    """Return whether a child of an expression is not always worked out."""
    name = node.kind.name
    if name == "BINARY_OPERATOR":
        return number == 1 and clang.binary_operator(node) in (20, 21)
    return name in (
        "CONDITIONAL_OPERATOR",
        "UNEXPOSED_EXPR",
        "CXX_UNARY_EXPR",
        "GENERIC_SELECTION_EXPR",
    ) and (number > 0 or name in ("CXX_UNARY_EXPR", "GENERIC_SELECTION_EXPR"))


def _definitions(data: bytes, file: str) -> Iterator[Definition]:
    for match in _DEFINED.finditer(data):
        given = match[2].replace(b"\\", b" ").decode()
        names = tuple(word.strip() for word in given.split(",")) if given.strip() else ()
        end = match.end()
        if match[3].rfind(b"/*") > match[3].rfind(b"*/"):  # the comment continues
            end = max(end, data.find(b"*/", end) + 2)
        body = without_comments(match[3].decode("utf-8", "replace"))
        yield Definition(match[1].decode(), names, body, file, match.start(), end)


def _arguments(data: bytes, at: int) -> list[tuple[int, int]] | None:
    """Return where the arguments are behind the name of a macro, without what is around each; one
    without any text for none. None when there is no end of them.
    """
    opened = data.find(b"(", at)
    end = None if opened < 0 else _closing(data, opened, opened + _MOST)
    if end is None:
        return None
    spans, begin, depth, place = [], opened + 1, 0, opened
    while place < end:
        skipped = _SKIPPED.match(data, place, end)
        if skipped is not None:
            place = skipped.end()
            continue
        character = data[place : place + 1]
        depth += (character in b"([{") - (character in b")]}")
        if (character == b"," and depth == 1) or depth == 0:
            spans.append(_trim(data, begin, place))
            begin = place + 1
        place += 1
    return [(0, 0)] if len(spans) == 1 and spans[0][0] >= spans[0][1] else spans


def _closing(data: bytes, start: int = 0, end: int | None = None) -> int | None:
    """Return where the parenthesis that is next from `start` on is closed, before `end`."""
    end = len(data) if end is None else min(end, len(data))
    place, depth = start, 0
    while data[place : place + 1].isspace():
        place += 1
    while place < end:
        skipped = _SKIPPED.match(data, place, end)
        if skipped is not None:
            place = skipped.end()
            continue
        character = data[place : place + 1]
        depth += (character in b"([{") - (character in b")]}")
        place += 1
        if depth == 0:
            return place
    return None


def _trim(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Return a part of a text without the space and the comments around it."""
    while start < end:
        comment = _SKIPPED.match(data, start, end)
        if data[start : start + 1].isspace():
            start += 1
        elif comment is not None and comment[0][:1] == b"/":
            start = comment.end()
        else:
            break
    held, place = start, start
    while place < end:
        skipped = _SKIPPED.match(data, place, end)
        if skipped is not None:
            place = skipped.end()
            held = place if skipped[0][:1] != b"/" else held
            continue
        held = held if data[place : place + 1].isspace() else place + 1
        place += 1
    return start, held


def is_closed(body: str) -> bool:
    """Return whether the first parenthesis is closed by the last."""
    return body.startswith("(") and _closing(body.encode()) == len(body.encode())


def strip_parentheses(code: str) -> str:
    """Code without parentheses around all of it."""
    while is_closed(code) and not re.match(r"\(-?\d", code):
        code = code[1:-1].strip()
    return code


def argument_values(argument: Argument) -> list[Any]:
    """Return what is handed over for a parameter, at each place where it is used: with the
    conversions that the macro asks for, when they are the same everywhere.
    """
    converted = [top for _, top in argument.places]
    if len({_type_name(use.type) for use in converted}) == 1 and not is_array(converted[0].type):
        return converted
    return [node for node, _ in argument.places]


def _type_name(type_: Any) -> str:
    return str(type_.get_canonical().spelling).removeprefix("const ")
