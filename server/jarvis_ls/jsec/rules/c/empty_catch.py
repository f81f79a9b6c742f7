"""Empty catch block.

## What it does
Finds `catch` blocks without statements. Confidence is lower where a comment gives a reason.

## Why is this bad?
The error goes undetected, and the program continues with the partial result of the failed
operation.

## Example
```cpp
try {
    save(document);
} catch (...) {
}
```

Use instead:
```cpp
try {
    save(document);
} catch (const std::exception &error) {
    log(error.what());
    throw;
}
```

## References
- CWE-390: Detection of Error Condition Without Action
- CWE-1069: Empty Exception Block
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule


@rule(
    query=nodes(cpp="(catch_clause) @site"),
    category="error_handling",
    cwe=(390, 1069),
    confidence=0.5,
    severity="medium",
    suggestion="Handle or rethrow the exception, or give the reason in a comment.",
    only="cpp",
)
def empty_catch(site: Site) -> Iterator[Report]:
    body = field(site.node, "body")
    if body is None or any(c.type != "comment" for c in body.named_children):
        return
    parameters = text(field(site.node, "parameters")) or "(...)"
    yield Report(
        site.node,
        "Empty 'catch {what}' discards the exception.",
        confidence=0.3 if body.named_child_count else _confidence(parameters),
        pattern="catch",
        what=parameters,
    )


def _confidence(caught: str) -> float:
    """Return a higher confidence for a handler of all exceptions than for one of a type."""
    return 0.5 if "..." in caught or re.search(r"\bexception\b", caught) else 0.45
