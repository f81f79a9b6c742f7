"""Double close of a file or descriptor.

## What it does
Follows each `FILE *`, directory stream or descriptor through functions and files, and reports a
second close that is reachable without it being opened again.

## Why is this bad?
`fclose` frees the stream, so closing it again is a double free. A descriptor number may have been
reused for another file or socket, which the second `close` then closes.

## Example
```c
if (read_header(file) < 0)
    fclose(file);
fclose(file);
```

Use instead:
```c
int failed = read_header(file) < 0;
fclose(file);
```

## References
- CWE-1341: Multiple Releases of Same Resource or Handle
- CWE-675: Multiple Operations on Resource in Single-Operation Context
- SEI CERT C FIO46-C: Do not access a closed file
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, calls, flow, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.allocation import CLOSING
from jarvis_ls.jsec.local.c.next_use import use_after
from jarvis_ls.jsec.local.c.proof import pick_template


@rule(
    query=flow("double-close", guess=calls(*CLOSING)),
    category="resource_leak",
    cwe=(1341, 675),
    confidence=0.85,
    suggestion="Close '{handle}' in one place only.",
)
def double_close(first: Call) -> Iterator[Report]:
    again = use_after(first)
    if again is not None and again.does == "release" and again.by in CLOSING:
        yield Report(
            again.node,
            "'{handle}' is closed twice.",
            confidence=0.85 if again.certain else 0.55,
            pattern=first.name,
            handle=text(first.arg(0)),
            causes=[(first.node, "First closed here.")],
        )


@on_fault(double_close)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        pick_template(
            fault,
            "'{name}' is closed twice.",
            "File or descriptor is closed twice.",
        ),
        suggestion="Close it in one place only.",
    )
