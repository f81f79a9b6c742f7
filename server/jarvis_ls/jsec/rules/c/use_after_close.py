"""Use of a stream after close.

## What it does
Follows each `FILE *` and directory stream through functions and files, and reports a use that is
reachable after `fclose`, `pclose` or `closedir` without reopening it.

## Why is this bad?
Closing a stream frees it, so this is a use after free.

## Example
```c
fclose(log);
fprintf(log, "done\n");
```

Use instead:
```c
fprintf(log, "done\n");
fclose(log);
```

## References
- CWE-672: Operation on a Resource after Expiration or Release
- CWE-416: Use After Free
- CWE-910: Use of Expired File Descriptor
- SEI CERT C FIO46-C: Do not access a closed file
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.jsec.base.rule import Report, calls, flow, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.proof import pick_template
from jarvis_ls.jsec.local.c.reports import used_after


@rule(
    query=flow("use-after-close", guess=calls("fclose", "pclose", "_pclose", "closedir")),
    category="resource_leak",
    cwe=(416, 672, 910),
    confidence=0.85,
    suggestion="Close '{handle}' after its last use.",
)
def use_after_close(closing: Call) -> Iterator[Report]:
    yield from used_after(closing)


@on_fault(use_after_close)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        pick_template(
            fault,
            "'{name}' is used after it was closed.",
            "Stream is used after it was closed.",
        ),
        suggestion="Close the stream after its last use.",
    )
