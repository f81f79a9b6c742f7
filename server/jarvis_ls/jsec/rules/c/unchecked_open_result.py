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

from jarvis_ls.codeintel.code import Function, bare
from jarvis_ls.jsec.c.allocation import ACQUIRES, DEREFERENCES, called_name
from jarvis_ls.jsec.c.happenings import calls_by_node
from jarvis_ls.jsec.c.lifecycle import faults_of, first_of_each
from jarvis_ls.jsec.rule import Report, functions, rule

_MESSAGE = "'{stream}' is used without a test whether {function}() could open it."
_STREAMS = ("file", "directory", "process")


@rule(
    query=functions(
        calling=("fopen", "fdopen", "tmpfile", "fopen64", "_wfopen", "fmemopen", "open_memstream",
                 "popen", "_popen", "opendir", "fdopendir")
    ),
    category="error_handling",
    cwe=(690, 252, 476),
    confidence=0.85,
    suggestion="Test the result of {function}() for NULL before using it.",
    answered=("unchecked-allocation", "null-dereference"),
)  # fmt: skip
def unchecked_open_result(function: Function) -> Iterator[Report]:
    for fault, _ in first_of_each(faults_of(function, "unchecked")):
        if fault.family not in _STREAMS:
            continue
        yield Report(
            fault.node,
            _MESSAGE,
            confidence=0.85 if fault.certain else 0.65,
            pattern=fault.detail,
            stream=fault.name,
            function=fault.detail,
            related=[(fault.origin, "Opened here.")] if fault.origin is not None else (),
        )
    known = calls_by_node(function)
    for call in function.calls:
        for index in DEREFERENCES.get(called_name(call), ()):
            argument = call.arg(index)
            inner = known.get(bare(argument).id) if argument is not None else None
            family = ACQUIRES.get(called_name(inner)) if inner is not None else None
            if inner is not None and family is not None and family.resource in _STREAMS:
                yield Report(inner.node, _MESSAGE, pattern=inner.name, stream=inner.name,
                             function=inner.name)  # fmt: skip
