"""Use of an inherently dangerous or obsolete function.

## What it does
Finds `getwd`, `getpw`, `cuserid`, `streadd`, `strecpy`, `strtrns` and the `IsBad...Ptr` functions
of Windows. (`gets` and `vfork` have their own rules.)

## Why is this bad?
The string functions have no size parameter, and the pointer checks hide memory corruption instead
of detecting it.

## Example
```c
char directory[PATH_MAX];
getwd(directory);
```

Use instead:
```c
char directory[PATH_MAX];
if (getcwd(directory, sizeof(directory)) == NULL)
    return -1;
```

## References
- CWE-676: Use of Potentially Dangerous Function
- CWE-242: Use of Inherently Dangerous Function
- CWE-477: Use of Obsolete Function
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, rule
from jarvis_ls.jsec.local.c.buffer_sizes import extent

BETTER = {
    "getwd": "getcwd",
    "getpw": "getpwuid_r",
    "cuserid": "getpwuid_r",
    "streadd": "snprintf",
    "strecpy": "snprintf",
    "strtrns": "a loop of your own",
    "strccpy": "snprintf",
    "strcadd": "snprintf",
    "IsBadReadPtr": "a check of the caller",
    "IsBadWritePtr": "a check of the caller",
    "IsBadCodePtr": "a check of the caller",
    "IsBadStringPtrA": "a check of the caller",
    "IsBadStringPtrW": "a check of the caller",
}


@rule(
    query=calls(*BETTER),
    category="unsafe_api",
    cwe=(676, 242, 477),
    confidence=0.65,
    suggestion="Use {better} instead.",
    fixable=True,
)
def inherently_dangerous_function(call: Call) -> Iterator[Report]:
    yield Report(
        call.node,
        "'{call}' cannot be used safely.",
        confidence=0.65 if call.written == call.name else 0.4,  # a macro says it for old systems
        pattern=call.name,
        call=call.name,
        better=BETTER[call.name],
        fix=_rewrite(call),
    )


def _rewrite(call: Call) -> Rewrite | None:
    callee, buffer = field(call.node, "function"), call.arg(0)
    if call.written != "getwd" or callee is None or buffer is None or buffer.type != "identifier":
        return None
    memory = extent(buffer, call.function)
    if memory is None or memory.kind != "array" or text(memory.node) != text(buffer):
        return None
    end = buffer.end_byte
    return Rewrite(
        "Replace with getcwd and the size of '{buffer}'",
        [(callee, "getcwd"), ((end, end), f", sizeof({text(buffer)})")],
        buffer=text(buffer),
    )
