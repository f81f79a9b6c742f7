"""An Option or Result is unwrapped in code that others call.

## What it does
Finds `unwrap` and `expect`, inside macros too, where nothing near shows that the value is
there. Quiet in tests, on literals, on locks, and after `is_some()` and the like. Results that
depend on input from outside have their own rule.

## Why is this bad?
The caller of a library cannot handle a panic: it takes the thread down, poisons locks and, with
`panic = "abort"`, ends the process.

## Example
```rust
let user = users.get(&id).unwrap();
```

Use instead:
```rust
let user = users.get(&id).ok_or(Error::UnknownUser)?;
```

## References
- CWE-248: Uncaught Exception
- CWE-754: Improper Check for Unusual or Exceptional Conditions
- Clippy: unwrap_used
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, nodes, rule
from jarvis_ls.jsec.rust.panics import UNWRAPS, unwrap_at
from jarvis_ls.jsec.site import Site


@rule(
    query=flow("unwrap-none", guess=nodes(UNWRAPS)),
    category="error_handling",
    cwe=(248, 754),
    confidence=0.4,
    suggestion="Handle the missing value ('?', 'let … else', 'ok_or'), or say in 'expect' why it "
    "is always there.",
    severity="low",
    cleared="unwrap",
)
def unwrap_without_check(site: Site | Fault) -> Iterator[Report]:
    if isinstance(site, Fault):
        yield Report(
            site,
            "There is never a value here: this always panics.",
            confidence=0.8 if site.certain else None,
        )
        return
    if site.item.in_test or site.function is None:
        return
    found = unwrap_at(site.node, site.function, site.unit)
    if found is None or found.kind != "plain":
        return
    confidence = 0.4 if found.name == "unwrap" else 0.3
    if "main" in site.unit.facts.defined:
        confidence -= 0.1
    yield Report(
        found.place,
        "'{name}' of '{value}' panics when there is no value.",
        confidence=confidence,
        pattern=found.name,
        name=found.name,
        value=found.value,
    )
