"""Unchecked arithmetic that may overflow.

## What it does
Finds `unchecked_add`, `unchecked_sub`, `unchecked_mul`, `unchecked_shl`, `unchecked_shr`,
`unchecked_neg` and `unchecked_div` without a nearby check of the operands or SAFETY comment.

## Why is this bad?
Overflow is undefined behaviour here and does not wrap: the compiler may remove later bounds
checks that only an overflow would fail.

## Example
```rust
let end = unsafe { start.unchecked_add(length) };
```

Use instead:
```rust
let end = start.checked_add(length).ok_or(Error::TooLong)?;
```

## References
- CWE-190: Integer Overflow or Wraparound
- CWE-191: Integer Underflow (Wrap or Wraparound)
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.jsec.base.rule import Report, Rewrite, methods, rule
from jarvis_ls.jsec.local.rust.guards import is_tested
from jarvis_ls.jsec.local.rust.values import number_origin

_NAMES = (
    "unchecked_add",
    "unchecked_sub",
    "unchecked_mul",
    "unchecked_neg",
    "unchecked_shl",
    "unchecked_shr",
    "unchecked_div",
    "unchecked_rem",
)


@rule(
    query=methods(*_NAMES),
    category="integer_overflow",
    cwe=(190, 191),
    confidence=0.65,
    suggestion="Use the 'checked_', 'wrapping_' or 'saturating_' variant.",
    fixable=True,
)
def unchecked_arithmetic(call: Call) -> Iterator[Report]:
    if has_safety_comment(call.node):
        return
    if call.function is not None and "unchecked" in call.function.name:
        return
    if is_tested(call.function, call.node, call.node.start_byte):
        return
    outside = number_origin(call.receiver, call.function) or number_origin(
        call.arg(0), call.function
    )
    name = field(field(call.node, "function"), "field")
    wrapping = call.name.replace("unchecked_", "wrapping_")
    yield Report(
        call.node,
        "'{call}' may overflow, which is undefined behaviour.",
        confidence=0.8 if outside else 0.65,
        pattern=call.name,
        fix=Rewrite("Use '{wrapping}'", [(name, wrapping)], wrapping=wrapping)
        if name is not None
        else None,
        call=text(call.node)[:60],
    )
