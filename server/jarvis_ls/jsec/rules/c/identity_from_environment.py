"""Identity derived from an environment variable.

## What it does
Finds `getenv` of USER, LOGNAME and the like, and `getlogin`, whose result is compared with a name.

## Why is this bad?
The caller of a program controls its environment; `getlogin` returns the owner of the terminal, not
the user of the process. Neither authenticates a user.

## Example
```c
if (strcmp(getenv("USER"), "root") == 0)
    allow();
```

Use instead:
```c
if (geteuid() == 0)
    allow();
```

## References
- CWE-807: Reliance on Untrusted Inputs in a Security Decision
- CWE-290: Authentication Bypass by Spoofing
- CWE-558: Use of getlogin() in Multithreaded Application
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, call_at
from jarvis_ls.codeintel.nodes import bare, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.c.reaching_definitions import reaching
from jarvis_ls.jsec.local.constants import string_literal

_NAMES = frozenset(
    {"USER", "LOGNAME", "USERNAME", "SUDO_USER", "SUDO_UID", "UID", "EUID", "REMOTE_USER"}
)

_SOURCES = frozenset({"getlogin", "cuserid", "getenv", "secure_getenv"})


@rule(
    query=calls("strcmp", "strncmp", "strcasecmp", "strncasecmp", "wcscmp", "stricmp", "_stricmp"),
    category="input_validation",
    cwe=(807, 290, 558),
    confidence=0.5,
    suggestion="Use geteuid, getpwuid(geteuid()) or the peer credentials of the socket.",
)
def identity_from_environment(call: Call) -> Iterator[Report]:
    if call.function is not None and not call.function.mentions(_SOURCES):
        return
    for argument in call.arguments[:2]:
        source = _identity(call, argument)
        if source is None:
            continue
        yield Report(
            call.node,
            "'{call}' compares {source}, which the caller of the program controls.",
            confidence=0.4 if source == "getlogin()" else None,
            pattern=call.name,
            call=call.name,
            source=source,
        )
        return


def _identity(call: Call, argument: Node) -> str | None:
    """Return the source of the user name in an argument; None when there is none."""
    node = bare(argument)
    if node.type == "identifier" and call.function is not None:
        values = [w.value for w in reaching(call.function, text(node), node.start_byte) or ()]
        node = next((bare(v) for v in values if v is not None), node)
    if node.type != "call_expression":
        return None
    origin = call_at(call.unit, call.item, node, call.function)
    if origin is None:
        return None
    if origin.name in ("getlogin", "cuserid"):
        return "getlogin()"
    name = string_literal(origin.arg(0), call.function)
    if origin.name in ("getenv", "secure_getenv") and name in _NAMES:
        return f'getenv("{name}")'
    return None
