"""Division by zero through untrusted input.

## What it does
Finds `/` and `%` by a number that was parsed or decoded from input and not checked before.

## Why is this bad?
Division by zero panics in every build, so an attacker who sends a zero terminates the thread or
the process.

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

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, flow, flow_verdicts, functions, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.rust.guards import is_tested
from jarvis_ls.jsec.local.rust.shapes import peel
from jarvis_ls.jsec.local.rust.values import NUMBER_TEXTS, input_numbers

_SAFE = re.compile(r"\bf(?:32|64)\b|NonZero|\.max\(")


@rule(
    query=flow("divide-by-zero", guess=functions(containing=NUMBER_TEXTS)),
    category="input_validation",
    cwe=(369,),
    confidence=0.7,
    suggestion="Check for zero first, or use 'checked_div' or a NonZero type.",
    severity="medium",
)
@flow_verdicts(sound="division")
def division_by_input(function: Function) -> Iterator[Report]:
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
            if not is_tested(function, divisor, node.start_byte):
                yield Report(
                    node,
                    "Divisor '{divisor}' comes from untrusted input and may be zero.",
                    pattern=node.children[1].type,
                    divisor=variable.name,
                )


@on_fault(division_by_input)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(fault, "Possible division by zero.", confidence=0.8 if fault.certain else 0.7)
