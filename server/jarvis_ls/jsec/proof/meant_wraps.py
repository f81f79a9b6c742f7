"""Arithmetic that is written to wrap around, and conversions that are written to cut off: what a
run shows of those is what the code is for, and no evidence of a flaw.

Told by their form only: hashes and random numbers, comparisons that test for the wrap itself, tests
of a range by one comparison, the lowest bit of a number, the bytes of a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from jarvis_ls.codeintel.declarations import Facts
from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.headers import facts_of
from jarvis_ls.codeintel.languages import LanguageName, language_of
from jarvis_ls.codeintel.nodes import ancestors, bare, field, operator_of, text, words_in
from jarvis_ls.codeintel.parse import Node, parse
from jarvis_ls.codeintel.source import Source
from jarvis_ls.core.finding import Finding
from jarvis_ls.jsec.local.constants import constant
from jarvis_ls.jsec.proof.places import node_at
from jarvis_ls.jsec.proof.reports import kinds_for
from jarvis_ls.jsec.proof.workbench import Workbench

WRAPS = frozenset({"unsigned-integer-overflow", "value-out-of-range", "implicit-conversion"})
"""Kinds of reports on what C defines: unsigned numbers wrap around, conversions cut off."""
_COMPARED = frozenset({"<", "<=", ">", ">="})
_BITWISE = frozenset({"&", "|", "^"})
_ARITHMETIC = frozenset({"+", "-", "*"})
_MIXING_FACTOR = 0xFFFF
_MIXING_SUMMAND = 0xFFFFFFF
"""Numbers above these that are not round, factors odd, are there to mix bits."""
_LEAST_FACTOR = 17
"""Of a recurrence that mixes, such as `h * 31 + c`; smaller ones, and even ones, are bases of
numbers that are read."""
_MACRO = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_PLACES = frozenset({"identifier", "field_expression"})
_ELEMENTS = frozenset({"subscript_expression", "pointer_expression"})
_BYTE = 8
_MASK = 0xFF


def is_meant_to_wrap(bench: Workbench, finding: Finding) -> bool:
    """Return whether what a finding says of wrapping or cutting off is what its code is for."""
    key = ("meant to wrap", finding.file, finding.span, finding.cwe)
    if key not in bench.results:  # several rungs ask, and a large file takes long to parse
        bench.results[key] = _find_meaning(bench, finding)
    return bench.results[key] is True


def _find_meaning(bench: Workbench, finding: Finding) -> bool:
    source = bench.source(finding.file)
    if source is None or kinds_for(replace(finding, evidence="")).isdisjoint(WRAPS):
        return False
    language = language_of(source.path, source.data)
    if language not in ("c", "cpp"):
        return False
    node = node_at(source, finding.span, language)
    forms = _Forms(source, language)
    return node is not None and any(map(forms.is_meant, _expressions(node)))


def _expressions(node: Node) -> Iterator[Node]:
    """Yield the expression of a finding and those it is a part of, up to its statement."""
    for around in (node, *ancestors(node)):
        if around.type.endswith(("_statement", "_definition", "_list")):
            return
        yield around


class _Forms:
    """Tells the forms of code of one file."""

    def __init__(self, source: Source, language: LanguageName) -> None:
        self._source, self._language = source, language

    def is_meant(self, node: Node) -> bool:
        """Return whether an expression has one of the forms."""
        return (
            self._is_mixing(node)
            or _tests_wrap(node)
            or self._tests_range(node)
            or self._takes_lowest_bit(node)
            or self._takes_byte(node)
        )

    def _is_mixing(self, node: Node) -> bool:
        """Return whether a product or sum has a number that mixes bits, or is a recurrence that
        does: `seed * 1103515245 + 12345`, `h = h * 31 + c`, `h *= 16777619`."""
        operator = operator_of(node)
        if node.type == "assignment_expression":
            target, value = text(field(node, "left")), field(node, "right")
            if operator == "*=":
                return self._is_factor(value)
            return operator == "=" and any(
                self._is_factor(factor) and other == target for factor, other in _products(value)
            )
        if node.type != "binary_expression" or operator not in ("*", "+"):
            return False
        sides = _sides(node)
        if any(self._mixes(side, is_factor=operator == "*") for side in sides):
            return True
        return any(self._is_mixing(bare(side)) for side in sides)

    def _mixes(self, node: Node | None, *, is_factor: bool) -> bool:
        value = self._value(node)
        if value is None or value <= (_MIXING_FACTOR if is_factor else _MIXING_SUMMAND):
            return False
        is_round = value % 100 == 0 or value & (value - 1) == 0 or value & (value + 1) == 0
        return not is_round and (value % 2 == 1 or not is_factor)

    def _is_factor(self, node: Node | None) -> bool:
        value = self._value(node)
        return value is not None and value >= _LEAST_FACTOR and value % 2 == 1

    def _tests_range(self, node: Node) -> bool:
        """Return whether one comparison tests two limits: `(unsigned)c - '0' < 10`. What wrapped
        around is above the limit."""
        if node.type != "binary_expression" or operator_of(node) not in ("<", "<="):
            return False
        left, right = field(node, "left"), field(node, "right")
        difference = None if left is None else bare(left)
        return (
            operator_of(difference) == "-"
            and self._value(field(difference, "right")) is not None
            and self._value(right) is not None
        )

    def _takes_lowest_bit(self, node: Node) -> bool:
        """Return whether a number is combined with itself turned round: `x & (0 - x)`, `x & -x`."""
        if node.type != "binary_expression" or operator_of(node) not in _BITWISE:
            return False
        sides = [bare(side) for side in _sides(node)]
        return any(
            self._negation_of(side) == text(other)
            for side, other in zip(sides, reversed(sides), strict=True)
        )

    def _negation_of(self, node: Node) -> str:
        if node.type == "unary_expression" and operator_of(node) == "-":
            return text(bare(node.named_children[-1]))
        is_difference = node.type == "binary_expression" and operator_of(node) == "-"
        if is_difference and self._value(field(node, "left")) == 0:
            return text(field(node, "right"))
        return ""

    def _takes_byte(self, node: Node) -> bool:
        """Return whether a value becomes one of its bytes: it is masked for that, or the function
        takes another of its bytes as well."""
        if node.type == "cast_expression" or node.type == "init_declarator":
            value = field(node, "value")
        elif node.type == "assignment_expression" and operator_of(node) == "=":
            value = field(node, "right")
        else:
            return False
        value = None if value is None else bare(value)
        right = self._value(field(value, "right"))
        if operator_of(value) == "&":
            return right is not None and 0 < right <= _MASK
        if operator_of(value) == ">>":
            left = field(value, "left")
            value = None if left is None else bare(left)
        elif value is not None and value.type not in _PLACES:
            return False
        return value is not None and len(self._bytes_taken(value)) > 1

    def _bytes_taken(self, value: Node) -> set[int]:
        """Return by how many bits the function around a value shifts it down to take a byte."""
        around = next(
            (node for node in ancestors(value) if node.type == "function_definition"), None
        )
        waiting = [around] if around is not None else []
        found = set()
        while waiting:
            node = waiting.pop()
            amount = self._byte_taken(node, text(value))
            if amount is not None:
                found.add(amount)
            waiting += node.named_children
        return found

    def _byte_taken(self, node: Node, name: str) -> int | None:
        """Return by how many bits a node shifts down what is named so; None when it does not, and
        0 where it takes the lowest byte."""
        left, right = field(node, "left"), field(node, "right")
        if operator_of(node) == ">>" and left is not None and text(bare(left)) == name:
            amount = self._value(right)
            return amount if amount and amount % _BYTE == 0 else None
        is_masked = operator_of(node) == "&" and self._value(right) == _MASK
        if is_masked and left is not None and text(bare(left)) == name:
            return 0
        is_stored = node.type == "assignment_expression" and left is not None
        if is_stored and left is not None and left.type in _ELEMENTS and right is not None:
            return 0 if text(bare(right)) == name else None
        return None

    def _value(self, node: Node | None) -> int | None:
        """Return the number that an expression is; None when it is none that is written."""
        names = words_in(text(node).encode()) & self._macros
        unit = self._whole_unit if names else self._plain_unit
        return constant(node, None, unit)

    @cached_property
    def _macros(self) -> frozenset[bytes]:
        return frozenset(_MACRO.findall(self._source.data))

    @cached_property
    def _plain_unit(self) -> Unit:
        """The file as if it declared nothing: all that a large one declares is much to read."""
        return Unit(self._source, self._language, Facts())

    @cached_property
    def _whole_unit(self) -> Unit:
        root = parse(self._source.data, self._language).root_node
        return Unit(self._source, self._language, facts_of(root, self._language))


def _products(node: Node | None) -> Iterator[tuple[Node, str]]:
    """Yield constant factor and the text of the other one of all products in a sum."""
    if node is None:
        return
    inner = bare(node)
    if inner.type != "binary_expression":
        return
    sides = _sides(inner)
    if operator_of(inner) == "*" and len(sides) == 2:
        yield sides[0], text(bare(sides[1]))
        yield sides[1], text(bare(sides[0]))
    elif operator_of(inner) in ("+", "^"):
        for side in sides:
            yield from _products(side)


def _tests_wrap(node: Node) -> bool:
    """Return whether a comparison tests for the wrap itself: `a + b < a`."""
    if node.type != "binary_expression" or operator_of(node) not in _COMPARED:
        return False
    sides = [bare(side) for side in _sides(node)]
    return any(
        side.type == "binary_expression"
        and operator_of(side) in _ARITHMETIC
        and text(other) in [text(bare(operand)) for operand in _sides(side)]
        for side, other in zip(sides, reversed(sides), strict=True)
    )


def _sides(node: Node) -> list[Node]:
    found = (field(node, "left"), field(node, "right"))
    return [side for side in found if side is not None]
