"""A stream is used after it was closed.

## What it does
Follows each `FILE *` and directory stream through functions and files, and reports a use that
can be reached after `fclose`, `pclose` or `closedir` without it being opened again.

## Why is this bad?
What closes a stream frees it, so the use reads freed memory.

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

from jarvis_ls.codeintel.code import Call
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.c.reports import used_after
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, calls, flow, rule


@rule(
    query=flow("use-after-close", guess=calls("fclose", "pclose", "_pclose", "closedir")),
    category="resource_leak",
    cwe=(416, 672, 910),
    confidence=0.85,
    suggestion="Close '{handle}' after its last use.",
)
def use_after_close(closing: Call | Fault) -> Iterator[Report]:
    if isinstance(closing, Fault):
        yield Report(
            closing,
            told(
                closing,
                "'{name}' is used after it was closed.",
                "A stream is used after it was closed.",
            ),
            suggestion="Close it after its last use.",
        )
        return
    yield from used_after(closing)
