"""String converted to a number without error detection.

## What it does
Finds `atoi`, `atol`, `atoll`, `atof` and their wide variants. Confidence is higher when the
string is untrusted input of the same function.

## Why is this bad?
They return 0 for a string that is not a number, and the behaviour is undefined when the value is
out of range. Neither can be distinguished from a valid
value.

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

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, calls, rule, summary
from jarvis_ls.jsec.local.c.inputs import text_source
from jarvis_ls.jsec.local.constants import string_literal


@rule(
    query=calls("atoi", "atol", "atoll", "atof", "_wtoi", "_wtol", "_wtof", "_ttoi", "_atoi64"),
    category="error_handling",
    cwe=(20,),
    confidence=0.3,
    severity="medium",
    suggestion="Use strtol or strtod and check the end pointer, errno and the range.",
)
@summary("{count} conversions of text to numbers in this file do not detect errors.")
def number_parsed_without_check(call: Call) -> Iterator[Report]:
    argument = call.arg(0)
    if argument is None or string_literal(argument, call.function) is not None:
        return
    outside = text_source(argument, call.function) is not None
    yield Report(
        call.node,
        "'{call}' does not detect conversion errors in '{text}'.",
        confidence=0.4 if outside else None,
        pattern=call.name,
        call=call.name,
        text=text(argument),
    )
