"""Which code of C and C++ few builds have: for other platforms, for debugging, or for systems that
lack what all have by now. What is wrong there matters less."""

from __future__ import annotations

import re

from jarvis_ls.codeintel.conditionals import is_compiled
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node

_DEBUGGING = re.compile(
    r"(?:\w*_)?(?:DEBUG|TRACE)(?:_\w*|\d*)|\w*DEBUG|(?:\w*_)?(?:UNIT|SELF)_?TESTS?"
)
_ASKED = re.compile(r"!?\s*(?:defined)?\s*\(?\s*(\w+)\s*\)?")
_ALTERNATIVES = frozenset({"preproc_else", "preproc_elif", "preproc_elifdef"})
_CONDITIONALS = frozenset({"preproc_if", "preproc_ifdef", *_ALTERNATIVES})


def rare_ranges(node: Node) -> list[tuple[int, int]]:
    """Return the bytes within a node that directives keep out of most builds."""
    found: list[tuple[int, int]] = []
    if b"#if" not in (node.text or b"").replace(b" ", b""):
        return found
    waiting = [node]
    while waiting:
        outer = waiting.pop()
        for child in outer.named_children:
            if outer.type in _CONDITIONALS and _is_rare_branch(outer, child):
                found.append((child.start_byte, child.end_byte))
            elif child.named_child_count:
                waiting.append(child)
    return found


def _is_rare_branch(directive: Node, child: Node) -> bool:
    """Return whether few builds have the branch of a directive that a child of it is in."""
    alternative = directive.child_by_field_name("alternative")
    compiled = is_compiled(directive)
    if alternative is not None and child == alternative:
        return compiled is True or asks_for_debugging(directive) is False
    return compiled is False or asks_for_debugging(directive) is True


def asks_for_debugging(directive: Node) -> bool | None:
    """Return whether a directive asks for a build for debugging or tests, or against one; None for
    neither."""
    if directive.type in ("preproc_ifdef", "preproc_elifdef"):
        name = text(directive.child_by_field_name("name"))
        missing = directive.children[0].type in ("#ifndef", "#elifndef")
    else:
        written = text(directive.child_by_field_name("condition")).strip()
        missing = written.startswith("!")
        asked = _ASKED.fullmatch(written)
        name = written if asked is None else asked[1]
    if name == "NDEBUG":
        return missing
    return None if _DEBUGGING.fullmatch(name) is None else not missing
