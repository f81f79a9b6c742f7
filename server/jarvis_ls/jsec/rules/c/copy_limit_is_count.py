"""Number of bytes to copy is given as the size of the target.

## What it does
Finds `memcpy_s(target, n, source, n)` and the like where nothing in the function relates `n` to the
size of the target: it is neither allocated with `n` nor compared with a limit.

## Why is this bad?
The second argument is what bounds the copy. When it is the count itself, the function copies
any number of bytes, as memcpy does.

## Example
```c
memcpy_s(frame + 4, length, data, length);
```

Use instead:
```c
memcpy_s(frame + 4, sizeof(frame) - 4, data, length);
```

## References
- CWE-787: Out-of-bounds Write
- CWE-806: Buffer Access Using Size of Source Buffer
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import bare, text
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.c.range_tests import bounds
from jarvis_ls.jsec.local.constants import constant

_NAME = re.compile(r"[A-Za-z_]\w*")
_ENDS = re.compile(r"[;{}]")
_RESERVES = re.compile(r"alloc|new\b|resize|reserve|unique|vector|array|string|\[")


@rule(
    query=calls("memcpy_s", "memmove_s", "wmemcpy_s", "wmemmove_s", "strncpy_s"),
    category="buffer_overflow",
    cwe=(787, 806),
    confidence=0.5,
    severity="medium",
    suggestion="Give the number of bytes that '{target}' has room for.",
)
def copy_limit_is_count(call: Call) -> Iterator[Report]:
    target, limit, count = call.arg(0), call.arg(1), call.arg(3)
    if target is None or limit is None or count is None or call.function is None:
        return
    if text(bare(limit)) != text(bare(count)) or constant(limit, call.function) is not None:
        return
    if "sizeof" in text(limit) or _is_related(call, text(target), text(limit)):
        return
    yield Report(
        call.node,
        "'{call}' is given the number of bytes to copy as the size of '{target}': nothing bounds "
        "the copy.",
        pattern=call.name,
        call=call.name,
        target=text(target),
    )


def _is_related(call: Call, target: str, limit: str) -> bool:
    """Return whether the target is made with the limit, or the limit is compared with something."""
    function = call.function
    at = call.node.start_byte
    words = _NAME.findall(limit)
    if function is None or not words or bounds(function, limit, at).upper:
        return True
    if any(bounds(function, word, at).upper for word in words):
        return True
    begin = function.start if function.body is None else function.body.start_byte
    before = function.unit.source.data[begin:at].decode("utf-8", "replace")
    owner = _NAME.search(target)
    return owner is None or any(
        owner[0] in _NAME.findall(statement)
        and words[-1] in _NAME.findall(statement[reserved.start() :])
        for statement in _ENDS.split(before)
        if (reserved := _RESERVES.search(statement)) is not None
    )
