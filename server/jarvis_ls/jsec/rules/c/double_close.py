"""A file or descriptor is closed twice.

## What it does
Follows each `FILE *`, directory stream or descriptor through functions and files, and reports a
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

from jarvis_ls.codeintel.code import Call, text
from jarvis_ls.jsec.c.allocation import CLOSING
from jarvis_ls.jsec.c.nearby import use_after
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, calls, flow, rule


@rule(
    query=flow("double-close", guess=calls(*CLOSING)),
    category="resource_leak",
    cwe=(1341, 675),
    confidence=0.85,
    suggestion="Close '{handle}' in one place only.",
)
def double_close(first: Call | Fault) -> Iterator[Report]:
    if isinstance(first, Fault):
        yield Report(
            first,
            told(
                first,
                "'{name}' is closed a second time.",
                "What was closed already is closed again.",
            ),
            suggestion="Close it in one place only.",
        )
        return
    again = use_after(first)
    if again is not None and again.does == "release" and again.by in CLOSING:
        yield Report(
            again.node,
            "'{handle}' is closed again.",
            confidence=0.85 if again.certain else 0.55,
            pattern=first.name,
            handle=text(first.arg(0)),
            causes=[(first.node, "First closed here.")],
        )
