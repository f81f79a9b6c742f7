"""Local checks of values before a place in a Rust function.

They use the conditions, `match` values, loop ranges and assertions near the place in the tree of
one function, without the paths between them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import ancestors, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.local.rust.shapes import macro_name, macro_tokens
from jarvis_ls.jsec.local.rust.values import words_in

_WORD = re.compile(r"[A-Za-z_]\w*")
_COMPARES = re.compile(r"[<>]|==|!=|\.\.|contains|is_some|is_ok|let |checked|get\(|valid|check")
_NEAR = 48
_MAX_TEXT = 2000
_CHECKS = tuple(
    "assert assert_eq assert_ne debug_assert debug_assert_eq debug_assert_ne ensure "
    "require matches bail_if soft_assert".split()
)


@dataclass(frozen=True, slots=True)
class Test:
    """A condition, loop range or assertion."""

    start: int
    """First byte."""
    words: frozenset[str]
    """Identifiers in it."""
    written: str
    """Its text, cut at 2,000 characters."""
    is_debug: bool
    """Whether release builds leave it out."""
    compares: bool
    """Whether it is a comparison, range or pattern, not only a call that returns a `bool`."""


@once_per_function
def tests(function: Function) -> list[Test]:
    """Return the conditions, `match` values, loop ranges and assertions of a function in order."""
    found = [_test(node, "") for kind in ("if", "loop") for node in _parts(function, kind)]
    for node in function.nodes("loop"):
        pattern, value = field(node, "pattern"), field(node, "value")
        if pattern is not None and value is not None:
            found.append(_test(value, text(pattern)[:200] + " in ", compares=True))
    for node in function.nodes("match"):
        value = field(node, "value")
        if value is not None:
            found.append(_test(value, "", compares=True))
    for node in function.nodes("arm"):
        guard = field(field(node, "pattern"), "condition")
        if guard is not None:
            found.append(_test(guard, ""))
    for node in function.nodes("macro"):
        name, tokens = macro_name(node), macro_tokens(node)
        if tokens is not None and (name in _CHECKS or "assert" in name):
            compares = name.endswith(("_eq", "_ne"))
            found.append(_test(tokens, "", compares=compares, debug=name.startswith("debug_")))
    found.sort(key=lambda test: test.start)
    return found


def _parts(function: Function, kind: str) -> list[Node]:
    conditions = [field(node, "condition") for node in function.nodes(kind)]
    return [node for node in conditions if node is not None]


def _test(node: Node, before: str, *, compares: bool = False, debug: bool = False) -> Test:
    written = before + text(node)[:_MAX_TEXT]
    words = frozenset(_WORD.findall(written))
    return Test(
        node.start_byte, words, written, debug, compares or _COMPARES.search(written) is not None
    )


def tests_before(function: Function | None, at: int) -> list[Test]:
    """Return the nearest tests before byte `at`, at most 48."""
    if function is None:
        return []
    every = tests(function)
    index = bisect_left(every, at, key=lambda test: test.start)
    return every[max(0, index - _NEAR) : index]


def is_tested(function: Function | None, node: Node | None, at: int) -> bool:
    """Return whether a test before byte `at` (or a loop around it) compares a name in `node`.

    Assertions that release builds drop do not count.
    """
    words = words_in(node)
    return any(
        not test.is_debug and test.compares and words & test.words
        for test in tests_before(function, at)
    )


def is_null_tested(function: Function | None, name: str, at: int) -> bool:
    """Return whether pointer `name` is compared with null before byte `at`, or turned into an
    option (`as_ref`, `NonNull::new`).
    """
    if function is None:
        return False
    if any(
        name in test.words
        and (
            "null" in test.written
            or "as_ref" in test.words
            or "as_mut" in test.words
            or "NonNull" in test.words
        )
        for test in tests_before(function, at)
    ):
        return True
    for use in function.uses(name, 0, at)[:64]:
        parent = use.parent
        if parent is not None and parent.type == "field_expression":
            if text(field(parent, "field")) in ("is_null", "as_ref", "as_mut"):
                return True
        elif parent is not None and parent.type in ("arguments", "token_tree"):
            holder = parent.parent
            called = text(field(holder, "function") or field(holder, "macro"))
            if ("NonNull::new" in called and "unchecked" not in called) or "null" in called.lower():
                return True
    return False


def is_changed_between(function: Function, written: str, start: int, end: int) -> bool:
    """Return whether a variable or field is assigned, redeclared or mutably borrowed between two
    bytes; more than 64 places in between count as a change.
    """
    if written.isidentifier():
        uses = function.uses(written, start, end)
        return len(uses) > _MAX_PLACES or any(_changes(use) for use in uses)
    assigned = function.nodes("assign")
    first = bisect_left(assigned, start, key=lambda node: node.start_byte)
    for node in assigned[first : first + _MAX_PLACES]:
        if node.start_byte >= end:
            return False
        if text(field(node, "left")) == written:
            return True
    return len(assigned) - first > _MAX_PLACES


_MAX_PLACES = 64


def _changes(use: Node) -> bool:
    parent = use.parent
    if parent is None:
        return False
    if parent.type in ("assignment_expression", "compound_assignment_expr"):
        return field(parent, "left") == use
    if parent.type in ("let_declaration", "mut_pattern"):
        return field(parent, "value") != use
    return parent.type == "reference_expression" and any(
        child.type == "mutable_specifier" for child in parent.children
    )


def may_follow(first: Node, second: Node) -> bool:
    """Return whether control may flow from `first` to `second` later in the text.

    It may not when they are in different branches of an `if` or `match`, or when the block
    around `first`, up to their common ancestor, always leaves before its end.
    """
    shared = {outer.id for outer in ancestors(second)}
    below = first
    for outer in ancestors(first):
        if outer.id in shared:
            return not _excludes(outer, below, second)
        if outer.type in ("block", "match_arm") and _leaves_after(below):
            return False
        if outer.type in ("closure_expression", "function_item"):
            return False
        below = outer
    return True


_LEAVES = frozenset({"return_expression", "break_expression", "continue_expression"})


def _excludes(shared: Node, below: Node, second: Node) -> bool:
    """Return whether only one of two places below `shared` can run."""
    if shared.type == "match_block":
        return True
    if shared.type == "if_expression":
        condition = field(shared, "condition")
        return condition is None or below != condition
    if shared.type == "block":
        return _leaves_after(below, second.start_byte)
    return False


def _leaves_after(statement: Node, before: int | None = None) -> bool:
    """Return whether a statement from `statement` on, up to byte `before`, always leaves its
    block.
    """
    current: Node | None = statement
    for _ in range(64):
        if current is None or (before is not None and current.start_byte >= before):
            return False
        inner = current
        if current.type == "expression_statement" and current.named_child_count:
            inner = current.named_children[0]
        if inner.type in _LEAVES:
            return True
        if inner.type == "macro_invocation" and macro_name(inner) in (
            "panic",
            "unreachable",
            "todo",
            "unimplemented",
            "bail",
        ):
            return True
        current = current.next_named_sibling
    return False
