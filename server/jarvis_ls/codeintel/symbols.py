"""What a file defines, and where a name is in its code: for readers, people or models.

Unlike `facts`, which rules work with, this is about places: every definition with its lines,
nested ones too, and every occurrence of a name with what it is there.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from jarvis_ls.codeintel.calls import invoked_name
from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node, Tree, captures, compile_query, parse

Kind = Literal[
    "function",
    "struct",
    "class",
    "union",
    "enum",
    "trait",
    "impl",
    "type",
    "macro",
    "constant",
    "variable",
    "module",
    "declaration",
]
Use = Literal["definition", "call", "use", "macro", "comment", "text"]

_C_QUERY = """
(function_definition) @function
(struct_specifier body: (_)) @struct
(union_specifier body: (_)) @union
(enum_specifier body: (_)) @enum
(enumerator) @constant
(type_definition) @type
(preproc_def) @macro
(preproc_function_def) @macro
(translation_unit (declaration) @declared)
(preproc_ifdef (declaration) @declared)
(preproc_if (declaration) @declared)
(linkage_specification (declaration_list (declaration) @declared))
"""
_CPP_QUERY = (
    _C_QUERY
    + """
(class_specifier body: (_)) @class
(namespace_definition) @module
(alias_declaration) @type
(declaration_list (declaration) @declared)
(field_declaration declarator: (function_declarator)) @declared
"""
)
_RUST_QUERY = """
(function_item) @function
(function_signature_item) @declaration
(struct_item) @struct
(union_item) @union
(enum_item) @enum
(enum_variant) @constant
(trait_item) @trait
(impl_item) @impl
(type_item) @type
(const_item) @constant
(static_item) @variable
(macro_definition) @macro
(mod_item body: (_)) @module
"""
_QUERIES: dict[LanguageName, str] = {"c": _C_QUERY, "cpp": _CPP_QUERY, "rust": _RUST_QUERY}

_NAMES = frozenset(
    "identifier type_identifier field_identifier namespace_identifier "
    "shorthand_field_identifier qualified_identifier destructor_name operator_name "
    "statement_identifier metavariable".split()
)
_TEXTS = frozenset(
    {
        "string_content",
        "string_literal",
        "raw_string_literal",
        "char_literal",
        "system_lib_string",
        "raw_string_content",
        "escape_sequence",
    }
)
_MAX_STEPS = 64
_MAX_SIGNATURE = 200
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Symbol:
    """Something a file defines or declares."""

    name: str
    """As written: `Foo::bar` for a method defined outside its class."""
    kind: Kind
    line: int
    """First line, from 1."""
    end_line: int
    """Last line."""
    signature: str
    """What is before the body, on one line."""
    start: int
    """First byte."""
    end: int
    """Byte after the last."""
    container: str = ""
    """Name of what it is defined in."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place where a name is."""

    line: int
    """From 1."""
    use: Use
    inside: str = ""
    """Name of the function around it."""


class Outline:
    """The symbols of one file, in order."""

    def __init__(self, data: bytes, language: LanguageName, tree: Tree | None = None) -> None:
        """Prepare the symbols of a file; `data` is UTF-8."""
        self._data = data
        self._language = language
        self._root = (tree or parse(data, language)).root_node
        self.symbols = _symbols(self._root, language, data)

    def named(self, name: str) -> list[Symbol]:
        """Symbols of this name; the last part of a qualified name counts."""
        return [s for s in self.symbols if s.name == name or s.name.endswith("::" + name)]

    def around(self, line: int) -> Symbol | None:
        """Return the innermost function around a line; outside of one the innermost type or
        module.
        """
        found = [s for s in self.symbols if s.line <= line <= s.end_line and s.kind in _SCOPES]
        functions = [symbol for symbol in found if symbol.kind == "function"]
        return max(functions or found, key=lambda s: (s.line, -s.end_line), default=None)

    def occurrences(self, name: str, most: int = 1000) -> list[Occurrence]:
        """Return where `name` occurs as a word: in code, macros, comments and strings."""
        wanted = name.rpartition("::")[2].encode()
        if not wanted:
            return []
        lines = _line_starts(self._data)
        functions = [s for s in self.symbols if s.kind == "function"]
        starts = [s.start for s in functions]
        found: list[Occurrence] = []
        for match in re.finditer(rb"(?<![\w])" + re.escape(wanted) + rb"(?![\w])", self._data):
            node = self._root.descendant_for_byte_range(match.start(), match.end())
            use = _use(node, match.start(), self._named_at)
            inside = _innermost(functions, starts, match.start())
            found.append(Occurrence(bisect_right(lines, match.start()), use, inside))
            if len(found) >= most:
                break
        return found

    def calls(self) -> list[tuple[str, int]]:
        """Return the name of each function and macro that is called, and the line, in order."""
        found: list[tuple[str, int]] = []
        waiting = [self._root]
        while waiting:
            node = waiting.pop()
            if name := invoked_name(node):
                found.append((name, node.start_point[0] + 1))
            waiting.extend(reversed(node.children))
        return found

    @functools.cached_property
    def _named_at(self) -> frozenset[int]:
        return frozenset(_name_start(s, self._data) for s in self.symbols)


