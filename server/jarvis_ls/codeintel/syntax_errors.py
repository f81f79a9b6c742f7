"""Where a text breaks the grammar of its language."""

from __future__ import annotations

import ast
import json
import warnings
from dataclasses import dataclass

from jarvis_ls.codeintel.graph.languages import graph_language, parse_source
from jarvis_ls.codeintel.languages import language_of
from jarvis_ls.codeintel.parse import Node, parse
from jarvis_ls.core.toml import read_toml

MOST = 200
"""Errors that are looked for in one text."""
_LARGEST = 2_000_000
_MANY = 4_000


@dataclass(frozen=True, slots=True)
class SyntaxFault:
    """A place where the text cannot be read."""

    line: int
    """From 1."""
    what: str
    """What is there or missing, in few words."""


def syntax_errors(path: str, text: str) -> list[SyntaxFault] | None:
    """Return the errors of a text in order; None when its language is not read here.

    C, C++ and Rust are parsed as the analysis reads them; macros can make valid code look wrong,
    so compare with the text before an edit. Of Python, JSON and TOML the first error is reported,
    Go, Java, JavaScript and TypeScript are parsed as the symbol graph reads them.
    """
    data = text.encode("utf-8", "replace")
    if len(data) > _LARGEST:
        return None
    language = language_of(path, data)
    if language is not None:
        return _of_tree(parse(data, language).root_node, data)
    suffix = path.rpartition(".")[2]
    if suffix == "py":
        return _of_python(text)
    if suffix == "json":
        return _of_json(text)
    if suffix == "toml":
        return _of_toml(text)
    return _of_graph(path, data)


def _of_graph(path: str, data: bytes) -> list[SyntaxFault] | None:
    language = graph_language(path, data)
    tree = parse_source(data, language) if language is not None else None
    return _of_tree(tree.root_node, data) if tree is not None else None


def _of_tree(root: Node, data: bytes) -> list[SyntaxFault]:
    found: list[SyntaxFault] = []
    waiting: list[Node] = [root]
    seen = 0
    while waiting and len(found) < MOST and seen < _MANY:
        node = waiting.pop()
        seen += 1
        if node.is_missing:
            found.append(SyntaxFault(node.start_point[0] + 1, f"missing `{node.type}`"))
        elif node.is_error:
            found.append(SyntaxFault(node.start_point[0] + 1, _near(node, data)))
        elif node.has_error:
            waiting += [child for child in node.children if child.has_error or child.is_missing]
    return sorted(found, key=lambda fault: fault.line)


def _near(node: Node, data: bytes) -> str:
    written = data[node.start_byte : node.end_byte].decode("utf-8", "replace").strip()
    line = written.partition("\n")[0].strip()
    return f"cannot be read: `{line[:60]}`"


def _of_python(text: str) -> list[SyntaxFault]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except SyntaxError as error:
        return [SyntaxFault(error.lineno or 1, error.msg)]
    except (ValueError, RecursionError, MemoryError) as error:
        return [SyntaxFault(1, str(error))]
    return []


def _of_json(text: str) -> list[SyntaxFault]:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return [SyntaxFault(error.lineno, error.msg)]
    except (ValueError, RecursionError) as error:
        return [SyntaxFault(1, str(error))]
    return []


def _of_toml(text: str) -> list[SyntaxFault]:
    try:
        read_toml(text)
    except ValueError as error:
        return [SyntaxFault(getattr(error, "lineno", 1), str(error))]
    return []
