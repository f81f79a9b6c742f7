"""A number from outside is put into a smaller type.

## What it does
Finds `char` and `short` variables that are given an `int` or larger value which comes from input
in the same function and was not compared with anything before.

## Why is this bad?
The upper bits are lost: 256 becomes 0, 65535 becomes -1. Whatever was true of the number before
is not true of what is stored.

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

from jarvis_ls.codeintel.code import Function, Variable, bare, field, operator_of, text
from jarvis_ls.codeintel.facts import Declared
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.bounds import bounds
from jarvis_ls.jsec.c.inputs import INPUTS, number_source
from jarvis_ls.jsec.c.integers import declared_width, width
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.constants import declaration
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, functions, rule


@rule(
    query=flow("truncation", guess=functions(calling=INPUTS)),
    category="type_safety",
    cwe=(197, 681),
    confidence=0.75,
    severity="medium",
    suggestion="Check that the number fits before storing it, or use a type that holds it.",
)
def truncated_input_value(function: Function | Fault) -> Iterator[Report]:
    if isinstance(function, Fault):
        yield Report(
            function,
            told(
                function,
                "The value may be from {low} to {high}; '{type}' does not hold all of that.",
                "The value does not fit in the type it is given to.",
            ),
            cwe=(197,),
        )
        return
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
            "'{target}' has {narrow} bytes, but '{value}' comes from '{source}' and has {wide}.",
            confidence=source.weigh(0.75),
            pattern=source.name,
            target=text(target),
            value=text(inner),
            narrow=str(narrow),
            wide=str(wide),
            source=source.name,
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
