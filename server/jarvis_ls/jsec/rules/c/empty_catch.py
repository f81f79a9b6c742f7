"""An exception is caught and forgotten.

## What it does
Finds `catch` blocks with nothing in them. One with a comment that says why is a hint only.

## Why is this bad?
The failure leaves no trace, and the program goes on with what the failed step left half done.

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

from jarvis_ls.codeintel.code import field, text
from jarvis_ls.jsec.rule import Report, nodes, rule
from jarvis_ls.jsec.site import Site


@rule(
    query=nodes(cpp="(catch_clause) @site"),
    category="error_handling",
    cwe=(390, 1069),
    confidence=0.65,
    severity="medium",
    suggestion="Handle the exception, pass it on, or say in a comment why nothing is to be done.",
    only="cpp",
)
def empty_catch(site: Site) -> Iterator[Report]:
    body = field(site.node, "body")
    if body is None or any(c.type != "comment" for c in body.named_children):
        return
    parameters = text(field(site.node, "parameters")) or "(...)"
    yield Report(
        site.node,
        "'catch {what}' throws the failure away.",
        confidence=0.4 if body.named_child_count else _confidence(parameters),
        pattern="catch",
        what=parameters,
    )


def _confidence(caught: str) -> float:
    """Who names one kind of exception has thought of it; who takes all may lose any."""
    return 0.65 if "..." in caught or re.search(r"\bexception\b", caught) else 0.5
