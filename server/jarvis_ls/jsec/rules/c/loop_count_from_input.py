"""Loop bound controlled by untrusted input.

## What it does
Finds `for` and `while` conditions whose bound is untrusted input in the same function without an
upper bound check.

## Why is this bad?
A single line of input keeps the program busy (denial of service), or makes the loop access memory
out of bounds.

## Example
```c
int n = atoi(line);
for (int i = 0; i < n; i++)
    step();
```

Use instead:
```c
int n = atoi(line);
if (n < 0 || n > MAX_STEPS)
    return -1;
for (int i = 0; i < n; i++)
    step();
```

## References
- CWE-606: Unchecked Input for Loop Condition
- CWE-400: Uncontrolled Resource Consumption
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.inputs import INPUTS, RANDOM, number_source
from jarvis_ls.jsec.local.c.range_tests import bounds


@rule(
    query=functions(calling=INPUTS),
    category="input_validation",
    cwe=(606, 400, 834),
    confidence=0.5,
    severity="medium",
    suggestion="Check the loop bound against an upper limit before the loop.",
)
def loop_count_from_input(function: Function) -> Iterator[Report]:
    for loop in function.nodes("loop"):
        condition = field(loop, "condition")
        if condition is None:
            continue
        if condition.type in ("parenthesized_expression", "condition_clause"):
            condition = condition.named_children[0] if condition.named_child_count else condition
        if operator_of(condition) not in ("<", "<="):
            continue
        limit = field(condition, "right")
        if limit is None or bare(limit).type not in ("identifier", "field_expression"):
            continue
        limit = bare(limit)
        source = number_source(limit, function)
        if source is None or source.name in RANDOM:
            continue
        if bounds(function, text(limit), loop.start_byte).upper:
            continue
        yield Report(
            condition,
            "Loop bound '{limit}' is untrusted input from '{source}' without an upper bound check.",
            confidence=source.weigh(0.5),
            pattern="loop",
            limit=text(limit),
            source=source.name,
            causes=[(source.node, "Untrusted input enters here.")],
        )
