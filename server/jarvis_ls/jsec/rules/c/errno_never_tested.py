"""errno is set to zero and never looked at.

## What it does
Finds `errno = 0` in functions that do not read `errno` afterwards, although they call functions
whose failure only `errno` tells (`sqrt`, `strtol`, `readdir`, ...).

## Why is this bad?
The code prepares for a check and does not make it: a result out of range is taken for a value.

## Example
```c
errno = 0;
value = strtol(text, NULL, 10);
use(value);
```

Use instead:
```c
errno = 0;
value = strtol(text, NULL, 10);
if (errno != 0)
    return -1;
```

## References
- CWE-391: Unchecked Error Condition
- SEI CERT C ERR30-C: Take care when reading errno
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Function, field, text
from jarvis_ls.jsec.rule import Report, functions, rule

TELLING = frozenset({
    "sqrt", "log", "log10", "log2", "pow", "exp", "acos", "asin", "atanh", "acosh", "fmod",
    "tgamma", "lgamma", "strtol", "strtoul", "strtoll", "strtoull", "strtod", "strtof",
    "strtoimax", "strtoumax", "wcstol", "wcstoul", "atan2", "readdir", "sysconf", "getpwnam",
    "getpwuid", "getgrnam", "getgrgid", "mbrtowc", "iconv", "nice", "getpriority", "fgetwc",
    "ftell",
})  # fmt: skip
"""Functions that tell a failure in `errno` alone, or best."""
_ERRNO = frozenset({"errno"})


@rule(
    query=functions(calling=TELLING),
    category="error_handling",
    cwe=(391,),
    confidence=0.7,
    severity="medium",
    suggestion="Test 'errno' after the call it was cleared for.",
)
def errno_never_tested(function: Function) -> Iterator[Report]:
    if not function.mentions(_ERRNO):
        return
    for node in function.nodes("assign"):
        if text(field(node, "left")) != "errno" or text(field(node, "right")) != "0":
            continue
        following = (call for call in function.calls if call.node.start_byte > node.end_byte)
        called = next(following, None)
        if called is None or called.name not in TELLING or _is_read(function, node.end_byte):
            continue
        others = any(call.node.start_byte > called.node.end_byte for call in function.calls)
        yield Report(node, "'errno' is cleared here, but nobody looks at it afterwards.",
                     confidence=0.45 if others else 0.55, pattern="errno")  # fmt: skip


def _is_read(function: Function, after: int) -> bool:
    """Whether `errno` is read later, or the function asks for errors in another way."""
    if function.uses("errno", after):
        return True
    return any(call.name in ("perror", "err", "warn", "strerror") for call in function.calls)
