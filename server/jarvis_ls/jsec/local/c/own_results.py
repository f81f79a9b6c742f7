"""Which functions of a file tell of failure by what they return, and where that is used unseen."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import WholeUnit
from jarvis_ls.jsec.local.guards import NULLS, null_checked

_INDEXES = re.compile(rb"\[ ?([A-Za-z_]\w*) ?\(")
"""A call at the begin of an index."""
_MOST = 60
"""Functions of a file whose results are examined."""


def null_on_failure(whole: WholeUnit) -> dict[str, Function]:
    """Return the functions of the file that end in `return NULL` behind a loop: they look for
    something and may not find it."""
    found = whole.mentioning(b"return NULL", b"return nullptr")
    return {
        function.name: function
        for function in found[:_MOST]
        if function.name.isidentifier() and _searches(function)
    }


def negative_on_failure(whole: WholeUnit) -> dict[str, Node]:
    """Return the functions of the file that return a negative constant somewhere and an index
    elsewhere: name to the negative `return`."""
    found = {}
    indexing = set(_INDEXES.findall(whole.unit.source.data))
    for function in whole.mentioning(b"return -1", b"return (-1)")[:_MOST] if indexing else ():
        if function.name.encode() not in indexing:
            continue
        values = [(node, _returned_value(node)) for node in function.nodes("return")]
        failing = [node for node, value in values if value is not None and _is_negative(value)]
        others = {text(value) for _, value in values if value is not None} - {"0", "-1", "(-1)"}
        if failing and others and function.name.isidentifier():
            found[function.name] = failing[0]
    return found


def calls_of(whole: WholeUnit, names: dict[str, Function] | dict[str, Node]) -> Iterator[Call]:
    """Yield the calls of these functions of the file, in order."""
    words = tuple(name.encode() for name in names)
    for function in whole.mentioning(*words) if words else ():
        for call in function.calls:
            if call.name in names and not call.is_method and function.name != call.name:
                yield call


def is_result_tested(call: Call) -> bool:
    """Return whether the function that makes a call compares its result with null."""
    if call.function is None:
        return False
    held = text(call.target) or text(call.node)
    return null_checked(call.function, held, call.node.start_byte)


def _searches(function: Function) -> bool:
    """Return whether the last statement of a function returns null, behind a loop that returns
    something else."""
    body = function.body
    last = body.named_children[-1] if body is not None and body.named_child_count else None
    if last is None or last.type != "return_statement" or text(_returned_value(last)) not in NULLS:
        return False
    loops = function.nodes("loop")
    return any(
        loop.start_byte <= node.start_byte < loop.end_byte
        and text(_returned_value(node)) not in NULLS
        for loop in loops[:8]
        for node in function.nodes("return")
    )


def _returned_value(node: Node) -> Node | None:
    value = next((child for child in node.named_children if child.type != "comment"), None)
    return None if value is None else bare(value)


def _is_negative(value: Node) -> bool:
    if value.type == "number_literal":
        return text(value).startswith("-")
    inner = field(value, "argument")
    return (
        value.type == "unary_expression"
        and operator_of(value) == "-"
        and inner is not None
        and inner.type == "number_literal"
    )
