"""Plain char is an index.

## What it does
Finds elements of arrays whose index is a `char`, itself or converted to `int`, that is not known to
be positive. Characters that are converted to `unsigned char` before are not meant.

## Why is this bad?
On most platforms `char` is signed: a character above 127 is a negative index, and what is read or
written is before the array.

## Example
```c
while (*text)
    counts[(int)*text++]++;
```

Use instead:
```c
while (*text)
    counts[(unsigned char)*text++]++;
```

## References
- CWE-839: Numeric Range Comparison Without Minimum Check
- CWE-129: Improper Validation of Array Index
- SEI CERT C STR34-C: Cast characters to unsigned char before converting to larger integer sizes
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.c.buffer_sizes import index_of, resolve_typedefs
from jarvis_ls.jsec.local.c.range_tests import bounds
from jarvis_ls.jsec.local.constants import declaration

_CHARACTERS = ("identifier", "pointer_expression", "subscript_expression")
_QUALIFIERS = frozenset({"const", "volatile", "register", "static"})


def _has_character(node: Node) -> bool:
    """Return whether an index may be a character."""
    index = index_of(node)
    return index is not None and _inner(index).type in (*_CHARACTERS, "update_expression")


@rule(
    query=nodes("(subscript_expression) @site", when=_has_character),
    category="buffer_overflow",
    cwe=(839, 129, 125),
    confidence=0.5,
    severity="medium",
    suggestion="Convert '{index}' to unsigned char.",
)
def plain_char_as_index(site: Site) -> Iterator[Report]:
    index, array = index_of(site.node), field(site.node, "argument")
    if site.function is None or index is None or array is None:
        return
    inner = _inner(index)
    if not _is_plain_char(inner, site.function):
        return
    if _is_ascii(site.function, site.node):
        return
    known = bounds(site.function, text(inner), site.node.start_byte)
    if known.low is None or known.low < 0:
        yield Report(
            site.node,
            "'{index}' is a char, which may be negative: the element is before '{array}' then.",
            pattern="[]",
            index=text(index),
            array=text(array),
        )


def _is_ascii(function: Function, node: Node) -> bool:
    """Return whether a function before asks whether text is ASCII."""
    return any(
        "ascii" in call.name.lower() and call.node.start_byte < node.start_byte
        for call in function.calls
    )


def _inner(index: Node) -> Node:
    """Return what is converted to a signed integer for an index."""
    node = index
    for _ in range(4):
        if node.type == "parenthesized_expression" and node.named_child_count == 1:
            node = node.named_children[0]
        elif node.type == "cast_expression":
            words = text(field(node, "type")).split()
            if "unsigned" in words or not {"int", "long", "short"} & set(words):
                return node
            node = field(node, "value") or node
        else:
            return node
    return node


def _is_plain_char(node: Node, function: Function) -> bool:
    """Return whether an expression is a variable or element of type `char`."""
    depth = 0
    for _ in range(6):
        node = bare(node) if node.type == "parenthesized_expression" else node
        if (
            node.type == "pointer_expression" and operator_of(node) == "*"
        ) or node.type == "subscript_expression":
            node, depth = field(node, "argument") or node, depth + 1
        elif node.type == "update_expression" and depth:
            node = field(node, "argument") or node
        else:
            break
    if node.type not in ("identifier", "field_expression"):
        return False
    declared = declaration(node, function)
    if declared is None:
        return False
    words, pointers, arrays = resolve_typedefs(declared, function.unit)
    if set(words.split()) - _QUALIFIERS != {"char"}:
        return False
    return pointers + len(arrays) == depth
