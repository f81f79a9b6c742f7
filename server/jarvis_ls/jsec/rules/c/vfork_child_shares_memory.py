"""vfork lets the child run on the memory of its parent.

## What it does
Finds calls of `vfork`.

## Why is this bad?
Until it calls `_exit` or one of the `exec` functions, the child works on the parent's stack and
variables. A return, a library call or a changed variable damages the parent, and a signal handler
that runs in the child does too.

## Example
```c
pid_t child = vfork();
if (child == 0)
    run_child();
```

Use instead:
```c
pid_t child = fork();
if (child == 0)
    run_child();
```

## References
- CWE-242: Use of Inherently Dangerous Function
- SEI CERT C POS33-C: Do not use vfork()
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, field
from jarvis_ls.jsec.rule import Report, Rewrite, calls, rule


@rule(
    query=calls("vfork"),
    category="unsafe_api",
    cwe=(242,),
    confidence=0.5,
    severity="medium",
    suggestion="Use 'fork', or 'posix_spawn' where speed matters.",
    fixable=True,
)
def vfork_child_shares_memory(call: Call) -> Iterator[Report]:
    callee = field(call.node, "function")
    fix = None
    if callee is not None and call.written == "vfork":
        fix = Rewrite("Use fork", [(callee, "fork")])
    yield Report(call.node, "The child of 'vfork' runs on the memory of its parent.",
                 pattern="vfork", fix=fix)  # fmt: skip
