"""A stream is used without testing whether it was opened.

## What it does
Looks at the statements that always come behind `fopen`, `fdopen`, `tmpfile`, `popen` and
`opendir`, and reports a use of the result that comes before a test for NULL. Where values are
followed through the program, `unchecked-allocation` tells of it.

## Why is this bad?
Opening fails for everyday reasons: no such file, no permission, no descriptor left. The stream
functions dereference what they are given, so the program crashes on NULL.

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

from jarvis_ls.codeintel.code import Call
from jarvis_ls.jsec.c.allocation import ACQUIRES, OPENING
from jarvis_ls.jsec.c.reports import used_untested
from jarvis_ls.jsec.rule import Report, calls, rule

_STREAMS = sorted(name for name in OPENING if ACQUIRES[name].resource != "descriptor")


@rule(
    query=calls(*_STREAMS),
    category="error_handling",
    cwe=(690, 252, 476),
    confidence=0.85,
    suggestion="Test the result of {function}() for NULL before using it.",
    answered=("unchecked-allocation", "null-dereference"),
)
def unchecked_open_result(call: Call) -> Iterator[Report]:
    yield from used_untested(
        call, "'{pointer}' is used without a test whether {function}() could open it.",
        "Opened here.",
    )  # fmt: skip
