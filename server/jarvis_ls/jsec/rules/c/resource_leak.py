"""Resource leak.

## What it does
Follows a local `FILE *`, directory stream, pipe, socket or file descriptor and reports a
`return`, or the end of its scope, that is reached while it is neither closed nor returned, stored
or passed to a function that may keep it. `main` is left out.

## Why is this bad?
The number of open files of a process is limited. If each failed request leaks a descriptor, the
program soon cannot open files or accept connections.

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

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, calls, flow, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.allocation import OPENING
from jarvis_ls.jsec.local.c.next_use import overwritten
from jarvis_ls.jsec.local.c.proof import pick_template

_REOPENED = 0.4
"""Confidence of a stream that is opened anew: mostly a standard stream, open until the end."""


@rule(
    query=flow("resource-leak", guess=calls(*OPENING)),
    category="resource_leak",
    cwe=(772, 775, 404),
    confidence=0.78,
    severity="medium",
    suggestion="Close '{handle}' on this path.",
)
def resource_leak(call: Call) -> Iterator[Report]:
    lost = overwritten(call)
    if lost is not None:
        yield Report(
            lost,
            "'{handle}', opened by {function}(), is not closed on this path.",
            pattern=call.name,
            handle=text(call.target),
            function=call.name,
            causes=[(call.node, "Opened here.")],
        )


@on_fault(resource_leak)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        pick_template(
            fault,
            "Resource opened by {allocator} leaks on this path.",
            "Resource leaks on this path.",
        ),
        cwe=(404, 772, 775),
        confidence=_REOPENED if _is_opened_anew(fault) else None,
        suggestion="Close the resource on this path.",
    )


def _is_opened_anew(fault: Fault) -> bool:
    """Return whether `freopen` opened what leaks."""
    return any(value.startswith("freopen") for step in fault.steps[:1] for _, value in step.args)
