"""Which algorithm a call chooses: by a text such as "DES-EDE3", or by the name of a constant."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.jsec.local.constants import string_literal

Named = Sequence[tuple[re.Pattern[str], str]]
"""Patterns of constants, each with the algorithm that they choose; the first that fits counts."""

_EQUAL = re.compile(r"==|cmp\b")
_MOST_OUTER = 8
_LONGEST = 200
"""Characters of an argument that are examined; names of constants are shorter."""


def is_alternative(call: Call) -> bool:
    """Return whether a call is one of several alternatives: a case of a switch, a branch of `?:`,
    an element of a table, or a branch that an equality decides."""
    node = call.node.parent
    for _ in range(_MOST_OUTER):
        if node is None or node.type == "function_definition":
            return False
        if node.type in ("case_statement", "conditional_expression", "initializer_list"):
            return True
        condition = field(node, "condition") if node.type == "if_statement" else None
        if condition is not None and condition.end_byte <= call.node.start_byte:
            return _EQUAL.search(text(condition)[:_LONGEST]) is not None
        node = node.parent
    return False


def chosen_algorithm(call: Call, texts: re.Pattern[str], named: Named, *, arguments: int) -> str:
    """Return the algorithm that one of the first `arguments` of a call chooses; empty for none.

    `texts` fits the texts that OpenSSL's `EVP_` functions take for the algorithms looked for.
    """
    for argument in call.arguments[:arguments]:
        literal = string_literal(argument, call.function)
        if literal is not None and call.name.startswith("EVP_") and texts.search(literal):
            return literal
        written = call.unit.facts.macros.get(text(argument), text(argument))[:_LONGEST]
        for pattern, algorithm in named:
            if pattern.search(written):
                return algorithm
    return ""
