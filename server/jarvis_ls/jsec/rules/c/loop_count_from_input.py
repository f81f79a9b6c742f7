"""How often a loop runs is up to whoever gives the input.

## What it does
Finds `for` and `while` conditions that compare with a number which comes from input in the same
function and has no upper limit.

## Why is this bad?
One line of input keeps the program busy for as long as its sender likes, or makes the loop leave
the memory it works on.

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

from jarvis_ls.codeintel.code import Function, bare, field, operator_of, text
from jarvis_ls.jsec.c.bounds import bounds
from jarvis_ls.jsec.c.inputs import INPUTS, RANDOM, number_source
from jarvis_ls.jsec.rule import Report, functions, rule


@rule(
    query=functions(calling=INPUTS),
    category="input_validation",
    cwe=(606, 400, 834),
    confidence=0.5,
    severity="medium",
    suggestion="Compare the number with the most that makes sense before the loop.",
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
            "The loop runs '{limit}' times, a number from '{source}' without an upper limit.",
            confidence=source.weigh(0.5),
            pattern="loop",
            limit=text(limit),
            source=source.name,
            causes=[(source.node, "The number comes from here.")],
        )
