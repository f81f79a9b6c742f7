"""Which definitions code elsewhere may use, and which are tests, by the rules of each language."""

from __future__ import annotations

import re

import tree_sitter

from jarvis_ls.codeintel.graph.languages import GraphLanguage
from jarvis_ls.codeintel.graph.records import Definition, Kind

_STATIC = re.compile(r"(?:^|\s)static\b")
_PUBLIC = re.compile(r"(?:^|\s)(?:public|protected)\b")
_PUB = re.compile(r"(?:^|\s)pub\b")
_JAVA_TEST = re.compile(r"@(?:\w+\.)*(?:Parameterized|Repeated)?Test\b")
_RUST_TEST = re.compile(rb"#\[(?:\w+::)*(?:test|rstest|bench|cfg\(test\)|cfg\(all\(test)")
_MOST_ATTRIBUTES = 16


def is_exported(
    name: str,
    kind: Kind,
    signature: str,
    outer: Definition | None,
    node: tree_sitter.Node,
    language: GraphLanguage,
) -> bool:
    """Return whether code outside may use a definition; `outer` is what it is in."""
    if outer is not None and not outer.is_exported and outer.kind is not Kind.IMPLEMENTATION:
        return False
    match language:
        case "c" | "cpp":
            in_class = outer is not None and outer.kind is Kind.CLASS
            return in_class or _STATIC.search(signature.partition("(")[0]) is None
        case "python":
            return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))
        case "go":
            return name[:1].isupper()
        case "rust":
            in_trait = outer is not None and (
                outer.signature.startswith(("pub trait", "trait")) or " for " in outer.signature
            )
            return kind is Kind.IMPLEMENTATION or in_trait or _PUB.search(signature) is not None
        case "java":
            in_interface = outer is not None and "interface " in outer.signature
            return in_interface or _PUBLIC.search(signature.partition("(")[0]) is not None
        case _:
            if outer is not None:
                return not name.startswith("#") and "private " not in signature
            return _is_exported_script(node)


def is_test_code(
    node: tree_sitter.Node,
    outer: Definition | None,
    signature: str,
    language: GraphLanguage,
    data: bytes,
) -> bool:
    """Return whether a definition outside of the files of tests is a test, or is only for tests."""
    if outer is not None and outer.is_test:
        return True
    if language == "java":
        return _JAVA_TEST.search(signature) is not None
    if language != "rust":
        return False
    before = node.prev_sibling
    for _ in range(_MOST_ATTRIBUTES):
        if before is None or before.type not in ("attribute_item", "line_comment"):
            return False
        if _RUST_TEST.match(data, before.start_byte):
            return True
        before = before.prev_sibling
    return False


def _is_exported_script(node: tree_sitter.Node) -> bool:
    """Return whether a definition of JavaScript is exported where it is; one that the end of a file
    exports by name counts as well, as nobody can tell who loads a script."""
    return node.type != "pair"
