"""An opened file or descriptor is not closed on every way out.

## What it does
Follows a local `FILE *`, directory stream, pipe, socket or descriptor and reports a `return`, or
the end of its block, that is reached while it is neither closed nor returned, stored or handed
to a function that may keep it. `main` is left out.

## Why is this bad?
A process may open only so many. When each failed request leaves one open, soon no file can be
opened and no connection accepted.

## Example
```c
int fd = open(path, O_RDONLY);
if (fd < 0)
    return -1;
if (read(fd, header, sizeof header) < 0)
    return -1;
close(fd);
```

Use instead:
```c
int fd = open(path, O_RDONLY);
if (fd < 0)
    return -1;
if (read(fd, header, sizeof header) < 0) {
    close(fd);
    return -1;
}
close(fd);
```

## References
- CWE-772: Missing Release of Resource after Effective Lifetime
- CWE-775: Missing Release of File Descriptor or Handle after Effective Lifetime
- CWE-404: Improper Resource Shutdown or Release
- SEI CERT C FIO42-C: Close files when they are no longer needed
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, text
from jarvis_ls.jsec.c.allocation import OPENING
from jarvis_ls.jsec.c.nearby import overwritten
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, calls, flow, rule


@rule(
    query=flow("resource-leak", guess=calls(*OPENING)),
    category="resource_leak",
    cwe=(772, 775, 404),
    confidence=0.78,
    severity="medium",
    suggestion="Close '{handle}' before leaving here.",
)
def resource_leak(call: Call | Fault) -> Iterator[Report]:
    if isinstance(call, Fault):
        yield Report(
            call,
            told(
                call,
                "What {allocator} opened is not closed on this way.",
                "What was opened is not closed on this way.",
            ),
            cwe=(404, 772, 775),
            suggestion="Close it before leaving here.",
        )
        return
    lost = overwritten(call)
    if lost is not None:
        yield Report(
            lost,
            "'{handle}', opened by {function}(), is not closed on this way.",
            pattern=call.name,
            handle=text(call.target),
            function=call.name,
            causes=[(call.node, "Opened here.")],
        )
