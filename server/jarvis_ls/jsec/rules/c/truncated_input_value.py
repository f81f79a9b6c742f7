"""Numeric truncation of untrusted input.

## What it does
Finds `char` and `short` variables that are assigned an `int` or larger value which is input of
the same function and was not range-checked; follows values through functions and files.

## Why is this bad?
The upper bits are lost: 256 becomes 0, 65535 becomes -1. Properties that were checked on the
original value need not hold for the stored one.

## Example
```c
fscanf(file, "%d", &n);
short port = (short)n;
```

Use instead:
```c
fscanf(file, "%d", &n);
if (n < 0 || n > SHRT_MAX)
    return -1;
short port = (short)n;
```

## References
- CWE-197: Numeric Truncation Error
- CWE-681: Incorrect Conversion between Numeric Types
- SEI CERT C INT31-C: Ensure that integer conversions do not result in lost or misinterpreted data
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.declarations import Declared
from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.rule import Report, flow, functions, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.inputs import INPUTS, number_source
from jarvis_ls.jsec.local.c.integers import declared_width, width
from jarvis_ls.jsec.local.c.proof import pick_template
from jarvis_ls.jsec.local.c.range_tests import bounds
from jarvis_ls.jsec.local.constants import declaration


@rule(
    query=flow("truncation", guess=functions(calling=INPUTS)),
    category="type_safety",
    cwe=(197, 681),
    confidence=0.55,
    severity="medium",
    suggestion="Check the range before the assignment, or use a wider type.",
)
def truncated_input_value(function: Function) -> Iterator[Report]:
    for target, declared, value in _stores(function):
        narrow = declared_width(declared, function)
        if narrow is None or narrow > 2 or (isinstance(declared, Declared) and not declared.type):
            continue
        inner = bare(value)
        wide = _width(inner, function)
        if wide is None or wide <= narrow:
            continue
        source = number_source(inner, function)
        if source is None or bounds(function, text(inner), inner.start_byte).upper:
            continue
        yield Report(
            value,
            "'{value}' ({wide} bytes, from '{source}') is truncated to '{target}' "
            "({narrow} bytes).",
            confidence=source.weigh(0.55),
            pattern=source.name,
            target=text(target),
            value=text(inner),
            narrow=str(narrow),
            wide=str(wide),
            source=source.name,
        )


@on_fault(truncated_input_value)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        pick_template(
            fault,
            "Value in the range {low} to {high} is truncated to '{type}'.",
            "Value is truncated by the conversion to a smaller type.",
        ),
        cwe=(197,),
    )


def _stores(function: Function) -> Iterator[tuple[Node, Variable | Declared | None, Node]]:
    for node in function.nodes("assign"):
        left, right = field(node, "left"), field(node, "right")
        if left is None or right is None or operator_of(node) != "=":
            continue
        if left.type in ("identifier", "field_expression"):
            yield left, declaration(left, function), right
    for variables in function.variables.values():
        for variable in variables:
            if variable.initial is not None:
                yield variable.node, variable, variable.initial


def _width(value: Node, function: Function) -> int | None:
    if value.type in ("identifier", "field_expression"):
        return width(value, function)
    if value.type == "call_expression":
        name = text(field(value, "function"))
        return {"atoi": 4, "rand": 4, "atol": 8, "strtol": 8, "strtoul": 8}.get(name)
    return None
