"""Permissive CORS policy.

## What it does
Finds `CorsLayer::permissive()`, `very_permissive()`, `Cors::permissive()`, `allow_any_origin()`
and `allow_origin(Any)`.

## Why is this bad?
Any website that a user visits can call the service and read its responses, with the user's
access.

## Example
```rust
let cors = CorsLayer::permissive();
```

Use instead:
```rust
let cors = CorsLayer::new().allow_origin("https://acme.org".parse::<HeaderValue>()?);
```

## References
- CWE-942: Permissive Cross-domain Policy with Untrusted Domains
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.rust.shapes import arguments, call_place, is_qualified


@rule(
    query=nodes(
        "(call_expression) @site",
        names=(
            "permissive",
            "very_permissive",
            "allow_any_origin",
            "allow_origin",
            "send_wildcard",
        ),
        when=is_qualified,
    ),
    category="network_api",
    cwe=(942,),
    confidence=0.7,
    suggestion="List the allowed origins explicitly.",
    severity="medium",
)
def cors_open_to_all(site: Site) -> Iterator[Report]:
    called = called_name(site.node)
    written = text(site.node.child_by_field_name("function"))
    if called in ("permissive", "very_permissive") and "Cors" not in written:
        return
    if called == "allow_origin":
        origin = text(next(iter(arguments(site.node)), None))
        if origin not in ("Any", "cors::Any", '"*"') and not origin.endswith("::Any"):
            return
    if site.item.in_test or in_test(site.node):
        return
    yield Report(
        call_place(site.node),
        "'{called}' allows cross-origin requests from any origin.",
        pattern=called,
        called=called,
    )
