"""Limit is one less than an unsigned count that may be 0.

## What it does
Finds `index > count - 1` as the condition of a branch that leaves, and `index <= count - 1` as that
of a loop or branch, where the count is unsigned and nothing says that it is not 0.

## Why is this bad?
With a count of 0 the limit is the largest number there is: every index passes.

## Example
```c
if (index > list->count - 1)
    return NULL;
return list->entries[index];
```

Use instead:
```c
if (index >= list->count)
    return NULL;
return list->entries[index];
```

## References
- CWE-191: Integer Underflow (Wrap or Wraparound)
- CWE-125: Out-of-bounds Read
- SEI CERT C INT30-C: Ensure that unsigned integer operations do not wrap
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.c.integers import is_unsigned, width
from jarvis_ls.jsec.local.c.range_tests import bounds
from jarvis_ls.jsec.local.constants import constant
from jarvis_ls.jsec.local.guards import is_in_condition

_NAMES = ("identifier", "field_expression")
_AT_LEAST_INT = 4


def _is_less_one(node: Node) -> bool:
    """Return whether something is compared with a name less 1."""
    right = field(node, "right")
    if right is None or right.type == "cast_expression":
        return False
    limit = bare(right)
    if limit.type != "binary_expression" or operator_of(limit) != "-":
        return False
    count = field(limit, "left")
    return count is not None and count.type in _NAMES and text(field(limit, "right")) in ("1", "1u")


@rule(
    query=nodes("(binary_expression) @site", operators=(">", "<="), when=_is_less_one),
    category="integer_overflow",
    cwe=(191, 125, 787),
    confidence=0.45,
    severity="medium",
    suggestion="Compare with '{count}' itself.",
)
def limit_minus_one_wraps(site: Site) -> Iterator[Report]:
    function, index, right = site.function, field(site.node, "left"), field(site.node, "right")
    if function is None or index is None or right is None:
        return
    count = field(bare(right), "left")
    if count is None or not _may_wrap(count, site.node, function) or not is_in_condition(site.node):
        return
    if bare(index).type not in _NAMES or constant(index, function) is not None:
        return
    yield Report(
        site.node,
        "When '{count}' is 0, '{limit}' wraps around, and every '{index}' passes.",
        pattern="-",
        count=text(count),
        limit=text(bare(right)),
        index=text(index),
    )


def _may_wrap(count: Node, test: Node, function: Function) -> bool:
    """Return whether a count is unsigned, at least as wide as an int, and may be 0."""
    if not is_unsigned(count, function) or (width(count, function) or 0) < _AT_LEAST_INT:
        return False
    known = bounds(function, text(count), test.start_byte)
    return not (known.low is not None and known.low > 0) and 0 not in known.excluded
