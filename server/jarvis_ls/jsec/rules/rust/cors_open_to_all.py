"""Pages of every origin may call the service.

## What it does
Finds `CorsLayer::permissive()`, `very_permissive()`, `Cors::permissive()`, `allow_any_origin()` and
`allow_origin(Any)`.

## Why is this bad?
Any page that a user visits can then call the service in the user's name and read the answers.

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

from jarvis_ls.codeintel.code import called_name, text
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.jsec.rule import Report, nodes, rule
from jarvis_ls.jsec.rust.shapes import arguments, call_place, is_qualified
from jarvis_ls.jsec.site import Site


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
    suggestion="Name the origins that may call.",
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
        "'{called}' lets every page call this service.",
        pattern=called,
        called=called,
    )
