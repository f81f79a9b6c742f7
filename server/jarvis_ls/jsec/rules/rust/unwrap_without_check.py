"""unwrap() or expect() that may panic.

## What it does
Finds `unwrap` and `expect`, inside macros too, without a nearby check that the value is present.
Tests, literals, locks and values after `is_some()` and the like are ignored. Results that depend
on untrusted input have their own rule.

## Why is this bad?
The caller of a library cannot handle a panic: it terminates the thread, poisons locks and, with
`panic = "abort"`, terminates the process.

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

from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, flow, flow_verdicts, nodes, on_fault, rule, summary
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.rust.panics import UNWRAPS, unwrap_at


@rule(
    query=flow("unwrap-none", guess=nodes(UNWRAPS)),
    category="error_handling",
    cwe=(248, 754),
    confidence=0.25,
    suggestion="Handle the missing value ('?', 'let … else', 'ok_or'), or state in 'expect' "
    "why it exists.",
    severity="low",
)
@summary("{count} calls of unwrap or expect in this file may panic.")
@flow_verdicts(sound="unwrap")
def unwrap_without_check(site: Site) -> Iterator[Report]:
    if site.item.in_test or site.function is None:
        return
    unwrap = unwrap_at(site.node, site.function, site.unit, "plain")
    if unwrap is None:
        return
    confidence = 0.25 if unwrap.name == "unwrap" else 0.2
    if "main" in site.unit.facts.defined:
        confidence -= 0.1
    yield Report(
        unwrap.place,
        "'{name}' on '{value}' may panic.",
        confidence=confidence,
        pattern=unwrap.name,
        name=unwrap.name,
        value=unwrap.value,
    )


@on_fault(unwrap_without_check)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        "Value is always None or Err here: this panics.",
        confidence=0.8 if fault.certain else None,
    )
