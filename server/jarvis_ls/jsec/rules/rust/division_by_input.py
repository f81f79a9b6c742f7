"""A number from input is used as a divisor without a test for zero.

## What it does
Finds `/` and `%` by a number that was parsed or decoded from input, where no test of it stands
before.

## Why is this bad?
Division by zero panics in every build, so whoever sends a zero ends the thread or the process.

## Example
```rust
let parts: u32 = text.parse()?;
let size = total / parts;
```

Use instead:
```rust
let parts: u32 = text.parse()?;
let size = total.checked_div(parts).ok_or(Error::NoParts)?;
```

## References
- CWE-369: Divide By Zero
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.code import Function, text
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, functions, rule
from jarvis_ls.jsec.rust.guards import tested
from jarvis_ls.jsec.rust.shapes import peel
from jarvis_ls.jsec.rust.values import input_numbers

_SAFE = re.compile(r"\bf(?:32|64)\b|NonZero|\.max\(")


@rule(
    query=flow("divide-by-zero", guess=functions()),
    category="input_validation",
    cwe=(369,),
    confidence=0.7,
    suggestion="Test for zero first, or use 'checked_div' or a NonZero type.",
    severity="medium",
    cleared="division",
)
def division_by_input(function: Function | Fault) -> Iterator[Report]:
    if isinstance(function, Fault):
        yield Report(
            function, "The divisor can be zero here.", confidence=0.8 if function.certain else 0.7
        )
        return
    if function.item.in_test:
        return
    names = {v.name: v for v in input_numbers(function)}
    if not names:
        return
    for kind in ("binary", "update"):
        for node in function.nodes(kind):
            if node.children[1].type.removesuffix("=") not in ("/", "%"):
                continue
            divisor = peel(node.named_children[-1])
            variable = names.get(text(divisor))
            if variable is None or divisor is None:
                continue
            if function.variable(variable.name, divisor.start_byte) is not variable:
                continue
            if _SAFE.search(variable.type) or _SAFE.search(text(variable.initial)[:400]):
                continue
            if not tested(function, divisor, node.start_byte):
                yield Report(
                    node,
                    "'{divisor}' comes from input and may be zero.",
                    pattern=node.children[1].type,
                    divisor=variable.name,
                )
