"""Double drop through ptr::read().

## What it does
Finds `ptr::read(&x)` of a local that owns memory (`Box`, `Vec`, `String`, …) in functions that
neither forget nor overwrite the original.

## Why is this bad?
Both copies run the destructor, which frees the memory twice (double free).

## Example
```rust
let copy = unsafe { ptr::read(&name) };
```

Use instead:
```rust
let copy = name.clone();
```

## References
- CWE-415: Double Free
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.rust.shapes import call_path, callee_names, holds, peel
from jarvis_ls.jsec.local.rust.values import type_of

_TRANSFERS = frozenset(
    {
        "forget",
        "ManuallyDrop",
        "write",
        "replace",
        "swap",
        "copy",
        "copy_nonoverlapping",
        "into_raw",
    }
)
_GUARDED = frozenset({"catch_unwind", "abort", "ManuallyDrop", "forget"})
_OWNERS = tuple("Box Vec String Arc Rc HashMap BTreeMap File CString PathBuf VecDeque".split())


@rule(
    query=calls("read", "read_unaligned", "read_volatile"),
    category="memory_mgmt",
    cwe=(415,),
    confidence=0.8,
    suggestion="Clone or move the value, or call 'mem::forget' on the original.",
)
def ptr_read_duplicates_owner(call: Call) -> Iterator[Report]:
    if not call_path(call).endswith(("ptr::read", "ptr::read_unaligned", "ptr::read_volatile")):
        return
    value = peel(call.arg(0))
    if value is None or value.type != "identifier" or call.function is None:
        return
    panicking = _may_panic(call, call.function)
    if panicking:
        yield Report(
            call.node,
            "Double drop of '{value}' if '{called}' panics.",
            confidence=0.7,
            pattern="ptr::read",
            called=panicking,
            value=text(value)[:60],
            suggestion="Replace the value first ('mem::take'), or abort on a panic.",
        )
        return
    variable = call.function.variable(text(value), value.start_byte)
    kind = type_of(value, call.function, call.unit)
    if variable is None or not kind.startswith(_OWNERS):
        return
    if not _TRANSFERS.isdisjoint(callee_names(call.function)):
        return
    yield Report(
        call.node,
        "Double free: '{value}' and its copy from 'ptr::read' are both dropped.",
        pattern="ptr::read",
        value=variable.name,
    )


def _may_panic(call: Call, function: Function) -> str:
    """Return the callback parameter that is called while the value exists twice, or ''."""
    called = callee_names(function)
    if "write" not in called or not _GUARDED.isdisjoint(called) or holds(function, b"Drop"):
        return ""
    parameters = {parameter.name for parameter in function.parameters}
    calls = function.calls
    first = next((i for i, other in enumerate(calls) if other.node == call.node), len(calls))
    for later in calls[first + 1 :]:
        if call_path(later).endswith("ptr::write") or later.name == "write":
            return ""
        if later.name in parameters and not later.is_method:
            return later.name
    return ""
