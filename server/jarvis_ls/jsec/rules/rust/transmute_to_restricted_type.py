"""transmute() to a type with invalid bit patterns.

## What it does
Finds `transmute` of an integer to `bool`, `char`, a `NonZero` type or an `enum` of the file.

## Why is this bad?
A `bool` of 2 or an enum value without a variant is immediate undefined behaviour: `match` may
jump through a table at that index.

## Example
```rust
let kind: Kind = unsafe { std::mem::transmute(byte) };
```

Use instead:
```rust
let kind = Kind::try_from(byte)?;
```

## References
- CWE-843: Access of Resource Using Incompatible Type ('Type Confusion')
- CWE-704: Incorrect Type Conversion or Cast
- Clippy: transmute_int_to_bool, transmute_int_to_char
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, rule
from jarvis_ls.jsec.local.rust.guards import is_tested
from jarvis_ls.jsec.local.rust.transmute import is_restricted, transmute_types


@rule(
    query=calls("transmute", "transmute_copy"),
    category="type_safety",
    cwe=(843, 704),
    confidence=0.8,
    suggestion="Convert with 'match' or 'TryFrom', and reject invalid values.",
    fixable=True,
)
def transmute_to_restricted_type(call: Call) -> Iterator[Report]:
    source, target = transmute_types(call.node, call.function, call.unit)
    if not is_restricted(target, call.unit) or source == target:
        return
    confidence = 0.8
    if is_tested(call.function, call.arg(0), call.node.start_byte):
        confidence = 0.4
    elif has_safety_comment(call.node):
        confidence = 0.5
    value = text(call.arg(0))
    fix = (
        Rewrite("Compare with 0", [(call.node, f"({value} != 0)")])
        if (target == "bool" and value.isidentifier())
        else None
    )
    yield Report(
        call.node,
        "'transmute' to '{target}' is undefined behaviour for invalid values.",
        confidence=confidence,
        pattern="transmute",
        target=target,
        fix=fix,
    )
