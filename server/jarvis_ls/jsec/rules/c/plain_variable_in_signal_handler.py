"""Non-atomic variable written in a signal handler.

## What it does
Finds global variables that a signal handler writes, that other functions use, and that are
neither `volatile sig_atomic_t` nor atomic.

## Why is this bad?
The compiler may keep the variable in a register, so that the main loop never sees the change. A
variable wider than a machine word may be read half-written.

## Example
```c
static int interrupted;

void on_interrupt(int number) {
    interrupted = 1;
}
```

Use instead:
```c
static volatile sig_atomic_t interrupted;

void on_interrupt(int number) {
    interrupted = 1;
}
```

## References
- CWE-364: Signal Handler Race Condition
- SEI CERT C SIG31-C: Do not access shared objects in signal handlers
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import field
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import WholeUnit
from jarvis_ls.jsec.base.rule import Report, rule, whole_file
from jarvis_ls.jsec.local.c.threads import handlers, shared_variables, writes
from jarvis_ls.jsec.local.constants import declaration

_ATOMIC = re.compile(r"\bvolatile\b.*\bsig_atomic_t\b|\bsig_atomic_t\b.*\bvolatile\b|\b_?[Aa]tomic")
MAX_WRITES = 40
"""Limit of writes examined in each handler."""


@rule(
    query=whole_file("signal(", "signal (", "sigaction", "sigset(", "sa_handler"),
    category="concurrency",
    cwe=(364,),
    confidence=0.55,
    severity="medium",
    suggestion="Declare '{variable}' as volatile sig_atomic_t.",
)
def plain_variable_in_signal_handler(whole: WholeUnit) -> Iterator[Report]:
    shared = {n: t for n, t in shared_variables(whole).items() if "sig_atomic_t" not in t}
    for handler, installed in handlers(whole):
        seen: set[str] = set()
        for name, node in writes(handler, shared)[:MAX_WRITES]:
            if name in seen or _is_atomic_member(handler, node):
                continue
            seen.add(name)
            if not any(f.name != handler.name and f.uses(name) for f in whole.functions):
                continue
            yield Report(
                node,
                "'{variable}' is written in a signal handler but is not volatile sig_atomic_t.",
                confidence=_confidence(shared[name], node),
                pattern=handler.name,
                causes=[(installed, "Signal handler installed here.")],
                variable=name,
            )


def _confidence(declared: str, write: Node) -> float:
    """Return the confidence, highest for a flag: tables and counters are mostly read where the
    signal is blocked. Such a flag works on most machines, so it is hygiene."""
    if "volatile" in declared:
        return 0.4
    target = field(write, "left")
    return 0.55 if target is not None and target.type == "identifier" else 0.5


def _is_atomic_member(handler: Function, node: Node) -> bool:
    """Return whether the target is a member declared volatile sig_atomic_t or atomic."""
    target = field(node, "left") or field(node, "argument")
    if target is None or target.type != "field_expression":
        return False
    declared = declaration(target, handler)
    return declared is not None and _ATOMIC.search(declared.type) is not None
