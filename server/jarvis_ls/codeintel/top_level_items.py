"""Cutting a file into top-level items, the unit of incremental work.

An item is one declaration, definition or directive. Containers that only group items
(`namespace`, `extern "C"`, `#if`, Rust `mod`, Rust macros around items) are opened, so that the
include guard of a header does not make one item of the whole file. What a check may say about an
item depends on the item's own text, its flags and the facts of the file: that is what makes
results reusable while the user types elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from jarvis_ls.codeintel.conditionals import is_compiled
from jarvis_ls.codeintel.languages import LanguageName
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.rare_code import asks_for_debugging
from jarvis_ls.codeintel.rust_macros import MAX_OPENED, wrapped_items
from jarvis_ls.codeintel.rust_tests import attribute_text, is_test_attribute
from jarvis_ls.codeintel.source import line_start

CONDITIONALS = frozenset(
    {"preproc_if", "preproc_ifdef", "preproc_elif", "preproc_elifdef", "preproc_else"}
)
"""Directives of C and their branches, which hold what the preprocessor may leave out."""

_CONTAINERS: dict[LanguageName, frozenset[str]] = {
    "c": CONDITIONALS | {"linkage_specification", "declaration_list"},
    "cpp": CONDITIONALS | {"linkage_specification", "declaration_list", "namespace_definition"},
    "rust": frozenset({"mod_item", "declaration_list"}),
}

_EXPORTED = frozenset({"function_definition", "declaration"})
_WORDS = re.compile(rb"(?:[A-Z][A-Z0-9_]*\s+)+")
_ALTERNATIVES = frozenset({"preproc_elif", "preproc_elifdef", "preproc_else"})
MOST_DECLARED = 50_000
"""Most declarations of a file that are analysed, and most names in one declaration."""
MOST_FUNCTIONS = 15_000
"""Most functions of a file that are analysed: each has a cost however short it is."""
_DEFINITIONS = frozenset({"function_definition", "function_item"})
_NAMING = frozenset({"declaration", "struct_specifier", "enum_specifier", "class_specifier"})
_MANY_CHILDREN = 10_000
_MACROS = frozenset({"preproc_def", "preproc_function_def"})
_RUST_PREFIX = frozenset({"attribute_item", "line_comment", "block_comment"})


@dataclass(slots=True, eq=False)
class Item:
    """One top-level item of a file."""

    node: Node
    """The item itself."""
    start: int
    """First byte, attributes and comments directly above a Rust item included."""
    end: int
    """Byte after the last."""
    in_test: bool = False
    """Whether it is in code that only tests run (Rust `#[cfg(test)]`, `#[test]`), or that is for
    debugging (`#ifdef DEBUG`)."""
    prefix: tuple[Node, ...] = ()
    """Attributes and comments directly above a Rust item."""
    stray: bool = False
    """Whether it declares nothing to others: an indented declaration at file scope of a C file
    with an error seems to be a local of a function that was torn open, and of the macros of one
    name behind `#if` and its `#elif` the first counts."""
    foreign: bool = False
    """Whether only other platforms compile it: what it declares counts when nothing else does."""


@dataclass(slots=True)
class _Opened:
    """A node whose children are gone through."""

    children: Iterator[Node]
    in_test: bool
    macros: int = 0
    """Calls of macros around it that were opened."""
    foreign: bool = False
    """Whether only other platforms compile its children."""
    alternative: bool = False
    """Whether only other platforms compile its `#else` or `#elif`."""
    in_test_otherwise: bool = False
    """Whether only tests run its `#else` or `#elif`."""


def items(
    root: Node,
    language: LanguageName,
    *,
    in_test: bool = False,
    left_out: list[Node] | None = None,
) -> Iterator[Item]:
    """Yield the items below `root` in order; what `#if 0` removes is left out.

    `in_test` says that all of the file is run by tests only. `left_out` gets the declarations
    that are not given for `MOST_DECLARED`, and the functions for `MOST_FUNCTIONS`.
    """
    declarations = functions = 0
    containers = _CONTAINERS[language]
    rust = language == "rust"
    in_test = in_test or (rust and _is_test_module(root))
    torn = not rust and root.has_error
    written = b""
    stack = [_Opened(_live_children(root), in_test)]
    prefix: list[Node] = []
    while stack:
        around = stack[-1]
        node = next(around.children, None)
        if node is None:
            stack.pop()
            prefix.clear()
            continue
        kind = node.type
        if rust and kind in _RUST_PREFIX:
            prefix.append(node)
            continue
        test = around.in_test or (bool(prefix) and _is_test(prefix))
        opened = node.child_by_field_name("body") if kind == "mod_item" else node
        if kind in containers and opened is not None and opened.named_child_count:
            test = test or (rust and (_is_test_module(node) or _is_test_module(opened)))
            foreign, alternative, other = around.foreign, False, test
            if kind in CONDITIONALS:
                if kind in _ALTERNATIVES:
                    foreign, test = around.alternative, around.in_test_otherwise
                compiled = is_compiled(node)
                foreign, alternative = foreign or compiled is False, foreign or compiled is True
                debugging = asks_for_debugging(node)
                other, test = test or debugging is False, test or debugging is True
            children = _live_children(opened)
            stack.append(_Opened(children, test, around.macros, foreign, alternative, other))
            prefix.clear()
            continue
        if kind == "macro_invocation" and around.macros < MAX_OPENED:
            if not written:
                written = b" " * root.start_byte + (root.text or b"")
            wrapped = wrapped_items(node, written)
            if wrapped is not None:
                stack.append(_Opened(iter(wrapped.children), test, around.macros + 1))
                prefix.clear()
                continue
        declarations += kind == "declaration"
        functions += kind in _DEFINITIONS
        if (
            (kind in _DEFINITIONS and functions > MOST_FUNCTIONS)
            or (kind == "declaration" and declarations > MOST_DECLARED)
            or (kind in _NAMING and _declares_too_many(node))
        ):
            if left_out is not None:
                left_out.append(node)
            prefix.clear()
            continue
        if node.is_named:
            start = prefix[0].start_byte if prefix else node.start_byte
            if kind in _EXPORTED and node.start_point.column > 0:
                if not written:
                    written = b" " * root.start_byte + (root.text or b"")
                start = _with_export(written, start)
            stray = (
                torn and kind == "declaration" and len(stack) == 1 and node.start_point.column > 0
            ) or (kind in _MACROS and _is_alternative(node))
            yield Item(node, start, node.end_byte, test, tuple(prefix), stray, around.foreign)
        prefix.clear()


def _declares_too_many(node: Node) -> bool:
    """Return whether a declaration, a record or an enumeration has more names than are analysed."""
    body = node if node.type == "declaration" else node.child_by_field_name("body")
    separated = 1 if body is not None and body.type == "field_declaration_list" else 2
    return body is not None and body.child_count > separated * MOST_DECLARED


def _with_export(data: bytes, start: int) -> int:
    """Return where a definition of C or C++ begins, with the macro in front of it that the parser
    is not given (`LIB_API int f(void)`)."""
    line = line_start(data, start)
    return line if _WORDS.fullmatch(data, line, start) else start


def is_dead_branch(node: Node) -> bool:
    """Return whether `node` is an `#if 0` or `#elif 0`, whose own branch (not its `#else`) is never
    compiled."""
    if node.type not in ("preproc_if", "preproc_elif"):
        return False
    condition = node.child_by_field_name("condition")
    return condition is not None and condition.text == b"0"


def dead_range(node: Node) -> tuple[int, int]:
    """Return the bytes that an `#if 0` removes: all but its `#else`."""
    alternative = node.child_by_field_name("alternative")
    return node.start_byte, alternative.start_byte if alternative is not None else node.end_byte


def _live_children(node: Node) -> Iterator[Node]:
    """Yield the children that are compiled, but for empty statements; a million of them are never
    there at once."""
    if is_dead_branch(node):
        alternative = node.child_by_field_name("alternative")
        if alternative is not None:
            yield alternative
    elif node.child_count < _MANY_CHILDREN:
        yield from node.children
    else:
        cursor = node.walk()
        more = cursor.goto_first_child()
        while more:
            child = cursor.node
            if child is not None and child.end_byte - child.start_byte > 1:
                yield child
            more = cursor.goto_next_sibling()


def _is_alternative(node: Node) -> bool:
    """Return whether an earlier branch of the same `#if ... #elif`, which this platform may
    compile, defines a macro of the same name.
    """
    name, branch = node.child_by_field_name("name"), node.parent
    written = name.text if name is not None else None
    while branch is not None and branch.type in ("preproc_elif", "preproc_else"):
        before = branch.parent
        chained = branch.type == "preproc_elif" or (
            before is not None and before.type == "preproc_elif"
        )
        if before is None or not chained:
            return False
        for child in before.named_children if is_compiled(before) is not False else ():
            known = child.child_by_field_name("name") if child.type in _MACROS else None
            if known is not None and known.text == written:
                return True
        branch = before
    return False


def _is_test(prefix: list[Node]) -> bool:
    for node in prefix:
        if "attribute_item" not in node.type:
            continue
        written = (node.text or b"").decode("utf-8", "replace")
        if is_test_attribute(attribute_text(written)):
            return True
    return False


def _is_test_module(node: Node) -> bool:
    """Return a module named for its tests, or a module or file that opens with `#![cfg(test)]`."""
    name = node.child_by_field_name("name")
    if name is not None:
        return name.text in (b"tests", b"test")
    first: Node | None = node.named_child(0) if node.named_child_count else None
    for _ in range(64):
        if first is None or first.type not in (*_RUST_PREFIX, "inner_attribute_item"):
            return False
        if first.type == "inner_attribute_item" and _is_test([first]):
            return True
        first = first.next_named_sibling
    return False
