"""unwrap() on untrusted input.

## What it does
Finds `unwrap` and `expect` on results that depend on the environment: parsing, decoding, files,
sockets, environment variables, command line arguments; inside macros too.

## Why is this bad?
An attacker who controls the input can make the program panic. In a server that is a denial of
service.

## Example
```rust
let port: u16 = request.header("port").parse().unwrap();
```

Use instead:
```rust
let port: u16 = request.header("port").parse().map_err(|_| Error::BadPort)?;
```

## References
- CWE-248: Uncaught Exception
- CWE-754: Improper Check for Unusual or Exceptional Conditions
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, flow_verdicts, nodes, rule
from jarvis_ls.jsec.local.rust.errors import fits
from jarvis_ls.jsec.local.rust.panics import UNWRAPS, unwrap_at
from jarvis_ls.jsec.local.rust.shapes import receiver_of


@rule(
    query=nodes(UNWRAPS),
    category="error_handling",
    cwe=(248, 754),
    confidence=0.55,
    suggestion="Return the error with '?', or handle it.",
    severity="medium",
    fixable=True,
)
@flow_verdicts(faults=("unwrap-none",), sound="unwrap")
def unwrap_on_external_input(site: Site) -> Iterator[Report]:
    if site.item.in_test or site.function is None:
        return
    unwrap = unwrap_at(site.node, site.function, site.unit, "external")
    if unwrap is None:
        return
    confidence = 0.55 if unwrap.name == "unwrap" else 0.5
    if "main" in site.unit.facts.defined:
        confidence -= 0.15
    yield Report(
        unwrap.place,
        "'{name}' panics when {doing} fails.",
        confidence=confidence,
        pattern=unwrap.name,
        fix=_question_mark(site, unwrap.call),
        doing=unwrap.doing,
        name=unwrap.name,
    )


def _question_mark(site: Site, call: Node | None) -> Rewrite | None:
    """Return the rewrite to `?`, where the error fits what the function returns."""
    value = receiver_of(call) if call is not None else None
    if call is None or value is None or not fits(site.function, value):
        return None
    return Rewrite(
        "Return the error with '?'", [((value.end_byte, call.end_byte), "?")], safe=False
    )
