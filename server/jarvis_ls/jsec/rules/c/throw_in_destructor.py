"""Exception thrown from a destructor.

## What it does
Reports `throw` in a destructor that no `try` block of the destructor catches.

## Why is this bad?
Destructors are `noexcept` unless declared `noexcept(false)`: an exception that escapes calls
`std::terminate`. Even with that declaration the program terminates when the destructor runs
during stack unwinding. An attacker who can trigger the failure causes a denial of service.

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

from jarvis_ls.codeintel.nodes import ancestors, field, text
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule


@rule(
    query=nodes(cpp="(throw_statement) @site"),
    category="error_handling",
    cwe=(248, 703),
    confidence=0.85,
    only="cpp",
    suggestion="Log the failure, or provide a close() that callers can use before destruction.",
)
def throw_in_destructor(site: Site) -> Iterator[Report]:
    function = site.function
    if function is None or not function.name.rpartition("::")[2].startswith("~"):
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
        "Exception escapes the destructor '{name}'.",
        confidence=0.65 if allowed else 0.85,
        pattern="throw",
        name=function.name,
    )
