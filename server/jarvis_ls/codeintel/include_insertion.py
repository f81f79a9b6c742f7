"""Where one more `#include` goes in a C or C++ file."""

from __future__ import annotations

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.top_level_items import CONDITIONALS

_CONDITIONAL = ("preproc_if", "preproc_ifdef")


def include_place(root: Node, data: bytes) -> tuple[int, str, str]:
    """Return the byte where a line `#include` can be inserted, and what is before and behind
    it.

    That is behind the last `#include` of those the file begins with, never inside of an `#if`
    other than the guard of a header; in a file that begins with none, behind its first
    directives, else in front of its first declaration and the comment that belongs to it.
    """
    include = directive = last_row = 0
    comments: list[Node] = []
    nodes = list(reversed(root.children))
    while nodes:
        node = nodes.pop()
        if node.type == "comment":
            if directive and node.start_point.row == last_row:  # it is behind the directive
                include = node.end_byte if include == directive else include
                directive = node.end_byte
            else:
                comments.append(node)
        elif node.type.startswith("preproc_") and not _holds_code(node):
            directive, last_row, comments = node.end_byte, node.end_point.row, []
            include = directive if node.type == "preproc_include" else include
        elif _is_guard(node):
            nodes, comments = list(reversed(_inside(node))), []
        else:
            return _behind(include or directive, data) or _before(node, comments, data)
    return _behind(include or directive, data) or (0, "", "\n")


def _behind(end: int, data: bytes) -> tuple[int, str, str] | None:
    """On the line behind a directive; None when there is no directive."""
    if not end:
        return None
    if data[end - 1 : end] == b"\n":
        return end, "", "\n"
    line_end = data.find(b"\n", end)
    if line_end < 0 or data[end:line_end].strip():
        return end, "\n", "\n"
    return line_end + 1, "", "\n"


def _before(node: Node, comments: list[Node], data: bytes) -> tuple[int, str, str]:
    """In front of a node and of the comments that are right above it."""
    for comment in reversed(comments):
        if node.start_point.row - comment.end_point.row > 1:
            break
        node = comment
    at = node.start_byte
    starts_line = data[max(0, at - 1) : at] in (b"", b"\n", b"\r")
    return at, "" if starts_line else "\n", "\n\n"


def _holds_code(node: Node) -> bool:
    """Return whether an `#if` or one of its branches holds more than directives and comments."""
    if node.type not in _CONDITIONAL:
        return False
    waiting = [node]
    while waiting:
        conditional = waiting.pop()
        for child in _inside(conditional):
            if child.type in CONDITIONALS:
                waiting.append(child)
            elif child.type != "comment" and not child.type.startswith("preproc_"):
                return True
    return False


def _is_guard(node: Node) -> bool:
    """Return whether an `#if` is the guard of a header: it defines what it asks for, at once."""
    if node.type not in _CONDITIONAL or node.child_by_field_name("alternative") is not None:
        return False
    asked = node.child_by_field_name("name") or node.child_by_field_name("condition")
    first = next((line for line in _inside(node) if line.type != "comment"), None)
    name = first.child_by_field_name("name") if first is not None else None
    if asked is None or first is None or first.type != "preproc_def" or name is None:
        return False
    written = (asked.text or b"").translate(None, b" ()")
    return written in (name.text, b"!defined" + (name.text or b""))


def _inside(node: Node) -> list[Node]:
    """Return the nodes between the condition of an `#if` and its end.

    The line end after the condition is a node in the grammar.
    """
    said = node.child_by_field_name("name") or node.child_by_field_name("condition")
    return [
        named_child
        for named_child in node.named_children
        if named_child != said and (named_child.text or b"").strip()
    ]
