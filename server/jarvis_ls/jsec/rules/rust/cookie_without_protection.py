"""Cookie without the Secure or HttpOnly attribute.

## What it does
Finds `.secure(false)`, `.http_only(false)`, `set_secure(false)`, `with_secure(false)` and
`cookie_secure(false)` on cookies and sessions.

## Why is this bad?
A session cookie sent in cleartext can be sniffed; one that scripts can read can be stolen by
cross-site scripting.

## Example
```rust
Cookie::build(("session", id)).secure(false).http_only(false)
```

Use instead:
```rust
Cookie::build(("session", id)).secure(true).http_only(true)
```

## References
- CWE-614: Sensitive Cookie in HTTPS Session Without 'Secure' Attribute
- CWE-1004: Sensitive Cookie Without 'HttpOnly' Flag
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, Rewrite, methods, rule
from jarvis_ls.jsec.local.rust.shapes import call_place


@rule(
    query=methods(
        "secure",
        "http_only",
        "set_secure",
        "set_http_only",
        "with_secure",
        "with_http_only",
        "cookie_secure",
        "cookie_http_only",
    ),
    category="network_api",
    cwe=(614, 1004),
    confidence=0.75,
    suggestion="Set both Secure and HttpOnly.",
    severity="medium",
    fixable=True,
)
def cookie_without_protection(call: Call) -> Iterator[Report]:
    flag = call.arg(0)
    if flag is None or text(flag) not in ("false", "Some(false)") or in_test(call.node):
        return
    yield Report(
        call_place(call.node),
        "'{flag}' removes a protection attribute of the cookie.",
        pattern=call.name,
        fix=Rewrite(
            "Enable the attribute", [(flag, text(flag).replace("false", "true"))], safe=False
        ),
        flag=f"{call.name}(false)",
    )
