"""Differences of lengths and positions: what comparisons say about `x - y` at a place.

A comparison that holds at a place is a linear inequality over names: a sum that is not negative.
Another sum is not negative when it is more than such a sum, or than two of them added
(Fourier-Motzkin elimination in two steps). A comparison counts until one of its names changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.local.c.range_tests import relations_at
from jarvis_ls.jsec.local.constants import constant
from jarvis_ls.jsec.local.guards import written_between

_DEEP = 6
"""Operators in each other that are looked through."""
_MOST = 12
"""Inequalities about a sum that are combined."""
_STEP = {"<": 1, ">": 1}
"""How much more than the other side the greater side is, at least."""


@dataclass(frozen=True, slots=True)
class Sum:
    """Names with their factors, and a constant."""

    factors: tuple[tuple[str, int], ...]
    """In order of the names, none with factor 0."""
    constant: int = 0

    def __add__(self, other: Sum) -> Sum:
        total = dict(self.factors)
        for name, factor in other.factors:
            total[name] = total.get(name, 0) + factor
        kept = tuple(sorted((name, factor) for name, factor in total.items() if factor))
        return Sum(kept, self.constant + other.constant)

    def __neg__(self) -> Sum:
        return Sum(tuple((name, -factor) for name, factor in self.factors), -self.constant)

    def __sub__(self, other: Sum) -> Sum:
        return self + -other

    def names(self, sign: int) -> list[str]:
        """Return the names whose factors have a sign: 1 or -1."""
        return [name for name, factor in self.factors if factor * sign > 0]


def sum_of(node: Node | None, function: Function, deep: int = _DEEP) -> Sum | None:
    """Return an expression as a sum of names and a constant; None when it is no such sum."""
    if node is None or deep <= 0:
        return None
    node = bare(node)
    known = constant(node, function)
    if known is not None:
        return Sum((), known)
    if node.type in ("identifier", "field_expression"):
        return Sum(((text(node).replace(" ", ""), 1),))
    if node.type != "binary_expression" or operator_of(node) not in ("+", "-", "*"):
        return None
    left = sum_of(field(node, "left"), function, deep - 1)
    right = sum_of(field(node, "right"), function, deep - 1)
    if left is None or right is None:
        return None
    if operator_of(node) == "*":
        if left.factors and right.factors:
            return None
        by, scaled = (right.constant, left) if left.factors else (left.constant, right)
        factors = tuple((name, factor * by) for name, factor in scaled.factors if by)
        return Sum(factors, scaled.constant * by)
    return left + right if operator_of(node) == "+" else left - right


def is_not_negative(function: Function, amount: Sum, at: int) -> bool:
    """Return whether comparisons say at a byte that a sum is not less than 0."""
    known = list(_known(function, amount, at))[:_MOST]
    alone: Iterable[tuple[Sum, ...]] = ((fact,) for fact in known)
    for facts in (*alone, *combinations(known, 2)):
        rest = amount
        for fact in facts:
            rest -= fact
        if not rest.factors and rest.constant >= 0:
            return True
    return False


def _known(function: Function, amount: Sum, at: int) -> Iterator[Sum]:
    """Yield the sums that are not negative at a byte, of those that share a name with `amount`."""
    seen: set[Sum] = set()
    for name, _ in amount.factors:
        word = name.replace(".", ">").rpartition(">")[2]
        for place, relation, left, right in relations_at(function, word, at):
            for fact in _differences(function, relation, left, right):
                changed = (written_between(function, each, place, at) for each, _ in fact.factors)
                if fact not in seen and not any(changed):
                    seen.add(fact)
                    yield fact


def _differences(function: Function, relation: str, left: Node, right: Node) -> Iterator[Sum]:
    """Yield what is not negative when two sides compare so."""
    mine, other = sum_of(left, function), sum_of(right, function)
    if mine is None or other is None:
        return
    step = Sum((), _STEP.get(relation, 0))
    if relation in (">", ">=", "=="):
        yield mine - other - step
    if relation in ("<", "<=", "=="):
        yield other - mine - step
