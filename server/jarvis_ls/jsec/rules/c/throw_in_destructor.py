"""A destructor throws.

## What it does
Reports `throw` in a destructor when no `try` of the destructor itself catches it.

## Why is this bad?
Destructors do not let exceptions out unless declared `noexcept(false)`: the program ends. Even
with that declaration it ends when the destructor runs because of another exception. Whoever can
provoke the failure can stop the service.

## Example
```cpp
File::~File()
{
    if (close(fd) != 0)
        throw std::runtime_error("close");
}
```

Use instead:
```cpp
File::~File()
{
    if (close(fd) != 0)
        log_error("close");
}
```

## References
- CWE-248: Uncaught Exception
- CWE-703: Improper Check or Handling of Exceptional Conditions
- SEI CERT C++ DCL57-CPP: Do not let exceptions escape from destructors or deallocation functions
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import ancestors, field, text
from jarvis_ls.jsec.rule import Report, nodes, rule
from jarvis_ls.jsec.site import Site


@rule(
    query=nodes(cpp="(throw_statement) @site"),
    category="error_handling",
    cwe=(248, 703),
    confidence=0.85,
    only="cpp",
    suggestion="Record the failure, or offer a close() that callers can use before.",
)
def throw_in_destructor(site: Site) -> Iterator[Report]:
    function = site.function
    if function is None or "~" not in function.name:
        return
    for outer in ancestors(site.node, function.node):
        if outer.type == "lambda_expression":
            return
        if outer.type == "try_statement":
            body = field(outer, "body")
            if body is not None and body.start_byte <= site.node.start_byte < body.end_byte:
                return
    allowed = "noexcept(false)" in text(function.declarator).replace(" ", "")
    yield Report(
        site.node,
        "An exception leaves the destructor '{name}'.",
        confidence=0.65 if allowed else 0.85,
        pattern="throw",
        name=function.name,
    )
