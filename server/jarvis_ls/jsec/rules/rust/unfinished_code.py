"""Unimplemented code left in (todo!).

## What it does
Finds `todo!` and `unimplemented!` outside tests.

## Why is this bad?
Input that reaches this code panics. Unfinished paths are an easy target for denial of service.

## Example
```rust
Command::Rename { .. } => todo!(),
```

Use instead:
```rust
Command::Rename { .. } => Err(Error::Unsupported("rename")),
```

## References
- CWE-248: Uncaught Exception
- CWE-1059: Insufficient Technical Documentation
- Clippy: todo, unimplemented
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.rust.shapes import macro_name, macro_tokens


@rule(
    query=nodes(
        "(macro_invocation) @site",
        names=("todo", "unimplemented"),
    ),
    category="error_handling",
    cwe=(248,),
    confidence=0.5,
    suggestion="Implement the missing code, or return an 'unsupported' error.",
    severity="medium",
)
def unfinished_code(site: Site) -> Iterator[Report]:
    if site.function is None or site.item.in_test or in_test(site.node):
        return
    name = macro_name(site.node)
    explained = text(macro_tokens(site.node)) != "()"
    yield Report(
        site.node,
        "'{macro}!' panics when '{function}' reaches it.",
        confidence=0.4 if explained and name == "unimplemented" else 0.5,
        pattern=f"{name}!",
        macro=name,
        function=site.function.name,
    )
