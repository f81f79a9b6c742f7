"""Who somebody is, is taken from the environment.

## What it does
Finds `getenv` of USER, LOGNAME and the like, and `getlogin`, whose result is compared with a name.

## Why is this bad?
Environment variables are set by whoever starts the program; `getlogin` tells who owns the
terminal, not who runs the program. Neither proves an identity.

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

from jarvis_ls.codeintel.code import Call, bare, call_at, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.reaching import reaching
from jarvis_ls.jsec.constants import string_literal
from jarvis_ls.jsec.rule import Report, calls, rule

_NAMES = frozenset({"USER", "LOGNAME", "USERNAME", "SUDO_USER", "SUDO_UID", "UID", "EUID",
                    "REMOTE_USER"})  # fmt: skip

_ASKING = frozenset({"getlogin", "cuserid", "getenv", "secure_getenv"})


@rule(
    query=calls("strcmp", "strncmp", "strcasecmp", "strncasecmp", "wcscmp", "stricmp", "_stricmp"),
    category="input_validation",
    cwe=(807, 290, 558),
    confidence=0.75,
    suggestion="Ask the system: geteuid, getpwuid of it, or the credentials of the socket.",
)
def identity_from_environment(call: Call) -> Iterator[Report]:
    if call.function is not None and not call.function.mentions(_ASKING):
        return
    for argument in call.arguments[:2]:
        source = _identity(call, argument)
        if source is None:
            continue
        yield Report(
            call.node,
            "'{call}' decides by {source}, which whoever starts the program may set.",
            confidence=0.5 if source == "getlogin()" else None,
            pattern=call.name,
            call=call.name,
            source=source,
        )
        return


def _identity(call: Call, argument: Node) -> str | None:
    """What names the user, when the argument comes from that."""
    node = bare(argument)
    if node.type == "identifier" and call.function is not None:
        values = [w.value for w in reaching(call.function, text(node), node.start_byte) or ()]
        node = next((bare(v) for v in values if v is not None), node)
    if node.type != "call_expression":
        return None
    asked = call_at(call.unit, call.item, node, call.function)
    if asked is None:
        return None
    if asked.name in ("getlogin", "cuserid"):
        return "getlogin()"
    name = string_literal(asked.arg(0), call.function)
    if asked.name in ("getenv", "secure_getenv") and name in _NAMES:
        return f"the variable {name}"
    return None
