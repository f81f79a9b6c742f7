"""Read what one file defines, uses and imports.

Definitions and imports are found by the queries of `queries/`, as tree-sitter's own tags are. Names
that are used are the words of the text outside of comments and strings: so those in macros, and in
code that a grammar does not understand, are found as well. A plain name that a function has given a
parameter or variable of its own is none of the workspace's symbols, and is left out.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import tree_sitter

from jarvis_ls.codeintel.graph.exported import is_exported, is_test_code
from jarvis_ls.codeintel.graph.languages import (
    GraphLanguage,
    graph_language,
    graph_queries,
    keywords,
    parse_source,
)
from jarvis_ls.codeintel.graph.records import (
    Definition,
    FileSymbols,
    Import,
    Kind,
    Place,
    Use,
)
from jarvis_ls.codeintel.graph.test_paths import is_test_file
from jarvis_ls.codeintel.parse import MAX_DEPTH

LARGEST = 2_000_000
"""Bytes of a file that is read; larger ones are data or made by a program."""
_WORD = re.compile(rb"(?<![\w$\x80-\xff])[A-Za-z_$\x80-\xff][\w$\x80-\xff]*")
_SPACE = re.compile(r"\s+")
_LONGEST_SIGNATURE = 240
_LONGEST_NAME = 200
_MOST_STEPS = 16
"""Declarators around a name that are looked through."""
_KINDS = {
    "function": Kind.FUNCTION,
    "class": Kind.CLASS,
    "type": Kind.TYPE,
    "variable": Kind.VARIABLE,
    "constant": Kind.CONSTANT,
    "macro": Kind.MACRO,
    "prototype": Kind.PROTOTYPE,
    "namespace": Kind.NAMESPACE,
    "implementation": Kind.IMPLEMENTATION,
}
_CLASSES = frozenset({Kind.CLASS, Kind.IMPLEMENTATION})
_WRAPPERS = frozenset({"decorated_definition", "export_statement", "template_declaration"})
"""Nodes around a definition that are part of it."""
_NAMES = frozenset(
    "identifier type_identifier field_identifier operator_name destructor_name "
    "template_function qualified_identifier operator_cast primitive_type".split()
)


@dataclass(slots=True)
class _Found:
    """A definition before it is known what is around it."""

    name: str
    kind: Kind
    node: tree_sitter.Node
    start: int
    body: int
    container: str
    at: int


@dataclass(frozen=True, slots=True)
class Code:
    """A file as it is compared with another state of itself."""

    symbols: FileSymbols
    """What it defines and uses."""
    text: bytes
    """Its bytes, with comments made blank."""


def read_symbols(path: str, data: bytes) -> FileSymbols | None:
    """Return what a file defines, uses and imports.

    `path` is below the workspace, with forward slashes. None for a file that is in no language of
    the graph, holds NUL, or is too large.
    """
    code = read_code(path, data)
    return code.symbols if code is not None else None


def read_code(path: str, data: bytes) -> Code | None:
    """Return the same, with the text that is left without comments."""
    language = graph_language(path, data)
    if language is None or len(data) > LARGEST or b"\0" in data[:8192]:
        return None
    in_tests = is_test_file(path)
    tree = parse_source(data, language)
    if tree is None:
        return Code(FileSymbols(language, in_tests, is_whole=False), data)
    definitions_query, words_query = graph_queries(language)
    found, imports, aliases = _definitions(definitions_query, tree.root_node, data)
    cursor = tree_sitter.QueryCursor(words_query)
    cursor.set_max_start_depth(MAX_DEPTH)
    parts = cursor.captures(tree.root_node)
    code = _without(data, parts.get("comment", ()))
    definitions, hidden = _nest(found, code, language, in_tests)
    text = _without(data, parts.get("skip", ()))
    reader = _Words(text, definitions, keywords(language), aliases)
    reader.importing(parts.get("import", ()))
    if not (in_tests and language == "python"):  # parameters of tests there are names of fixtures
        reader.leave_out([*parts.get("local", ()), *hidden])
    symbols = FileSymbols(language, in_tests, definitions, reader.read(), imports)
    return Code(symbols, code)


def _definitions(
    query: tree_sitter.Query, root: tree_sitter.Node, data: bytes
) -> tuple[list[_Found], tuple[Import, ...], dict[bytes, str]]:
    """Return the definitions in no order, the imports, and names by what a file calls them."""
    cursor = tree_sitter.QueryCursor(query)
    cursor.set_max_start_depth(MAX_DEPTH)
    found: list[_Found] = []
    imports: dict[Import, None] = {}
    aliases: dict[bytes, str] = {}
    for _, match in cursor.matches(root):
        item = _text(match["item"][0], data) if "item" in match else ""
        if "module" in match:
            imports[Import(_text(match["module"][0], data).strip("\"'`<>"), item)] = None
        if "alias" in match and item:
            alias = match["alias"][0]
            aliases[data[alias.start_byte : alias.end_byte]] = item
        kind = next((kind for kind in match if kind in _KINDS), None)
        if kind is None:
            continue
        node = match[kind][0]
        body = match["body"][0].start_byte if "body" in match else node.end_byte
        container = _text(match["container"][0], data) if "container" in match else ""
        name = match["name"][0] if "name" in match else None
        sort = _KINDS[kind]
        if name is None:
            declarator = match["declarator"][0] if "declarator" in match else None
            name, is_function = _find_declared(declarator or node.child_by_field_name("declarator"))
            if sort is Kind.VARIABLE and is_function:
                sort = Kind.PROTOTYPE
        if name is None:
            continue
        scope, _, last = _text(name, data).rpartition("::")
        if scope:
            container = scope.replace("::", ".")
        if last and len(last) <= _LONGEST_NAME:
            at = name.end_byte - len(last.encode("utf-8", "surrogateescape"))
            outside = node.parent
            start = node.start_byte
            if outside is not None and outside.type in _WRAPPERS:
                start = outside.start_byte
            found.append(_Found(last, sort, node, start, body, container, at))
    named = {item.at for item in found if item.kind in (Kind.FUNCTION, Kind.CLASS)}
    found = [item for item in found if item.kind is not Kind.VARIABLE or item.at not in named]
    return found, tuple(imports), aliases


def _find_declared(node: tree_sitter.Node | None) -> tuple[tree_sitter.Node | None, bool]:
    """Return the name inside a declarator of C or C++, and whether it is that of a function."""
    is_function = False
    for _ in range(_MOST_STEPS):
        if node is None or node.type in _NAMES:
            return node, is_function
        is_function = node.type == "function_declarator"
        inner = node.child_by_field_name("declarator")
        if inner is None:
            inner = next(
                (c for c in node.named_children if "declarator" in c.type or c.type in _NAMES), None
            )
        node = inner
    return None, False


def _nest(
    found: list[_Found], data: bytes, language: GraphLanguage, in_tests: bool
) -> tuple[tuple[Definition, ...], list[tuple[int, int]]]:
    """Return the definitions that are not inside a function, each with what is around it, and the
    names and places of those inside: what a function has for itself.
    """
    lines = line_starts(data)
    nested: list[Definition] = []
    hidden: list[tuple[int, int]] = []
    around: list[Definition] = []
    seen: set[tuple[int, str]] = set()
    for item in sorted(found, key=lambda f: (f.start, -f.node.end_byte, f.kind)):
        start, end = item.start, item.node.end_byte
        while around and around[-1].end <= start:
            around.pop()
        if (item.at, item.name) in seen:
            continue
        seen.add((item.at, item.name))
        if any(outer.kind in (Kind.FUNCTION, Kind.METHOD) for outer in around):
            hidden.append((item.at, item.at + len(item.name.encode())))
            continue
        kind, outer = item.kind, around[-1] if around else None
        in_class = (outer is not None and outer.kind in _CLASSES) or bool(item.container)
        if kind is Kind.FUNCTION and in_class:
            kind = Kind.METHOD
        names = [outer.qualified] if outer is not None else []
        names += [item.container] if item.container else []
        signature = _one_line(data[start : min(item.body, start + 4 * _LONGEST_SIGNATURE)])
        first = bisect_right(lines, start)
        definition = Definition(
            item.name,
            kind,
            first,
            max(first, bisect_right(lines, max(start, end - 1))),
            signature,
            ".".join(names),
            is_exported(item.name, kind, signature, outer, item.node, language),
            in_tests or is_test_code(item.node, outer, signature, language, data),
            start,
            end,
            max(start, item.body),
            item.at,
        )
        nested.append(definition)
        around.append(definition)
    return tuple(nested), hidden


def _one_line(written: bytes) -> str:
    text = _SPACE.sub(" ", written.decode("utf-8", "replace")).strip()
    return text if len(text) <= _LONGEST_SIGNATURE else text[: _LONGEST_SIGNATURE - 1] + "…"


def _without(data: bytes, nodes: Sequence[tree_sitter.Node]) -> bytes:
    """Return a text with nodes made blank."""
    text = bytearray(data)
    for node in nodes:
        start, end = node.start_byte, node.end_byte
        text[start:end] = b" " * (end - start)
    return bytes(text)


def _text(node: tree_sitter.Node, data: bytes) -> str:
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def line_starts(data: bytes) -> list[int]:
    """Return the first byte of each line."""
    return [0, *(match.end() for match in re.finditer(rb"\n", data))]


class _Words:
    """Reads the names that a text uses."""

    def __init__(
        self,
        text: bytes,
        definitions: Sequence[Definition],
        keywords: frozenset[bytes],
        aliases: dict[bytes, str],
    ) -> None:
        self._text = text
        self._keywords = keywords
        self._aliases = aliases
        self._lines = line_starts(text)
        self._bounds, self._scopes = _segments(definitions)
        self._own: dict[int, set[bytes]] = {}
        self._imports: list[tuple[int, int]] = []
        self._functions = {
            number
            for number, definition in enumerate(definitions)
            if definition.kind in (Kind.FUNCTION, Kind.METHOD, Kind.MACRO)
        }
        self._names_at = frozenset(definition.at for definition in definitions)

    def importing(self, nodes: Sequence[tree_sitter.Node]) -> None:
        """Tell the statements that import."""
        self._imports = sorted((node.start_byte, node.end_byte) for node in nodes)

    def leave_out(self, names: Sequence[tree_sitter.Node | tuple[int, int]]) -> None:
        """Leave out plain uses of names that are a function's own, below that function."""
        for name in names:
            start, end = name if isinstance(name, tuple) else (name.start_byte, name.end_byte)
            scope = self._scope_at(start)
            if scope in self._functions:
                self._own.setdefault(scope, set()).add(self._text[start:end])

    def read(self) -> dict[str, list[Place]]:
        """Return where each name is used."""
        places: dict[bytes, list[Place]] = {}
        imports = iter([*self._imports, (len(self._text) + 1, 0)])
        first, last = next(imports)
        for word, start, end in self._words():
            if start in self._names_at:
                continue
            while last and start >= last:
                first, last = next(imports)
            use = _use(self._text, start, end) if start < first else Use.IMPORT
            scope = self._scope_at(start)
            if use <= Use.NAME and word in self._own.get(scope, ()):
                continue
            line = bisect_right(self._lines, start)
            places.setdefault(word, []).append(Place(scope, use, line))
        found: dict[str, list[Place]] = {}
        for word, at in places.items():
            found.setdefault(word.decode("utf-8", "replace"), []).extend(at)
            if word in self._aliases:
                found.setdefault(self._aliases[word], []).extend(at)
        return found

    def _words(self) -> Iterator[tuple[bytes, int, int]]:
        for match in _WORD.finditer(self._text):
            word = match.group()
            if word not in self._keywords and len(word) <= _LONGEST_NAME:
                yield word, match.start(), match.end()

    def _scope_at(self, offset: int) -> int:
        return self._scopes[bisect_right(self._bounds, offset)]


