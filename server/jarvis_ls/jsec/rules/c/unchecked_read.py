"""Return value of a read ignored.

## What it does
Finds `fread`, `read`, `fgets`, `recv`, `scanf` and the like whose return value is ignored, or
stored and never used. Calls cast to `(void)` are left out.

## Why is this bad?
A read can fail, reach the end of the input or return less than requested. The program then works
with stale or uninitialised data.

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

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, rule, summary
from jarvis_ls.jsec.local.c.result_checks import is_result_dropped, stream_checked
from jarvis_ls.jsec.local.c.result_fixes import test_dropped_result

BUFFERS = {
    "fread": 0,
    "fread_unlocked": 0,
    "fgets": 0,
    "fgetws": 0,
    "read": 1,
    "pread": 1,
    "_read": 1,
    "recv": 1,
    "recvfrom": 1,
    "readlink": 1,
    "getline": 0,
    "getdelim": 0,
    "getrandom": 0,
    "getentropy": 0,
    "getcwd": 0,
    "scanf": 1,
    "fscanf": 2,
    "sscanf": 2,
    "wscanf": 1,
    "fwscanf": 2,
    "swscanf": 2,
    "scanf_s": 1,
    "fscanf_s": 2,
    "sscanf_s": 2,
}
STREAMS = {"fread": 3, "fread_unlocked": 3, "fgets": 2, "fgetws": 2, "getline": 2, "getdelim": 3}


@rule(
    query=calls(*BUFFERS),
    category="error_handling",
    cwe=(252,),
    confidence=0.55,
    severity="medium",
    suggestion="Check the return value of '{name}' before using the data.",
    fixable=True,
)
@summary("Return values of {count} reads in this file are ignored.")
def unchecked_read(call: Call) -> Iterator[Report]:
    if not is_result_dropped(call) or call.function is None:
        return
    target = call.arg(BUFFERS[call.name])
    if target is None:
        return
    if call.name in STREAMS:
        stream = text(call.arg(STREAMS[call.name]))
        if stream_checked(call.function, stream, call.node.end_byte):
            return
    confidence = 0.55 if _is_used(call, target) else 0.4
    if "scanf" in call.name and _has_initialiser(call, target):
        confidence = 0.4
    yield Report(
        call.node,
        "Return value of '{name}' is ignored; '{target}' may hold stale or incomplete data.",
        confidence=confidence,
        pattern=call.name,
        name=call.written,
        target=text(target),
        fix=test_dropped_result(call),
    )


def _is_used(call: Call, target: Node) -> bool:
    """Return whether the buffer is used after the read, which may also just drain a pipe."""
    name = re.match(r"[\s(&*]*([A-Za-z_]\w*)", text(bare(target)))
    assert call.function is not None
    if name is None:
        return True
    if call.function.uses(name[1], call.node.end_byte):
        return True
    variable = call.function.variable(name[1], call.node.start_byte)
    return variable is None or variable.is_parameter


def _has_initialiser(call: Call, target: Node) -> bool:
    """Return whether the variable that `scanf` sets is initialised."""
    node = bare(target)
    if node.type != "pointer_expression" or call.function is None:
        return False
    name = field(node, "argument")
    variable = call.function.variable(text(name), call.node.start_byte)
    return variable is not None and variable.initial is not None
