"""transmute() of a type with unspecified layout.

## What it does
Finds `transmute` from or to a struct or union of the file that has no `#[repr(C)]`,
`#[repr(transparent)]` or `#[repr(packed)]`.

## Why is this bad?
The compiler may reorder the fields of such a type, differently for every build and every type
parameter. The bytes then silently end up in the wrong fields.

## Example
```rust
struct Header { kind: u8, length: u32 }
let header: Header = unsafe { std::mem::transmute(raw) };
```

Use instead:
```rust
let header = Header { kind: raw[0], length: u32::from_le_bytes([raw[4], raw[5], raw[6], raw[7]]) };
```

## References
- CWE-843: Access of Resource Using Incompatible Type ('Type Confusion')
- CWE-188: Reliance on Data/Memory Layout
- The Rustonomicon: repr(Rust)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Unit
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.rust.transmute import transmute_types, without_lifetimes


@rule(
    query=calls("transmute"),
    category="type_safety",
    cwe=(843, 188),
    confidence=0.55,
    suggestion="Add '#[repr(C)]' (or 'transparent') to the type, or convert field by field.",
)
def transmute_of_rust_layout(call: Call) -> Iterator[Report]:
    source, target = transmute_types(call.node, call.function, call.unit)
    if not source or not target or without_lifetimes(source) == without_lifetimes(target):
        return
    for written in (source, target):
        name = _loose(written, call.unit)
        if name:
            yield Report(
                call.node,
                "'transmute' relies on the layout of '{type}', which is unspecified without a"
                " 'repr'.",
                pattern="transmute",
                type=name,
            )
            return


def _loose(written: str, unit: Unit) -> str:
    """Return the struct a type is or refers to, when the file declares it without a `repr`."""
    match = re.fullmatch(
        r"(?:&(?:'\w+ )?(?:mut )?|\*const |\*mut )?\[?(\w+)(?:<.*)?(?:;.*)?\]?", written[:200]
    )
    declared = unit.facts.types.get(match[1]) if match else None
    return match[1] if match and declared is not None and declared.type == "struct" else ""
