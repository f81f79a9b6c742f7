"""A stream is used without testing whether it was opened.

## What it does
Follows the result of `fopen`, `fdopen`, `tmpfile`, `popen` and `opendir` and reports the first
use that can be reached before a test for NULL.

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

from jarvis_ls.codeintel.code import Call, text
from jarvis_ls.jsec.c.allocation import ACQUIRES, OPENING
from jarvis_ls.jsec.c.nearby import use_before_test
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
    use = use_before_test(call)
    if use is not None:
        yield Report(
            use,
            "'{stream}' is used without a test whether {function}() could open it.",
            pattern=call.name,
            stream=text(call.target) or call.name,
            function=call.name,
            related=[(call.node, "Opened here.")] if use != call.node else (),
        )
