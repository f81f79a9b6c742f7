"""mem::forget() on a value with a destructor.

## What it does
Finds `mem::forget` of a value whose parts are not transferred to raw pointers in the same
function.

## Why is this bad?
Memory and file handles that the value owns leak. If it is a lock guard, the lock stays locked.

## Example
```rust
let guard = queue.lock().unwrap();
std::mem::forget(guard);
```

Use instead:
```rust
let guard = queue.lock().unwrap();
drop(guard);
```

## References
- CWE-401: Missing Release of Memory after Effective Lifetime
- CWE-772: Missing Release of Resource after Effective Lifetime
- Clippy: mem_forget
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.rust.shapes import call_path, callee_names

_TRANSFERS = frozenset(
    "from_raw_parts from_raw_parts_mut as_ptr as_mut_ptr into_raw as_raw_fd as_raw_handle "
    "as_raw_socket read write copy copy_nonoverlapping transmute transmute_copy as_raw "
    "from_raw_fd from_raw cast".split()
)
_LOCKED = re.compile(r"\.(?:lock|read|write|borrow_mut|try_lock)\(\)")


@rule(
    query=calls("forget"),
    category="resource_leak",
    cwe=(401, 772),
    confidence=0.35,
    suggestion="Let the value drop, or use 'ManuallyDrop' when ownership is transferred.",
    severity="medium",
)
def mem_forget(call: Call) -> Iterator[Report]:
    value = call.arg(0)
    if value is None or len(call.arguments) != 1 or text(value) == "self":
        return
    if call.written == "forget" and not call_path(call).endswith("mem::forget"):
        return
    function = call.function
    if function is not None and not _TRANSFERS.isdisjoint(callee_names(function)):
        return
    if has_safety_comment(call.node):
        return
    if text(value) in ("this", "me", "slf") or any(p.name == "this" for p in _parameters(call)):
        return
    variable = function.variable(text(value), value.start_byte) if function is not None else None
    initial = text(variable.initial) if variable is not None else ""
    yield Report(
        call.node,
        "'mem::forget' leaks the resources of '{value}'.",
        confidence=0.6 if _LOCKED.search(initial[:500]) or "Vec" in initial[:80] else 0.35,
        pattern="mem::forget",
        value=text(value)[:60],
    )


def _parameters(call: Call) -> list[Variable]:
    return call.function.parameters if call.function is not None else []
