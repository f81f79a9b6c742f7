"""Text is turned into a number by a function that cannot report errors.

## What it does
Finds `atoi`, `atol`, `atoll`, `atof` and wide forms. Text that comes from outside in the same
function raises the confidence.

## Why is this bad?
For text that is no number they return 0, and a number that is too large is undefined. The
program cannot tell either from a valid value.

## Example
```c
int port = atoi(argv[1]);
```

Use instead:
```c
char *end;
errno = 0;
long port = strtol(argv[1], &end, 10);
if (errno != 0 || end == argv[1] || *end != '\\0' || port < 1 || port > 65535)
    return -1;
```

## References
- CWE-20: Improper Input Validation
- CWE-190: Integer Overflow or Wraparound
- SEI CERT C ERR34-C: Detect errors when converting a string to a number
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, text
from jarvis_ls.jsec.c.inputs import text_source
from jarvis_ls.jsec.constants import string_literal
from jarvis_ls.jsec.rule import Report, calls, rule


@rule(
    query=calls("atoi", "atol", "atoll", "atof", "_wtoi", "_wtol", "_wtof", "_ttoi", "_atoi64"),
    category="error_handling",
    cwe=(20,),
    confidence=0.4,
    severity="medium",
    suggestion="Use strtol or strtod and check the end pointer, errno and the range.",
)
def number_parsed_without_check(call: Call) -> Iterator[Report]:
    argument = call.arg(0)
    if argument is None or string_literal(argument, call.function) is not None:
        return
    outside = text_source(argument, call.function) is not None
    yield Report(
        call.node,
        "'{call}' cannot tell whether '{text}' is a number that fits.",
        confidence=0.5 if outside else None,
        pattern=call.name,
        call=call.name,
        text=text(argument),
    )