_OWN = (b"self.", b"this.", b"this->", b"Self::", b"self::", b"cls.")


def _use(text: bytes, start: int, end: int) -> Use:
    before, behind = text[max(0, start - 2) : start], text[end : end + 2]
    is_call = behind[:1] == b"(" or behind in (b" (", b"!(", b"![", b"! ")
    is_member = before in (b"->", b"::") or (before[-1:] == b"." and before != b"..")
    if is_member and text.endswith(_OWN, max(0, start - 6), start):
        return Use.OWN
    if is_member:
        return Use.MEMBER_CALL if is_call else Use.MEMBER
    return Use.CALL if is_call else Use.NAME


def _segments(definitions: Sequence[Definition]) -> tuple[list[int], list[int]]:
    """Return offsets in order, and the definition that is innermost before the first, between each
    two, and behind the last; -1 for none.
    """
    bounds: list[int] = []
    scopes = [-1]
    around: list[tuple[int, int]] = []

    def close(until: int) -> None:
        while around and around[-1][0] <= until:
            end, _ = around.pop()
            bounds.append(end)
            scopes.append(around[-1][1] if around else -1)

    for number, definition in enumerate(definitions):
        close(definition.start)
        end = min(definition.end, around[-1][0]) if around else definition.end
        bounds.append(definition.start)
        scopes.append(number)
        around.append((end, number))
    close(1 << 62)
    return bounds, scopes
