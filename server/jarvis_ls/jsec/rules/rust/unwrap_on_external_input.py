"""What comes from outside is unwrapped, so bad input stops the program.

## What it does
Finds `unwrap` and `expect` of results that depend on the world outside: parsing, decoding,
files, sockets, the environment, command line arguments; inside macros too.

## Why is this bad?
Whoever controls the input chooses when the program panics. In a server that is a denial of
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

from jarvis_ls.codeintel.code import ancestors
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.rule import Report, Rewrite, nodes, rule
from jarvis_ls.jsec.rust.panics import UNWRAPS, unwrap_at
from jarvis_ls.jsec.rust.shapes import receiver_of, return_type
from jarvis_ls.jsec.site import Site


@rule(
    query=nodes(UNWRAPS),
    category="error_handling",
    cwe=(248, 754),
    confidence=0.65,
    suggestion="Return the error with '?' or handle it.",
    severity="medium",
    fixable=True,
    answered=("unwrap-none",),
    cleared="unwrap",
)
def unwrap_on_external_input(site: Site) -> Iterator[Report]:
    if site.item.in_test or site.function is None:
        return
    found = unwrap_at(site.node, site.function, site.unit)
    if found is None or found.kind != "external":
        return
    confidence = 0.65 if found.name == "unwrap" else 0.55
    if "main" in site.unit.facts.defined:
        confidence -= 0.15
    yield Report(
        found.place,
        "When {doing} fails, '{name}' panics.",
        confidence=confidence,
        pattern=found.name,
        fix=_question_mark(site, found.call),
        doing=found.doing,
        name=found.name,
    )


def _question_mark(site: Site, call: Node | None) -> Rewrite | None:
    """`?` in place of the unwrap, where the function returns a Result; the error types may not
    fit, so the rewrite is not safe."""
    value = receiver_of(call) if call is not None else None
    if call is None or value is None or "Result" not in return_type(site.function):
        return None
    for outer in ancestors(call):
        if outer.type in ("closure_expression", "async_block"):
            return None
        if outer.type == "function_item":
            break
    return Rewrite("Return the error with '?'", [((value.end_byte, call.end_byte), "?")],
                   safe=False)  # fmt: skip
