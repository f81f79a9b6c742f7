"""Cleartext transmission over HTTP, FTP or WebSocket.

## What it does
Finds literal `http://`, `ftp://` and `ws://` addresses given to HTTP clients, except local
addresses and identifiers of documents.

## Why is this bad?
A man in the middle can read and change the traffic: passwords, programs, updates.

## Example
```rust
let update = reqwest::get("http://updates.acme.org/latest").await?;
```

Use instead:
```rust
let update = reqwest::get("https://updates.acme.org/latest").await?;
```

## References
- CWE-319: Cleartext Transmission of Sensitive Information
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, nodes, rule
from jarvis_ls.jsec.local.rust.shapes import arguments, is_qualified, peel
from jarvis_ls.jsec.local.rust.values import literal_text

_PLAIN = re.compile(
    r"(?i)(?:http|ftp|ws)://(?!localhost|127\.|\[?::1|0\.0\.0\.0|10\.|192\.168\.|169\.254\."
    r"|\{|unix|www\.w3\.org|schemas\.|xmlns|example\.)[\w-]+\.[\w.-]+"
)


@rule(
    query=nodes(
        "(call_expression) @site",
        names=(
            "get",
            "post",
            "put",
            "delete",
            "patch",
            "head",
            "request",
            "connect",
            "connect_async",
            "url",
            "download",
            "fetch",
            "from_static",
        ),
        when=is_qualified,
    ),
    category="network_api",
    cwe=(319,),
    confidence=0.65,
    suggestion="Use 'https://' (or 'wss://').",
    severity="medium",
    fixable=True,
)
def cleartext_url(site: Site) -> Iterator[Report]:
    if site.item.in_test or in_test(site.node):
        return
    for argument in arguments(site.node)[:2]:
        node = peel(argument)
        address = literal_text(node)
        if node is None or address is None or not _PLAIN.match(address[:500]):
            continue
        secure = re.sub(r"^(?i:http)://", "https://", re.sub(r"^(?i:ws)://", "wss://", address))
        fix = (
            Rewrite(
                "Use '{secure}'",
                [(node, text(node).replace(address, secure))],
                safe=False,
                secure=secure[:60],
            )
            if secure != address
            else None
        )
        yield Report(
            node,
            "Cleartext connection to '{address}'.",
            pattern="http",
            fix=fix,
            address=address[:60],
        )
