"""Double free of a raw pointer.

## What it does
Finds a second `Box::from_raw`, `CString::from_raw`, `Arc::from_raw`, `dealloc`, `drop_in_place`
or `libc::free` of the same pointer in the same sequence of statements.

## Why is this bad?
Each of them takes ownership. The second one frees memory that the allocator may already have
reused, which corrupts the heap.

## Example
```rust
drop(Box::from_raw(p));
log(*p);
drop(Box::from_raw(p));
```

Use instead:
```rust
let owned = Box::from_raw(p);
log(*owned);
drop(owned);
```

## References
- CWE-415: Double Free
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.jsec.base.rule import Report, flow, functions, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.rust.guards import is_changed_between, may_follow
from jarvis_ls.jsec.local.rust.owners import RELEASES, released_pointer

_KEEPS = frozenset({"forget", "ManuallyDrop", "increment_strong_count"})


@rule(
    query=flow("double-free", guess=functions(calling=RELEASES)),
    category="memory_mgmt",
    cwe=(415,),
    confidence=0.85,
    suggestion="Take ownership only once, and set the stored pointer to null.",
)
def raw_pointer_freed_twice(function: Function) -> Iterator[Report]:
    if any(call.name in _KEEPS or "ManuallyDrop" in call.written for call in function.calls):
        return
    last: dict[str, Call] = {}
    for call in function.calls:
        pointer = released_pointer(call)
        if not pointer:
            continue
        first = last.get(pointer)
        last[pointer] = call
        if first is None or not may_follow(first.node, call.node):
            continue
        if is_changed_between(function, pointer, first.node.end_byte, call.node.start_byte):
            continue
        yield Report(
            call.node,
            "Double free of '{pointer}'.",
            pattern=call.name,
            causes=[(first.node, "First freed here.")],
            pointer=pointer,
        )


@on_fault(raw_pointer_freed_twice)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(fault, "Double free.", cwe=(415,))
