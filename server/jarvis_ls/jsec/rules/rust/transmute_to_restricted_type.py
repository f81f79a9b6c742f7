"""An integer is transmuted to a type that has fewer values.

## What it does
Finds `transmute` of a number to `bool`, `char`, a `NonZero` type or an `enum` of the file.

## Why is this bad?
A `bool` of 2 or an enum value without a variant is undefined behaviour the moment it exists:
`match` jumps through a table at that index.

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

from jarvis_ls.codeintel.code import Call, text
from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.jsec.rule import Report, Rewrite, calls, rule
from jarvis_ls.jsec.rust.guards import tested
from jarvis_ls.jsec.rust.transmute import is_restricted, transmuted


@rule(
    query=calls("transmute", "transmute_copy"),
    category="type_safety",
    cwe=(843, 704),
    confidence=0.8,
    suggestion="Convert with a 'match' or TryFrom that refuses values without a variant.",
    fixable=True,
)
def transmute_to_restricted_type(call: Call) -> Iterator[Report]:
    source, target = transmuted(call.node, call.function, call.unit)
    if not is_restricted(target, call.unit) or source == target:
        return
    confidence = 0.8
    if tested(call.function, call.arg(0), call.node.start_byte):
        confidence = 0.4
    elif has_safety_comment(call.node):
        confidence = 0.5
    value = text(call.arg(0))
    fix = Rewrite("Compare with 0", [(call.node, f"({value} != 0)")]) if (
        target == "bool" and value.isidentifier()
    ) else None  # fmt: skip
    yield Report(
        call.node,
        "'transmute' to '{target}' is undefined behaviour for values that it does not have.",
        confidence=confidence,
        pattern="transmute",
        target=target,
        fix=fix,
    )
