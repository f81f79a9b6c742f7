"""Missing null check on an opened stream.

## What it does
Examines the statements that always follow `fopen`, `fdopen`, `tmpfile`, `popen` and `opendir`,
and reports a use of the result before a null check. With flow analysis, `unchecked-allocation`
reports it.

## Why is this bad?
Opening fails for everyday reasons: no such file, no permission, no descriptor left. The stream
functions dereference their argument, so the program crashes on NULL.

## Example
```c
FILE *file = fopen(path, "r");
fgets(line, sizeof line, file);
```

Use instead:
```c
FILE *file = fopen(path, "r");
if (file == NULL) {
    perror(path);
    return -1;
}
fgets(line, sizeof line, file);
```

## References
- CWE-690: Unchecked Return Value to NULL Pointer Dereference
- CWE-252: Unchecked Return Value
- SEI CERT C ERR33-C: Detect and handle standard library errors
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.jsec.base.rule import Report, calls, flow_verdicts, rule
from jarvis_ls.jsec.local.c.allocation import ACQUIRES, OPENING
from jarvis_ls.jsec.local.c.reports import used_untested

_STREAMS = sorted(name for name in OPENING if ACQUIRES[name].resource != "descriptor")


@rule(
    query=calls(*_STREAMS),
    category="error_handling",
    cwe=(690, 252, 476),
    confidence=0.55,
    suggestion="Check the return value of {function}() for NULL before using it.",
    fixable=True,
)
@flow_verdicts(faults=("unchecked-allocation", "null-dereference"))
def unchecked_open_result(call: Call) -> Iterator[Report]:
    yield from used_untested(
        call,
        "'{pointer}' is used without a null check although {function}() may return NULL.",
        "Opened here.",
    )
