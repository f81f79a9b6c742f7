"""Lengths, sizes and counts in a function: which names mean them, and what memory they decide."""

from __future__ import annotations

import re

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.local.c.copy_sizes import READS, WRITES

LENGTH = re.compile(r"(?i)(?:^|_|[a-z])(?:len|length|size|count|left|remain\w*|avail\w*|bytes)\d?$")
"""The last word of what holds a length."""
_WORD = re.compile(r"[A-Za-z_]\w*")


def holds(function: Function, *words: bytes) -> bool:
    """Return whether the text of a function has any of `words`, as a cheap prefilter."""
    find, start, end = function.unit.source.data.find, function.start, function.end
    for word in words:  # noqa: SIM110 - asked of every function: a generator costs more
        if find(word, start, end) >= 0:
            return True
    return False


def last_name(node: Node | None) -> str:
    """Return the name of a variable or member; empty for anything else."""
    if node is None:
        return ""
    node = bare(node)
    if node.type == "identifier":
        return text(node)
    return text(field(node, "field")) if node.type == "field_expression" else ""


def is_length(node: Node | None) -> bool:
    """Return whether an expression is a variable or member that is named like a length."""
    return LENGTH.search(last_name(node)) is not None


def words_of(node: Node | None) -> set[str]:
    """Return the names in an expression."""
    return set(_WORD.findall(text(node)[:400]))


def is_given_on(node: Node) -> bool:
    """Return whether a number is an argument of a call or the value of a length."""
    user = use_of(node)
    if user is None:
        return False
    if user.type == "argument_list":
        return True
    if user.type == "init_declarator":
        return is_length(field(user, "declarator"))
    return (
        user.type == "assignment_expression"
        and operator_of(user) in ("=", "+=")
        and is_length(field(user, "left"))
    )


def sizes_memory(function: Function, names: set[str], start: int) -> bool:
    """Return whether one of the names decides, behind a byte, how much is copied, or where."""
    for call in function.calls:
        if call.node.start_byte < start:
            continue
        for table in (WRITES, READS):
            places = table[call.name][1] if call.name in table else ()
            if any(words_of(call.arg(place)) & names for place in places):
                return True
    return False
