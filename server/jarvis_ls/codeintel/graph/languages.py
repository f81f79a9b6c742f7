"""The languages of the symbol graph: names of files, grammars, queries and keywords."""

from __future__ import annotations

import functools
import importlib
import time
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path, PurePath
from typing import Literal, cast

import tree_sitter

from jarvis_ls.codeintel.deep_nesting import DEEPEST
from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.parse import parse

GraphLanguage = Literal[
    "c", "cpp", "go", "java", "javascript", "python", "rust", "tsx", "typescript"
]

_BY_SUFFIX: dict[str, GraphLanguage] = {
    ".py": "python",
    ".pyi": "python",
    ".go": "go",
    ".java": "java",
    ".js": "javascript",
    ".jsx": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "tsx",
}
_GRAMMARS: dict[GraphLanguage, tuple[str, str]] = {
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "go": ("tree_sitter_go", "language"),
    "java": ("tree_sitter_java", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "python": ("tree_sitter_python", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
}
"""Module of each grammar and its function; all but those of C, C++ and Rust come with the extra
`agent`."""
_FAMILIES: dict[GraphLanguage, str] = {
    "cpp": "c",
    "javascript": "script",
    "tsx": "script",
    "typescript": "script",
}
_QUERIES = Path(__file__).resolve().parent / "queries"
_WORDS = ";; words"
"""The line of a query file behind which is what words are read by."""


def graph_language(path: str, data: bytes = b"") -> GraphLanguage | None:
    """Return the language of a file by its name, and of a C header by the start of its text.

    None for a file that the graph does not read.
    """
    return _BY_SUFFIX.get(PurePath(path).suffix.lower()) or language_of(path, data)


def family_of(language: GraphLanguage) -> str:
    """Return what languages share whose code uses each other's names directly."""
    return _FAMILIES.get(language, language)


@functools.cache
def graph_grammar(language: GraphLanguage) -> tree_sitter.Language:
    """Return a grammar, loaded on first use. Raises `ImportError` where its package is missing."""
    module, name = _GRAMMARS[language]
    load = cast("Callable[[], object]", getattr(importlib.import_module(module), name))
    return tree_sitter.Language(load())


@functools.cache
def keywords(language: GraphLanguage) -> frozenset[bytes]:
    """Return the words that are part of a language's grammar."""
    grammar = graph_grammar(language)
    kinds = (
        grammar.node_kind_for_id(number)
        for number in range(grammar.node_kind_count)
        if not grammar.node_kind_is_named(number)
    )
    return frozenset(kind.encode() for kind in kinds if kind and kind.isidentifier()) | _BUILT_IN


_OTHERS = bytes(byte for byte in range(256) if byte not in b"()[]{}")
_BUILT_IN = frozenset(
    b"self this super true false null nil None True False "
    b"define defined undef ifdef ifndef elif endif include pragma".split()
)
"""Words that every language or most of them have for a value, and that name no symbol."""


@functools.cache
def graph_queries(language: GraphLanguage) -> tuple[tree_sitter.Query, tree_sitter.Query]:
    """Return the query for definitions and imports, and the one for the parts words are in."""
    file = "typescript" if language == "tsx" else language
    text = (_QUERIES / f"{file}.scm").read_text(encoding="utf-8")
    definitions, _, words = text.partition(_WORDS)
    grammar = graph_grammar(language)
    return tree_sitter.Query(grammar, definitions), tree_sitter.Query(grammar, words)


def parse_source(data: bytes, language: GraphLanguage) -> tree_sitter.Tree | None:
    """Return the syntax tree of UTF-8 text; None for what nobody writes and a parser or its queries
    would take long for: nesting thousands deep, comments that are opened and opened, and what takes
    more than `_SECONDS`.
    """
    if language in ("c", "cpp", "rust"):
        tree: tree_sitter.Tree | None = parse(data, language)
    elif _is_hostile(data):
        return None
    else:
        tree = _parse_in_time(data, language)
    is_read = tree is not None and not _is_deep(tree.root_node) and not _is_torn(tree.root_node)
    return tree if is_read else None


def _is_hostile(data: bytes) -> bool:
    brackets = data.translate(None, _OTHERS)
    steps = (1 if byte in b"([{" else -1 for byte in brackets)
    if len(brackets) > DEEPEST and max(accumulate(steps)) > DEEPEST:
        return True
    return data.count(b"/*", data.rfind(b"*/") + 1) > _MOST_OPENED


def _parse_in_time(data: bytes, language: GraphLanguage) -> tree_sitter.Tree | None:
    parser = _parser(language)
    end = time.process_time() + _SECONDS
    try:
        return parser.parse(  # only what is read in parts can be stopped
            lambda offset, _: data[offset : offset + _PART],
            progress_callback=lambda *_: time.process_time() > end,
        )
    except ValueError:
        parser.reset()
        return None


def _is_deep(root: tree_sitter.Node) -> bool:
    """Return whether a tree has more than `_DEEPEST_NODE` levels, by a sample of its nodes."""
    count = root.descendant_count
    if count < _DEEPEST_NODE:
        return False
    cursor = root.walk()
    for index in range(0, count, max(1, count // 64)):
        cursor.goto_descendant(index)
        if cursor.depth > _DEEPEST_NODE:
            return True
    return False


def _is_torn(root: tree_sitter.Node) -> bool:
    """Return whether an error holds thousands of parts side by side: a query takes time that grows
    with the square of their number, and there is nothing to find."""
    if not root.has_error:
        return False
    nodes = [root] if root.is_error else [root, *root.children]
    return any(node.is_error and node.child_count > _DEEPEST_NODE for node in nodes)


_SECONDS = 3.0
"""Of processor time that the parser may take for a file."""
_PART = 1 << 16
_MOST_OPENED = 300
_DEEPEST_NODE = 5_000


@functools.cache
def _parser(language: GraphLanguage) -> tree_sitter.Parser:
    return tree_sitter.Parser(graph_grammar(language))
