"""Explicit panic in library code.

## What it does
Finds `panic!` and `unreachable!` outside tests, with a higher score where the function could
return its error.

## Why is this bad?
Callers cannot handle a panic as they handle an error. In a server, input that leads to it is a
denial of service.

## Example
```rust
pub fn mode(name: &str) -> Result<Mode, Error> {
    match name { "r" => Ok(Mode::Read), _ => panic!("unknown mode {name}") }
}
```

Use instead:
```rust
pub fn mode(name: &str) -> Result<Mode, Error> {
    match name { "r" => Ok(Mode::Read), _ => Err(Error::UnknownMode(name.into())) }
}
```

## References
- CWE-248: Uncaught Exception
- CWE-617: Reachable Assertion
- Clippy: panic_in_result_fn
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import attributes, documentation, in_test
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.rust.shapes import is_exported, macro_name, return_type


@rule(
    query=nodes(
        "(macro_invocation) @site",
        names=("panic", "unreachable"),
    ),
    category="error_handling",
    cwe=(248, 617),
    confidence=0.3,
    suggestion="Return an error, or document the condition in a '# Panics' section.",
    severity="low",
)
def explicit_panic(site: Site) -> Iterator[Report]:
    function = site.function
    if function is None or site.item.in_test or is_exported(function) or function.name == "drop":
        return
    if in_test(site.node) or "# Panics" in documentation(function.node):
        return
    name = macro_name(site.node)
    fallible = return_type(function).split("<")[0].endswith(("Result", "Option"))
    confidence = 0.2 if name == "unreachable" else 0.4 if fallible else 0.3
    if "main" in site.unit.facts.defined or "track_caller" in attributes(function.node):
        confidence -= 0.1
    yield Report(
        site.node,
        "'{function}' panics with '{macro}!' instead of returning an error.",
        confidence=confidence,
        pattern=f"{name}!",
        macro=name,
        function=function.name,
    )
