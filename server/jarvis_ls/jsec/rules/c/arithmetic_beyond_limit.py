"""Integer overflow at the type's limit.

## What it does
Finds variables set to `INT_MAX`, `CHAR_MIN` and the like that are then added to, multiplied,
subtracted from or stepped past that limit without a comparison in between; follows value ranges
through functions and files.

## Why is this bad?
The result wraps around, or the behaviour is undefined for signed types.

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

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import field, operator_of, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, flow, nodes, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.proof import pick_template
from jarvis_ls.jsec.local.c.range_tests import bounds
from jarvis_ls.jsec.local.c.reaching_definitions import reaching

_TYPES = tuple(
    "CHAR SCHAR UCHAR SHRT USHRT INT UINT LONG ULONG LLONG ULLONG INT8 UINT8 INT16 UINT16 "
    "INT32 UINT32 INT64 UINT64 SIZE SSIZE INTMAX UINTMAX".split()
)
HIGHEST = frozenset(f"{name}_MAX" for name in _TYPES)
LOWEST = frozenset(f"{name}_MIN" for name in _TYPES)
_UNSIGNED = ("unsigned", "uint", "size_t", "u8", "u16", "u32", "u64", "usize")
_WRAPPED = 0.5
"""Confidence where the result is defined: it wraps, mostly on purpose."""
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
    confidence=0.7,
    suggestion="Check the operands against the limit first, or use a wider type.",
)
def arithmetic_beyond_limit(site: Site) -> Iterator[Report]:
    limit = text(site.node)
    if limit not in HIGHEST and limit not in LOWEST:
        return
    parent, function = site.node.parent, site.function
    target = field(parent, "left") or field(parent, "declarator")
    if target is None or function is None or parent is None:
        return
    for use in function.uses(text(target), parent.end_byte)[:_MAX_USES]:
        operation = _leaves_type(use, limit in HIGHEST)
        if operation is None or not _holds_value(function, use, parent):
            continue
        found = bounds(function, text(use), use.start_byte, parent.end_byte)
        checked = found.lower if limit in LOWEST else found.upper
        if checked or found.excluded:
            continue
        yield Report(
            operation,
            "'{expression}' overflows: '{variable}' is {limit}.",
            pattern=limit,
            expression=text(operation),
            variable=text(use),
            limit=limit,
            causes=[(site.node, "Assigned here.")],
        )
        return


@on_fault(arithmetic_beyond_limit)
def _report_fault(fault: Fault) -> Iterator[Report]:
    said = dict(fault.args)
    wraps = said.get("type", "").startswith(_UNSIGNED) or said.get("operator") == "="
    confidence = _WRAPPED if wraps else None
    if fault.kind == "integer-overflow":
        yield Report(
            fault,
            pick_template(
                fault,
                "Integer overflow: the result may be {high}, above the range of '{type}'.",
                "Integer overflow: the result may exceed the range of its type.",
            ),
            cwe=(190,),
            confidence=confidence,
        )
        return
    yield Report(
        fault,
        pick_template(
            fault,
            "Integer underflow: the result may be {low}, below the range of '{type}'.",
            "Integer underflow: the result may be below the range of its type.",
        ),
        cwe=(191,),
        confidence=confidence,
    )


def _leaves_type(use: Node, highest: bool) -> Node | None:
    """Return the operation on a use of the variable that exceeds the limit."""
    parent = use_of(use)
    if parent is None:
        return None
    operator = operator_of(parent)
    if parent.type == "update_expression":
        return parent if operator == ("++" if highest else "--") else None
    if parent.type == "assignment_expression":
        operators = ("+=", "*=") if highest else ("-=", "*=")
        return parent if field(parent, "left") == use and operator in operators else None
    if parent.type != "binary_expression":
        return None
    left = field(parent, "left")
    first = left is not None and left.start_byte <= use.start_byte < left.end_byte
    if operator == "*" or (highest and operator == "+"):
        return parent
    return parent if not highest and operator == "-" and first else None


def _holds_value(function: Function, use: Node, setting: Node) -> bool:
    """Return whether the assignment is a reaching definition of a later use."""
    writes = reaching(function, text(use), use.start_byte) or []
    return any(write.at == setting.end_byte for write in writes)
