"""What the comparisons around a place say about a number.

A comparison counts where it decides: inside the branch or loop it guards it holds as written,
in the `else` and behind a guarded branch that leaves (or that sets the number) its opposite
holds. Nothing is said of comparisons elsewhere.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.local.constants import constant
from jarvis_ls.jsec.local.guards import leaves

_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_WORD = re.compile(r"[A-Za-z_]\w*")
_NO_NAMES = frozenset(
    "strlen wcslen sizeof abs labs unsigned int size_t long char short sqrt double".split()
)
_MAX_SIDE = 200
_MAX_COMPARISONS = 24


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a number at a place."""

    lower: bool = False
    """Something says it is not less than some value."""
    upper: bool = False
    """Something says it is not more than some value."""
    low: int | None = None
    """The lower limit, when it is a constant."""
    high: int | None = None
    """The upper limit, when it is a constant."""
    excluded: frozenset[int] = frozenset()
    """Constants it is known not to be."""


@dataclass(frozen=True, slots=True)
class _Comparison:
    at: int
    relation: str
    side: Node
    other: Node
    exact: bool
    condition: tuple[int, int]
    owner: Node
    body: tuple[int, int]
    leaves: bool


def bounds(function: Function, expression: str, at: int, since: int = 0) -> Bounds:
    """Return the bounds that comparisons between bytes `since` and `at` give `expression` (a name
    or a field; a comparison of something computed from it counts too)."""
    words = _WORD.findall(expression)
    if not words:
        return Bounds()
    known = _comparisons(function).get(words[-1], [])
    last = bisect_right(known, at, key=lambda c: c.at)
    lower = upper = False
    lows: list[int] = []
    highs: list[int] = []
    excluded: set[int] = set()
    for comparison in known[max(0, last - _MAX_COMPARISONS) : last]:
        relation = _relation_at(function, comparison, words[-1], at)
        if comparison.at < since or relation is None:
            continue
        value = constant(comparison.other, function) if comparison.exact else None
        if relation in (">", ">=", "=="):
            lower = True
            if value is not None:
                lows.append(value + (relation == ">"))
        if relation in ("<", "<=", "=="):
            upper = True
            if value is not None:
                highs.append(value - (relation == "<"))
        if relation == "!=" and value is not None:
            excluded.add(value)
        if not comparison.exact and "abs" in text(comparison.owner)[:_MAX_SIDE]:
            lower = upper = True
    return Bounds(
        lower, upper, max(lows, default=None), min(highs, default=None), frozenset(excluded)
    )


def relations_at(function: Function, name: str, at: int) -> Iterator[tuple[int, str, Node, Node]]:
    """Yield the comparisons that say something about `name` at a byte, the nearest first: where
    each ends, and what holds between its two sides."""
    known = _comparisons(function).get(name, [])
    last = bisect_right(known, at, key=lambda c: c.at)
    for comparison in reversed(known[max(0, last - _MAX_COMPARISONS) : last]):
        relation = _relation_at(function, comparison, name, at)
        if relation is not None:
            yield comparison.at, relation, comparison.side, comparison.other


def _relation_at(function: Function, comparison: _Comparison, name: str, at: int) -> str | None:
    start, end = comparison.body
    if start <= at < end or comparison.condition[0] <= at < comparison.condition[1]:
        return comparison.relation
    if start == end:  # an assertion: holds from there on
        return comparison.relation
    owner = comparison.owner
    if owner.type == "do_statement":
        return None
    other = field(owner, "alternative")
    if other is not None and other.start_byte <= at < other.end_byte:
        return _OPPOSITE[comparison.relation]
    if at >= owner.end_byte and (comparison.leaves or _sets(function, name, comparison.body)):
        return _OPPOSITE[comparison.relation]
    return None


def _sets(function: Function, name: str, body: tuple[int, int]) -> bool:
    """Return whether a short branch gives the number a new value."""
    for node in function.uses(name, *body)[:8]:
        parent = node.parent
        if parent is not None and parent.type == "assignment_expression":
            return field(parent, "left") == node
    return False


@once_per_function
def _comparisons(function: Function) -> dict[str, list[_Comparison]]:
    found: dict[str, list[_Comparison]] = {}
    for kind in ("if", "loop", "ternary"):
        for owner in function.nodes(kind):
            condition = field(owner, "condition")
            body = field(owner, "consequence") or field(owner, "body")
            if condition is None or body is None:
                continue
            gone = kind == "loop" or leaves(body)
            span = (body.start_byte, body.end_byte)
            _add(found, condition, owner, span, gone)
    for call in function.calls:
        if "assert" in call.name.lower():
            for argument in call.arguments:
                _add(found, argument, argument, (argument.end_byte, argument.end_byte), False)
    for comparisons in found.values():
        comparisons.sort(key=lambda c: c.at)
    return found


def _add(
    found: dict[str, list[_Comparison]],
    condition: Node,
    owner: Node,
    body: tuple[int, int],
    gone: bool,
) -> None:
    whole = (condition.start_byte, condition.end_byte)
    for node, relation in _relations(condition):
        left, right = field(node, "left"), field(node, "right")
        if left is None or right is None:
            continue
        for side, other, seen in ((left, right, relation), (right, left, _MIRROR[relation])):
            exact = bare(side).type in ("identifier", "field_expression")
            if not exact and seen in ("==", "!="):
                continue
            for name in _names(bare(side)):
                found.setdefault(name, []).append(
                    _Comparison(node.end_byte, seen, side, other, exact, whole, owner, body, gone)
                )


def _names(side: Node) -> set[str]:
    """Names a comparison of `side` says something about."""
    if side.type == "sizeof_expression":
        return set()
    if side.type == "call_expression":
        callee = text(field(side, "function"))
        if "len" not in callee and "abs" not in callee and "size" not in callee:
            return set()
    return set(_WORD.findall(text(side)[:_MAX_SIDE])) - _NO_NAMES


def _relations(condition: Node) -> Iterator[tuple[Node, str]]:
    """Comparisons in a condition; the relation is turned around below `!`."""
    stack = [(condition, False)]
    for _ in range(256):
        if not stack:
            return
        node, turned = stack.pop()
        if node.type == "binary_expression":
            operator = operator_of(node)
            if operator in _OPPOSITE:
                yield node, _OPPOSITE[operator] if turned else operator
                continue
        if node.type == "unary_expression":
            turned = turned != (operator_of(node) == "!")
        if node.type in (
            "binary_expression",
            "parenthesized_expression",
            "unary_expression",
            "condition_clause",
            "assignment_expression",
            "call_expression",
            "argument_list",
        ):
            stack.extend((child, turned) for child in node.named_children)
