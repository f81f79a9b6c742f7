"""Binding to all network interfaces.

## What it does
Finds `bind` to a literal `0.0.0.0`, `[::]`, `UNSPECIFIED` or `INADDR_ANY`.

## Why is this bad?
A service meant for this machine or one network is reachable from every network of the machine.

## Example
```rust
let listener = TcpListener::bind("0.0.0.0:8080")?;
```

Use instead:
```rust
let listener = TcpListener::bind(("127.0.0.1", 8080))?;
```

## References
- CWE-1327: Binding to an Unrestricted IP Address
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.rust.shapes import arguments, is_qualified, peel

_EVERYWHERE = re.compile(r'"(?:0\.0\.0\.0|\[::\])(?::(\d+))?"|\bUNSPECIFIED\b|\bINADDR_ANY\b')


@rule(
    query=nodes(
        "(call_expression) @site",
        names=("bind", "listen", "try_bind"),
        when=is_qualified,
    ),
    category="network_api",
    cwe=(1327,),
    confidence=0.6,
    suggestion="Bind to the required address only, and make it configurable.",
    severity="medium",
)
def listening_on_all_interfaces(site: Site) -> Iterator[Report]:
    if site.item.in_test or in_test(site.node):
        return
    called = text(site.node.child_by_field_name("function"))
    for argument in arguments(site.node)[:2]:
        node = peel(argument)
        if node is not None and node.type == "identifier" and site.function is not None:
            variable = site.function.variable(text(node), node.start_byte)
            node = variable.initial if variable is not None else None
        match = _EVERYWHERE.search(text(node)[:300])
        if match is None or match[1] == "0":
            continue
        udp = "Udp" in called
        yield Report(
            site.node,
            "Binding to '{address}' exposes the service on all network interfaces.",
            confidence=0.4 if udp else 0.6,
            pattern="bind",
            address=match[0].strip('"'),
        )
        return
