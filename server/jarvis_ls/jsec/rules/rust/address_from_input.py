"""Server-side request forgery or open redirect through untrusted input.

## What it does
Finds HTTP requests, connections and redirects whose address comes from a request, the command
line or text that is read.

## Why is this bad?
With a chosen address the server sends requests to hosts that only it can reach (SSRF), and a
redirect sends its visitors to a phishing site.

## Example
```rust
let page = reqwest::get(request.param("url")).await?;
```

Use instead:
```rust
let url = allowed.get(request.param("page")).ok_or(Error::UnknownPage)?;
let page = reqwest::get(url).await?;
```

## References
- CWE-918: Server-Side Request Forgery (SSRF)
- CWE-601: URL Redirection to Untrusted Site ('Open Redirect')
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.rust.guards import is_tested
from jarvis_ls.jsec.local.rust.shapes import arguments, is_qualified, path_of
from jarvis_ls.jsec.local.rust.values import is_literal, origin

_REDIRECTS = ("Redirect::to", "Redirect::temporary", "Redirect::permanent", "Redirect::found")
_REQUESTS = (
    "reqwest::get",
    "blocking::get",
    "ureq::get",
    "ureq::post",
    "minreq::get",
    "surf::get",
    "attohttpc::get",
    "isahc::get",
    "TcpStream::connect",
)
_CONFIDENCE = {
    "the command line": 0.4,
    "the environment": 0.3,
    "parsed text": 0.0,
    "decoded bytes": 0.0,
}


@rule(
    query=nodes(
        "(call_expression) @site",
        names=("get", "post", "connect", "to", "temporary", "permanent", "found"),
        when=is_qualified,
    ),
    category="input_validation",
    cwe=(918, 601),
    confidence=0.7,
    suggestion="Choose the address from an allowlist, or validate its host first.",
)
def address_from_input(site: Site) -> Iterator[Report]:
    path = path_of(text(site.node.child_by_field_name("function")), site.unit)
    args = arguments(site.node)
    if not path.endswith((*_REDIRECTS, *_REQUESTS)) or not args or site.item.in_test:
        return
    if is_literal(args[0], site.function, site.unit):
        return
    source = origin(args[0], site.function)
    confidence = _CONFIDENCE.get(source, 0.7) if source else 0.0
    if not confidence or is_tested(site.function, args[0], site.node.start_byte):
        return
    if in_test(site.node):
        return
    yield Report(
        site.node,
        "Untrusted input from {source} is used as the address '{address}'.",
        confidence=confidence,
        pattern=path,
        address=" ".join(text(args[0])[:60].split()),
        source=source,
    )
