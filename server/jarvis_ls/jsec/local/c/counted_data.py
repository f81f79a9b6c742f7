"""Data and how much of it there is: parameters and members that belong together."""

from __future__ import annotations

import re
from itertools import pairwise

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.local.c.lengths import LENGTH
from jarvis_ls.jsec.local.c.range_tests import relations_at
from jarvis_ls.jsec.local.constants import constant

_BYTES = frozenset(
    "uint8_t u8 __u8 guint8 guchar uchar u_char u_int8_t BYTE uint8 UINT8 CARD8 byte".split()
)
_LOWER = frozenset({">", ">=", "=="})
_SIZE = re.compile(r"(?i)^(?:len|length|size|n|count|cnt|sz|bytecount|nbytes|data_?len)$")


def length_of(data: Node, function: Function) -> str:
    """Return the expression that counts the bytes of `data`: the parameter behind it, or the only
    member of the same structure that is named like a length; empty when there is none."""
    if data.type == "identifier":
        return _paired_parameters(function).get(text(data), "")
    return _length_member(data, function)


def is_bytes(data: Node, function: Function) -> bool:
    """Return whether a name or member is a pointer to unsigned bytes."""
    if data.type == "identifier":
        variable = function.variable(text(data), data.start_byte)
        if variable is None or not variable.is_pointer or variable.arrays:
            return False
        return _of_bytes(variable.type)
    members = function.unit.facts.fields.get(text(field(data, "field")), ())
    return bool(members) and all(
        member.pointers == 1 and not member.arrays and _of_bytes(member.type) for member in members
    )


def known_minimum(function: Function, length: str, at: int) -> int | None:
    """Return the constant that comparisons show a length is not less than at a byte; None when it
    is compared with what is no constant, or with nothing."""
    word = length.replace(".", ">").rpartition(">")[2]
    least = []
    for _, relation, side, other in relations_at(function, word, at):
        value = constant(other, function)
        if text(bare(side)).replace(" ", "") != length:
            return None  # something is worked out of it
        if relation in _LOWER:
            if value is None:
                return None
            least.append(value + (relation == ">"))
        elif relation == "!=" and value == 0:
            least.append(1)
        elif relation == "!=":
            return None
    return max(least, default=None)


@once_per_function
def _paired_parameters(function: Function) -> dict[str, str]:
    """Return the lengths of the parameters that are pointers with a length behind them."""
    given = function.parameters
    pairs = {}
    for data, length in pairwise(given):
        counts = not length.is_pointer and not length.arrays
        named = _SIZE.match(length.name) or LENGTH.search(length.name)
        if data.is_pointer and counts and named:
            pairs[data.name] = length.name
    changed = {
        text(field(node, side)).strip("() ")
        for kind, side in (("assign", "left"), ("update", "argument"), ("deref", "argument"))
        for node in function.nodes(kind)
        if kind != "deref" or operator_of(node) == "&"
    }
    return {
        data: length
        for data, length in pairs.items()
        if data not in changed and length not in changed
    }


def _length_member(data: Node, function: Function) -> str:
    """Return the length beside a member, by its name: `p->bytes` and `p->len`."""
    base, name = text(field(data, "argument")), text(field(data, "field"))
    written = text(data)
    members = function.unit.facts.fields
    structs = members.get(name, ())
    if data.type != "field_expression" or len(structs) != 1:
        return ""
    arrow = written[len(base) : len(written) - len(name)].strip()
    for candidate in (f"{name}_len", f"{name}len", f"{name}_length", "len", "length", "size"):
        held = members.get(candidate, ())
        if any(not each.pointers and not each.arrays for each in held):
            return f"{base}{arrow}{candidate}".replace(" ", "")
    return ""


def _of_bytes(words: str) -> bool:
    names = words.split()
    return bool(_BYTES & set(names)) or ("unsigned" in names and "char" in names)
