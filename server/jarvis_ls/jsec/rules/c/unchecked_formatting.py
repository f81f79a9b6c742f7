"""A text that may have been cut is used as if it were whole.

## What it does
Finds `snprintf`, `vsnprintf` and `swprintf` that put a text of unknown length (`%s`) into a buffer,
when nobody looks at the result. It is told once in a function, with little confidence: what is cut
is often only shown to people.

## Why is this bad?
The result says how long the text would have been. A path, a command or a key that lost its end
means something else, and nobody notices.

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

from jarvis_ls.codeintel.code import Function, text
from jarvis_ls.jsec.c.outcomes import dropped
from jarvis_ls.jsec.rule import Report, functions, rule

FORMATS = {
    "snprintf": 2, "vsnprintf": 2, "swprintf": 2, "vswprintf": 2, "_snprintf": 2, "_snwprintf": 2,
}  # fmt: skip


@rule(
    query=functions(calling=FORMATS),
    category="error_handling",
    cwe=(252,),
    confidence=0.25,
    severity="low",
    suggestion="Compare the result of '{name}' with the size of the buffer.",
)
def unchecked_formatting(function: Function) -> Iterator[Report]:
    for call in function.calls:
        place = FORMATS.get(call.name)
        if place is None or call.is_method or not dropped(call):
            continue
        form = text(call.arg(place))
        if "%s" not in form and "%ls" not in form:
            continue
        yield Report(
            call.node,
            "Nobody looks at the result of '{name}': '{target}' may hold a text that was cut.",
            pattern=call.name,
            name=call.written,
            target=text(call.arg(0))[:60],
        )
        return
