"""Undetected truncation of formatted output.

## What it does
Finds `snprintf`, `vsnprintf` and `swprintf` that write a string of unknown length (`%s`) to a
buffer and whose return value is ignored. Reported once per function and with low confidence,
because truncated text is often only displayed.

## Why is this bad?
The return value is the length the complete output would have had. A truncated path, command or
key has another meaning, and the truncation goes unnoticed.

## Example
```c
snprintf(path, sizeof(path), "%s/%s", folder, name);
unlink(path);
```

Use instead:
```c
if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
    return -1;
unlink(path);
```

## References
- CWE-252: Unchecked Return Value
- SEI CERT C ERR33-C: Detect and handle standard library errors
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, functions, rule, summary
from jarvis_ls.jsec.local.c.buffer_sizes import extent
from jarvis_ls.jsec.local.c.formats import output_length
from jarvis_ls.jsec.local.c.result_checks import is_result_dropped
from jarvis_ls.jsec.local.constants import string_literal

FORMATS = {
    "snprintf": 2,
    "vsnprintf": 2,
    "swprintf": 2,
    "vswprintf": 2,
    "_snprintf": 2,
    "_snwprintf": 2,
}


_NEVER_CUT = 0.1
"""Confidence where the longest output has room: a larger text may come some day."""


@rule(
    query=functions(calling=FORMATS),
    category="error_handling",
    cwe=(252,),
    confidence=0.2,
    severity="low",
    suggestion="Compare the return value of '{name}' with the buffer size.",
)
@summary("Return values of {count} formatted outputs in this file are ignored.")
def unchecked_formatting(function: Function) -> Iterator[Report]:
    for call in function.calls:
        place = FORMATS.get(call.name)
        if place is None or call.is_method or not is_result_dropped(call):
            continue
        form = text(call.arg(place))
        if "%s" not in form and "%ls" not in form:
            continue
        yield Report(
            call.node,
            "Return value of '{name}' is ignored; truncated output in '{target}' goes undetected.",
            confidence=_NEVER_CUT if _fits(call, place) else None,
            pattern=call.name,
            name=call.written,
            target=text(call.arg(0))[:60],
        )
        return


def _fits(call: Call, place: int) -> bool:
    """Return whether the longest output has room in the array that it is written to."""
    memory = extent(call.arg(0), call.function)
    form = string_literal(call.arg(place), call.function)
    if memory is None or memory.size.unit or form is None or call.name.lstrip("_")[:1] == "v":
        return False
    most = output_length(form, call.arguments[place + 1 :], call.function)[1]
    return most is not None and "w" not in call.name and most < memory.size.count - memory.offset
