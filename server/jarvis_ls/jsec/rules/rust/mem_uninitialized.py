"""Use of mem::uninitialized().

## What it does
Finds `mem::uninitialized()`.

## Why is this bad?
An uninitialised value is undefined behaviour as soon as it exists, for integers and `bool` too;
dropping it may free a random address. The function is deprecated for that reason.

## Example
```rust
let mut header: Header = unsafe { std::mem::uninitialized() };
```

Use instead:
```rust
let mut header = MaybeUninit::<Header>::uninit();
```

## References
- CWE-457: Use of Uninitialized Variable
- CWE-676: Use of Potentially Dangerous Function
- RustSec and std: mem::uninitialized is deprecated since 1.39
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.rust.shapes import call_path


@rule(
    query=calls("uninitialized"),
    category="memory_mgmt",
    cwe=(457, 676),
    confidence=0.9,
    suggestion="Use 'MaybeUninit' and write the value before 'assume_init', or use a default"
    " value.",
)
def mem_uninitialized(call: Call) -> Iterator[Report]:
    if call.arguments or not call_path(call).endswith("mem::uninitialized"):
        return
    yield Report(
        call.node,
        "'mem::uninitialised' creates an invalid value, which is undefined behaviour.",
        pattern="mem::uninitialized",
    )
