"""What was tested before a place in a Rust function.

Like `guards`, these look at the tree of one function only. They answer from conditions, `match`
values, loop ranges and assertions near the place, not about every path to it.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from dataclasses import dataclass

from jarvis_ls.codeintel.code import Function, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.rust_shapes import macro_name, macro_tokens
from jarvis_ls.jsec.rust_values import words_in

_WORD = re.compile(r"[A-Za-z_]\w*")
_COMPARES = re.compile(r"[<>]|==|!=|\.\.|contains|is_some|is_ok|let |checked|get\(|valid|check")
_NEAR = 48
_MAX_TEXT = 2000
_CHECKS = ("assert", "assert_eq", "assert_ne", "debug_assert", "debug_assert_eq",
           "debug_assert_ne", "ensure", "require", "matches", "bail_if", "soft_assert")  # fmt: skip


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
    """Only looked at in debug builds."""
    compares: bool
    """Holds a comparison, a range or a pattern, not only a call that answers yes or no."""


@functools.lru_cache(maxsize=8)
def tests(function: Function) -> list[Test]:
    """All conditions, `match` values, loop ranges and assertions of a function in order."""
    nodes: list[tuple[Node, bool, bool]] = []
    for kind in ("if", "loop"):
        for node in function.nodes(kind):
            for name in ("condition", "pattern", "value"):
                part = field(node, name)
                if part is not None:
                    nodes.append((part, False, False))
    for node in function.nodes("match"):
        part = field(node, "value")
        if part is not None:
            nodes.append((part, False, True))
    for node in function.nodes("arm"):
        part = field(field(node, "pattern"), "condition")
        if part is not None:
            nodes.append((part, False, False))
    for node in function.nodes("macro"):
        name, tokens = macro_name(node), macro_tokens(node)
        if tokens is not None and (name in _CHECKS or "assert" in name):
            nodes.append((tokens, name.startswith("debug_"), name.endswith(("_eq", "_ne"))))
    found = []
    for node, debug, matched in nodes:
        written = text(node)[:_MAX_TEXT]
        words = frozenset(_WORD.findall(written))
        compares = matched or _COMPARES.search(written) is not None
        found.append(Test(node.start_byte, words, written, debug, compares))
    found.sort(key=lambda test: test.start)
    return found


def tests_before(function: Function | None, at: int) -> list[Test]:
    """The nearest tests that stand before byte `at`, at most 48."""
    if function is None:
        return []
    every = tests(function)
    index = bisect_left(every, at, key=lambda test: test.start)
    return every[max(0, index - _NEAR) : index]


def tested(function: Function | None, node: Node | None, at: int) -> bool:
    """Whether a test before byte `at` (or a loop around it) compares what `node` is made of.

    Assertions that release builds drop do not count.
    """
    words = words_in(node)
    return any(
        not test.is_debug and test.compares and words & test.words
        for test in tests_before(function, at)
    )


def null_tested(function: Function | None, name: str, at: int) -> bool:
    """Whether pointer `name` is compared with null before byte `at`, or turned into an option
    (`as_ref`, `NonNull::new`)."""
    if function is None:
        return False
    if any(
        name in test.words
        and ("null" in test.written or "as_ref" in test.words or "as_mut" in test.words
             or "NonNull" in test.words)
        for test in tests_before(function, at)
    ):  # fmt: skip
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
