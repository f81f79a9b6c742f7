"""A number at the limit of its type is taken one further.

## What it does
Finds variables set to `INT_MAX`, `CHAR_MIN` and the like that are added to, multiplied,
subtracted from or stepped in the direction that leaves the type, with no comparison in between.

## Why is this bad?
The result is not the next number but wraps around, or is undefined.

## Example
```c
int next = INT_MAX;
next = next + 1;
```

Use instead:
```c
int next = INT_MAX;
if (next < INT_MAX)
    next = next + 1;
```

## References
- CWE-190: Integer Overflow or Wraparound
- CWE-191: Integer Underflow (Wrap or Wraparound)
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Function, field, operator_of, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.bounds import bounds
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.c.reaching import reaching
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, nodes, rule
from jarvis_ls.jsec.site import Site

_TYPES = ("CHAR", "SCHAR", "UCHAR", "SHRT", "USHRT", "INT", "UINT", "LONG", "ULONG", "LLONG",
          "ULLONG", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64",
          "SIZE", "SSIZE", "INTMAX", "UINTMAX")  # fmt: skip
HIGHEST = frozenset(f"{name}_MAX" for name in _TYPES)
LOWEST = frozenset(f"{name}_MIN" for name in _TYPES)
_MAX_USES = 12


@rule(
    query=flow(
        "integer-overflow",
        "integer-underflow",
        guess=nodes(
            """(assignment_expression left: (identifier) operator: "=" right: (identifier) @site
             (#match? @site "_(MAX|MIN)$"))
           (init_declarator declarator: (identifier) value: (identifier) @site
             (#match? @site "_(MAX|MIN)$"))"""
        ),
    ),
    category="integer_overflow",
    cwe=(190, 191),
    confidence=0.8,
    suggestion="Compare with the limit before calculating, or use a wider type.",
)
def arithmetic_beyond_limit(site: Site | Fault) -> Iterator[Report]:
    if isinstance(site, Fault):
        if site.kind == "integer-overflow":
            yield Report(
                site,
                told(
                    site,
                    "The result may be {high}, more than '{type}' can hold.",
                    "The result may be more than its type can hold.",
                ),
                cwe=(190,),
            )
            return
        yield Report(
            site,
            told(
                site,
                "The result may be {low}, less than '{type}' can hold.",
                "The result may be less than its type can hold.",
            ),
            cwe=(191,),
        )
        return
    limit = text(site.node)
    if limit not in HIGHEST and limit not in LOWEST:
        return
    parent, function = site.node.parent, site.function
    target = field(parent, "left") or field(parent, "declarator")
    if target is None or function is None or parent is None:
        return
    for use in function.uses(text(target), parent.end_byte)[:_MAX_USES]:
        operation = _leaves_type(use, limit in HIGHEST)
        if operation is None or not _still(function, use, parent):
            continue
        found = bounds(function, text(use), use.start_byte, parent.end_byte)
        wrong_way = found.lower if limit in LOWEST else found.upper
        if wrong_way or found.excluded:
            continue
        yield Report(
            operation,
            "'{expression}' leaves its type: '{variable}' is {limit}.",
            pattern=limit,
            expression=text(operation),
            variable=text(use),
            limit=limit,
            causes=[(site.node, "It is set here.")],
        )
        return


def _leaves_type(use: Node, highest: bool) -> Node | None:
    """The operation on a mention of the variable that goes beyond the limit."""
    parent = use_of(use)
    if parent is None:
        return None
    operator = operator_of(parent)
    if parent.type == "update_expression":
        return parent if operator == ("++" if highest else "--") else None
    if parent.type == "assignment_expression":
        wanted = ("+=", "*=") if highest else ("-=", "*=")
        return parent if field(parent, "left") == use and operator in wanted else None
    if parent.type != "binary_expression":
        return None
    left = field(parent, "left")
    first = left is not None and left.start_byte <= use.start_byte < left.end_byte
    if operator == "*" or (highest and operator == "+"):
        return parent
    return parent if not highest and operator == "-" and first else None


def _still(function: Function, use: Node, setting: Node) -> bool:
    """Whether the variable may still have the value at a later use."""
    writes = reaching(function, text(use), use.start_byte) or []
    return any(write.at == setting.end_byte for write in writes)
