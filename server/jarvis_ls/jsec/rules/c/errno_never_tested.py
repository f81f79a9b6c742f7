"""Unchecked errno after it was cleared.

## What it does
Finds `errno = 0` in functions that do not read `errno` afterwards, although they call functions
that report errors only in `errno` (`sqrt`, `strtol`, `readdir`, ...).

## Why is this bad?
The check that the code prepares for is missing: a range error is taken for a valid result.

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

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.jsec.base.rule import Report, functions, rule

REPORTING = frozenset(
    "sqrt log log10 log2 pow exp acos asin atanh acosh fmod tgamma lgamma strtol strtoul "
    "strtoll strtoull strtod strtof strtoimax strtoumax wcstol wcstoul atan2 readdir "
    "sysconf getpwnam getpwuid getgrnam getgrgid mbrtowc iconv nice getpriority fgetwc "
    "ftell".split()
)
"""Functions that report errors only, or most precisely, in `errno`."""
_ERRNO = frozenset({"errno"})


@rule(
    query=functions(calling=REPORTING),
    category="error_handling",
    cwe=(391,),
    confidence=0.7,
    severity="medium",
    suggestion="Check 'errno' after the call.",
)
def errno_never_tested(function: Function) -> Iterator[Report]:
    if not function.mentions(_ERRNO):
        return
    for node in function.nodes("assign"):
        if text(field(node, "left")) != "errno" or text(field(node, "right")) != "0":
            continue
        following = (call for call in function.calls if call.node.start_byte > node.end_byte)
        called = next(following, None)
        if called is None or called.name not in REPORTING or _is_read(function, node.end_byte):
            continue
        others = any(call.node.start_byte > called.node.end_byte for call in function.calls)
        yield Report(
            node,
            "'errno' is cleared but never checked afterwards.",
            confidence=0.45 if others else 0.55,
            pattern="errno",
        )


def _is_read(function: Function, after: int) -> bool:
    """Return whether `errno` is read later, or reported by `perror` and the like."""
    if function.uses("errno", after):
        return True
    return any(call.name in ("perror", "err", "warn", "strerror") for call in function.calls)
