"""Use of vfork.

## What it does
Finds calls of `vfork`.

## Why is this bad?
Until the child calls `_exit` or an `exec` function, it runs on the stack and variables of its
parent. A return, a library call or a modified variable corrupts the parent, and so does a signal
handler that runs in the child.

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

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import field
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, rule


@rule(
    query=calls("vfork"),
    category="unsafe_api",
    cwe=(242,),
    confidence=0.5,
    severity="medium",
    suggestion="Use 'fork', or 'posix_spawn' where performance matters.",
    fixable=True,
)
def vfork_child_shares_memory(call: Call) -> Iterator[Report]:
    callee = field(call.node, "function")
    fix = None
    if callee is not None and call.written == "vfork":
        fix = Rewrite("Use fork", [(callee, "fork")])
    yield Report(
        call.node,
        "'vfork' lets the child process modify the memory of its parent.",
        pattern="vfork",
        fix=fix,
    )
