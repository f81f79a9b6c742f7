"""Reference to a mutable static.

## What it does
Finds `&X`, `&mut X` and method calls on `X` where `X` is a `static mut` of the file.

## Why is this bad?
Any other access to the static while the reference is alive is undefined behaviour, even in the
same thread: a signal handler or a callback is enough.

## Example
```rust
let log = unsafe { &mut LOG };
```

Use instead:
```rust
let mut log = LOG.lock().unwrap(); // static LOG: Mutex<Vec<u8>>
```

## References
- CWE-362: Concurrent Execution using Shared Resource with Improper Synchronization
- rustc: static_mut_refs
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.codeintel.functions import Function, Unit
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, functions, rule


@rule(
    query=functions(containing=("&",)),
    category="concurrency",
    cwe=(362,),
    confidence=0.65,
    suggestion="Use 'Mutex', an atomic or a raw pointer ('&raw mut') instead of a reference.",
    severity="medium",
)
def static_mut_reference(function: Function) -> Iterator[Report]:
    declared = _mutable_globals(function.unit)
    if not declared:
        return
    for node in function.nodes("reference"):
        value = node.child_by_field_name("value")
        if value is None or value.type != "identifier":
            continue
        name = text(value)
        if name not in declared:
            continue
        if function.variable(name, node.start_byte) is not None:
            continue
        words = {child.type for child in node.children}
        if "raw" in words:  # `&raw mut X` is a pointer: no reference is made of it
            continue
        mutable = "mutable_specifier" in words
        confidence = 0.7 if mutable else 0.6
        if has_safety_comment(node):
            confidence -= 0.15
        yield Report(
            node,
            "Reference to the mutable static '{name}' may alias.",
            confidence=confidence,
            pattern=name,
            name=name,
        )


@functools.lru_cache(maxsize=1)
def _mutable_globals(unit: Unit) -> frozenset[str]:
    declared = unit.facts.variables.values()
    return frozenset(d.name for d in declared if d.type.startswith("mut "))
