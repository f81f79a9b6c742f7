"""The result of a read is dropped.

## What it does
Finds `fread`, `read`, `fgets`, `recv`, `scanf` and the like whose result is thrown away, or
stored and never looked at. `(void)` in front of the call is a decision and not reported.

## Why is this bad?
A read can fail, reach the end, or give less than was asked for. The buffer then holds what was
there before (or nothing at all), and the program works on with it.

## Example
```c
char line[100];
fgets(line, sizeof line, file);
process(line);
```

Use instead:
```c
char line[100];
if (fgets(line, sizeof line, file) == NULL)
    return -1;
process(line);
```

## References
- CWE-252: Unchecked Return Value
- SEI CERT C ERR33-C: Detect and handle standard library errors
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.outcomes import dropped, stream_checked
from jarvis_ls.jsec.rule import Report, calls, rule

BUFFERS = {
    "fread": 0, "fread_unlocked": 0, "fgets": 0, "fgetws": 0, "read": 1, "pread": 1, "_read": 1,
    "recv": 1, "recvfrom": 1, "readlink": 1, "getline": 0, "getdelim": 0, "getrandom": 0,
    "getentropy": 0, "getcwd": 0, "scanf": 1, "fscanf": 2, "sscanf": 2, "wscanf": 1, "fwscanf": 2,
    "swscanf": 2, "scanf_s": 1, "fscanf_s": 2, "sscanf_s": 2,
}  # fmt: skip
STREAMS = {"fread": 3, "fread_unlocked": 3, "fgets": 2, "fgetws": 2, "getline": 2, "getdelim": 3}


@rule(
    query=calls(*BUFFERS),
    category="error_handling",
    cwe=(252,),
    confidence=0.75,
    severity="medium",
    suggestion="Test the result of '{name}' before the data is used.",
)
def unchecked_read(call: Call) -> Iterator[Report]:
    if not dropped(call) or call.function is None:
        return
    target = call.arg(BUFFERS[call.name])
    if target is None:
        return
    if call.name in STREAMS:
        stream = text(call.arg(STREAMS[call.name]))
        if stream_checked(call.function, stream, call.node.end_byte):
            return
    confidence = 0.75 if _is_used(call, target) else 0.4
    if "scanf" in call.name and _set_before(call, target):
        confidence = 0.45
    yield Report(
        call.node,
        "Nobody looks at the result of '{name}': '{target}' may hold old data or too little.",
        confidence=confidence,
        pattern=call.name,
        name=call.written,
        target=text(target),
    )


def _is_used(call: Call, target: Node) -> bool:
    """Whether the buffer is looked at after the read (it may also just drain a pipe)."""
    name = re.match(r"[\s(&*]*([A-Za-z_]\w*)", text(bare(target)))
    assert call.function is not None
    if name is None:
        return True
    if call.function.uses(name[1], call.node.end_byte):
        return True
    variable = call.function.variable(name[1], call.node.start_byte)
    return variable is None or variable.is_parameter


def _set_before(call: Call, target: Node) -> bool:
    """Whether the variable that `scanf` sets was given a value where it was declared."""
    node = bare(target)
    if node.type != "pointer_expression" or call.function is None:
        return False
    name = field(node, "argument")
    variable = call.function.variable(text(name), call.node.start_byte)
    return variable is not None and variable.initial is not None
