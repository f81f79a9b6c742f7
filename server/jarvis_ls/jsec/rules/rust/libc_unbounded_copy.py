"""Unsafe C string function without a bounds check.

## What it does
Finds `libc::strcpy`, `strcat`, `sprintf`, `vsprintf`, `gets`, `scanf` with strings and the like.

## Why is this bad?
These functions write until the input ends, whatever the size of the target. Rust's strings and
slices carry their length.

## Example
```rust
libc::strcpy(name.as_mut_ptr(), input.as_ptr());
```

Use instead:
```rust
let n = input.to_bytes().len().min(name.len() - 1);
name[..n].copy_from_slice(&input.to_bytes()[..n]);
```

## References
- CWE-120: Buffer Copy without Checking Size of Input ('Classic Buffer Overflow')
- CWE-676: Use of Potentially Dangerous Function
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.rust.shapes import call_path
from jarvis_ls.jsec.local.rust.values import is_literal

_NAMES = {
    "strcpy": 1,
    "strcat": 1,
    "stpcpy": 1,
    "gets": None,
    "sprintf": 1,
    "vsprintf": None,
    "scanf": None,
    "sscanf": None,
    "wcscpy": 1,
    "strtok": None,
    "system": None,
    "mktemp": None,
    "tmpnam": None,
}
_OTHER_RULES = frozenset({"system"})


@rule(
    query=calls(*_NAMES),
    category="unsafe_api",
    cwe=(120, 676),
    confidence=0.85,
    suggestion="Use Rust slices and strings, which carry their length.",
)
def libc_unbounded_copy(call: Call) -> Iterator[Report]:
    path = call_path(call)
    if call.name in _OTHER_RULES or call.is_method:
        return
    if not path.startswith("libc::") and "::" in path:
        return
    source = _NAMES[call.name]
    fixed = source is not None and is_literal(call.arg(source), call.function, call.unit)
    yield Report(
        call.node,
        "'{called}' does no bounds check on its buffer.",
        confidence=0.5 if fixed else 0.85,
        pattern=call.name,
        called=call.name,
    )
