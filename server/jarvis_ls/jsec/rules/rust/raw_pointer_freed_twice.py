"""A raw pointer is given back twice.

## What it does
Finds a second `Box::from_raw`, `CString::from_raw`, `Arc::from_raw`, `dealloc`, `drop_in_place` or
`libc::free` of the same pointer in the same run of statements.

## Why is this bad?
Each of them takes ownership. The second one frees memory that the allocator may already have
handed to someone else.

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

from jarvis_ls.codeintel.code import Call, Function
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, functions, rule
from jarvis_ls.jsec.rust.guards import changed_between, may_follow
from jarvis_ls.jsec.rust.owners import RELEASES, released

_KEEPS = frozenset({"forget", "ManuallyDrop", "increment_strong_count"})


@rule(
    query=flow("double-free", guess=functions(calling=RELEASES)),
    category="memory_mgmt",
    cwe=(415,),
    confidence=0.85,
    suggestion="Take ownership once, and set the pointer to null where it is kept.",
)
def raw_pointer_freed_twice(function: Function | Fault) -> Iterator[Report]:
    if isinstance(function, Fault):
        yield Report(function, "This memory is released for the second time.", cwe=(415,))
        return
    if any(call.name in _KEEPS or "ManuallyDrop" in call.written for call in function.calls):
        return
    last: dict[str, Call] = {}
    for call in function.calls:
        pointer = released(call)
        if not pointer:
            continue
        first = last.get(pointer)
        last[pointer] = call
        if first is None or not may_follow(first.node, call.node):
            continue
        if changed_between(function, pointer, first.node.end_byte, call.node.start_byte):
            continue
        yield Report(
            call.node,
            "'{pointer}' is released again.",
            pattern=call.name,
            causes=[(first.node, "First released here.")],
            pointer=pointer,
        )
