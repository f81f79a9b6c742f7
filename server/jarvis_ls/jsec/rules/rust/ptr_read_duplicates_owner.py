"""A value with a destructor is copied by ptr::read and lives twice.

## What it does
Finds `ptr::read(&x)` of a local that owns memory (`Box`, `Vec`, `String`, …) in functions that
neither forget nor overwrite the original.

## Why is this bad?
Both copies run the destructor: the memory is freed twice.

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

from jarvis_ls.codeintel.code import Call, Function, text
from jarvis_ls.jsec.rule import Report, calls, rule
from jarvis_ls.jsec.rust.shapes import call_path, called_in, holds, peel
from jarvis_ls.jsec.rust.values import type_of

_KEPT = frozenset({"forget", "ManuallyDrop", "write", "replace", "swap", "copy",
                   "copy_nonoverlapping", "into_raw"})  # fmt: skip
_GUARDED = frozenset({"catch_unwind", "abort", "ManuallyDrop", "forget"})
_OWNERS = ("Box", "Vec", "String", "Arc", "Rc", "HashMap", "BTreeMap", "File", "CString", "PathBuf",
           "VecDeque")  # fmt: skip


@rule(
    query=calls("read", "read_unaligned", "read_volatile"),
    category="memory_mgmt",
    cwe=(415,),
    confidence=0.8,
    suggestion="Clone the value, move it, or forget the original.",
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
            "When '{called}' panics, '{value}' and its copy are both dropped.",
            confidence=0.7,
            pattern="ptr::read",
            called=panicking,
            value=text(value)[:60],
            suggestion="Put something else in its place first (`mem::take`), or abort on a panic.",
        )
        return
    variable = call.function.variable(text(value), value.start_byte)
    kind = type_of(value, call.function, call.unit)
    if variable is None or not kind.startswith(_OWNERS):
        return
    if not _KEPT.isdisjoint(called_in(call.function)):
        return
    yield Report(
        call.node,
        "'{value}' and its copy both free the same memory.",
        pattern="ptr::read",
        value=variable.name,
    )


def _may_panic(call: Call, function: Function) -> str:
    """A function that the caller chose, called while the value exists twice; empty for none."""
    called = called_in(function)
    if "write" not in called or not _GUARDED.isdisjoint(called) or holds(function, b"Drop"):
        return ""
    given = {one.name for one in function.parameters}
    calls = function.calls
    first = next((i for i, one in enumerate(calls) if one.node == call.node), len(calls))
    for one in calls[first + 1 :]:
        if call_path(one).endswith("ptr::write") or one.name == "write":
            return ""
        if one.name in given and not one.is_method:
            return one.name
    return ""