_SCOPES = frozenset({"function", "struct", "class", "union", "enum", "trait", "impl", "module"})


def _symbols(root: Node, language: LanguageName, data: bytes) -> list[Symbol]:
    found: list[Symbol] = []
    for kind, nodes in captures(compile_query(language, _QUERIES[language]), root).items():
        for node in nodes:
            found.extend(_of(node, kind, language, data))
    found.sort(key=lambda s: (s.start, -s.end))
    return _nest(found)


def _of(node: Node, kind: str, language: LanguageName, data: bytes) -> Iterator[Symbol]:
    if language == "rust":
        name = _rust_name(node)
        if name:
            yield _symbol(node, name, kind, data)
    elif kind == "declared":
        yield from _declarations(node, data)
    elif kind == "type" and node.type == "type_definition":
        for declarator in node.children_by_field_name("declarator"):
            name_node, _ = _declarator(declarator)
            if name_node is not None:
                yield _symbol(node, text(name_node), kind, data)
    else:
        name_node = field(node, "name")
        if name_node is None:
            name_node, _ = _declarator(field(node, "declarator"))
        if name_node is not None:
            yield _symbol(node, text(name_node), kind, data)


def _declarations(node: Node, data: bytes) -> Iterator[Symbol]:
    for declarator in node.children_by_field_name("declarator"):
        name_node, is_function = _declarator(declarator)
        if name_node is not None:
            yield _symbol(node, text(name_node), "declaration" if is_function else "variable", data)


def _declarator(node: Node | None) -> tuple[Node | None, bool]:
    """Return the name inside a declarator, and whether it is that of a function."""
    is_function = False
    for _ in range(_MAX_STEPS):
        if node is None or node.type in _NAMES:
            return node, is_function
        pointer = node.type in ("parenthesized_declarator", "pointer_declarator")
        is_function = node.type == "function_declarator" or (is_function and not pointer)
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next(
                (c for c in node.named_children if "declarator" in c.type or c.type in _NAMES), None
            )
        node = inner
    return None, is_function


def _rust_name(node: Node) -> str:
    if node.type != "impl_item":
        return text(field(node, "name"))
    of, trait = text(field(node, "type")), text(field(node, "trait"))
    return f"{trait} for {of}" if trait else of


def _symbol(node: Node, name: str, kind: str, data: bytes) -> Symbol:
    body = field(node, "body")
    end = body.start_byte if body is not None else node.end_byte
    end = min(end, node.start_byte + 4 * _MAX_SIGNATURE)
    written = data[node.start_byte : end].decode("utf-8", "replace")
    signature = _SPACE.sub(" ", written).strip()
    if len(signature) > _MAX_SIGNATURE:
        signature = signature[: _MAX_SIGNATURE - 1] + "…"
    last = node.end_point[0] + (1 if node.end_point[1] or node.end_byte == node.start_byte else 0)
    return Symbol(
        name,
        kind,  # type: ignore[arg-type]
        node.start_point[0] + 1,
        max(last, node.start_point[0] + 1),
        signature,
        node.start_byte,
        node.end_byte,
    )


def _nest(symbols: list[Symbol]) -> list[Symbol]:
    """Return the symbols with what each is defined in."""
    found: list[Symbol] = []
    around: list[Symbol] = []
    for symbol in symbols:
        while around and around[-1].end <= symbol.start:
            around.pop()
        name = around[-1].name if around and around[-1].end >= symbol.end else ""
        found.append(
            Symbol(
                symbol.name,
                symbol.kind,
                symbol.line,
                symbol.end_line,
                symbol.signature,
                symbol.start,
                symbol.end,
                name,
            )
        )
        if symbol.kind in _SCOPES:
            around.append(symbol)
    return found


def _use(node: Node | None, at: int, names: frozenset[int]) -> Use:
    if node is None:
        return "use"
    if "comment" in node.type:
        return "comment"
    if node.type in _TEXTS:
        return "text"
    if node.type == "preproc_arg":
        return "macro"
    if at in names:
        return "definition"
    parent = node.parent
    while parent is not None and parent.type in (
        "field_expression",
        "scoped_identifier",
        "qualified_identifier",
        "generic_function",
    ):
        node, parent = parent, parent.parent
    if parent is not None:
        if parent.type == "call_expression" and parent.child_by_field_name("function") == node:
            return "call"
        if parent.type == "macro_invocation":
            return "call"
    return "use"


def _name_start(symbol: Symbol, data: bytes) -> int:
    """First byte of the last part of a symbol's name."""
    last = symbol.name.rpartition("::")[2].encode()
    found = re.compile(rb"(?<![\w])" + re.escape(last) + rb"(?![\w])").search(
        data, symbol.start, symbol.end
    )
    return found.start() if found is not None and last else -1


def _innermost(functions: list[Symbol], starts: list[int], at: int) -> str:
    index = bisect_right(starts, at) - 1
    for symbol in reversed(functions[max(0, index - _MAX_STEPS) : index + 1]):
        if at < symbol.end:
            return symbol.name
    return ""


def _line_starts(data: bytes) -> list[int]:
    starts = [0]
    at = data.find(b"\n")
    while at >= 0:
        starts.append(at + 1)
        at = data.find(b"\n", at + 1)
    return starts
