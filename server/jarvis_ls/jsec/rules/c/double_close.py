"""A file or descriptor is closed twice.

## What it does
Follows each local `FILE *`, directory stream or descriptor through its function and reports a
second close that can be reached without it being opened again.

## Why is this bad?
`fclose` frees the stream, so closing it again is a double free. A descriptor number may belong
to another file or socket by the time of the second `close`, and that one is then closed.

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

from jarvis_ls.codeintel.code import Function
from jarvis_ls.jsec.c.lifecycle import faults_of
from jarvis_ls.jsec.rule import Report, functions, rule


@rule(
    query=functions(
        calling=("fclose", "close", "closedir", "pclose", "_close", "closesocket", "_pclose")
    ),
    category="resource_leak",
    cwe=(1341, 675),
    confidence=0.85,
    suggestion="Close '{handle}' in one place only.",
)
def double_close(function: Function) -> Iterator[Report]:
    for fault in faults_of(function, "double-release"):
        if fault.family == "memory":
            continue
        yield Report(
            fault.node,
            "'{handle}' is closed again.",
            confidence=0.85 if fault.certain else 0.55,
            pattern=fault.detail,
            handle=fault.name,
            related=[(fault.origin, "First closed here.")] if fault.origin is not None else (),
        )
