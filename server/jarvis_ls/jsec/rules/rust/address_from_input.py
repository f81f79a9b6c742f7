"""Input decides which server is asked or where a browser is sent.

## What it does
Finds HTTP requests, connections and redirects whose address comes from a request, the command
line or text that is read.

## Why is this bad?
The server can be made to ask machines that only it can reach, or to send its visitors to a copy
of itself.

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

from jarvis_ls.codeintel.code import text
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.jsec.rule import Report, nodes, rule
from jarvis_ls.jsec.rust.guards import tested
from jarvis_ls.jsec.rust.shapes import arguments, is_qualified, path_of
from jarvis_ls.jsec.rust.values import is_literal, origin
from jarvis_ls.jsec.site import Site

_REDIRECTS = ("Redirect::to", "Redirect::temporary", "Redirect::permanent", "Redirect::found")
_REQUESTS = ("reqwest::get", "blocking::get", "ureq::get", "ureq::post", "minreq::get",
             "surf::get", "attohttpc::get", "isahc::get", "TcpStream::connect")  # fmt: skip
_CONFIDENCE = {"the command line": 0.4, "the environment": 0.3, "parsed text": 0.0,
               "bytes that are read": 0.0}  # fmt: skip


@rule(
    query=nodes(
        "(call_expression) @site",
        names=("get", "post", "connect", "to", "temporary", "permanent", "found"),
        when=is_qualified,
    ),
    category="input_validation",
    cwe=(918, 601),
    confidence=0.7,
    suggestion="Choose the address from a list, or test its host first.",
)
def address_from_input(site: Site) -> Iterator[Report]:
    path = path_of(text(site.node.child_by_field_name("function")), site.unit)
    given = arguments(site.node)
    if not path.endswith((*_REDIRECTS, *_REQUESTS)) or not given or site.item.in_test:
        return
    if is_literal(given[0], site.function, site.unit):
        return
    source = origin(given[0], site.function)
    confidence = _CONFIDENCE.get(source, 0.7) if source else 0.0
    if not confidence or tested(site.function, given[0], site.node.start_byte):
        return
    if in_test(site.node):
        return
    yield Report(
        site.node,
        "The address '{address}' comes from {source}.",
        confidence=confidence,
        pattern=path,
        address=" ".join(text(given[0])[:60].split()),
        source=source,
    )
