"""A type that has no all-zero value is made from zeros.

## What it does
Finds `mem::zeroed` and `MaybeUninit::zeroed().assume_init()` for references, function pointers,
`Box`, `Vec`, `String`, `NonNull`, `NonZero` and the like, and `mem::replace(x, mem::zeroed())`.

## Why is this bad?
Such types may never be null. The compiler builds `Option` on that, so the value is undefined
behaviour before it is ever used, and dropping it frees address 0.

## Example
```rust
let old = std::mem::replace(&mut self.name, unsafe { std::mem::zeroed() });
```

Use instead:
```rust
let old = std::mem::take(&mut self.name);
```

## References
- CWE-457: Use of Uninitialized Variable
- CWE-824: Access of Uninitialized Pointer
- rustc: invalid_value
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, ancestors, called_name, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.rule import Report, calls, rule
from jarvis_ls.jsec.rust.transmute import expected_type

_NEVER_ZERO = re.compile(
    r"(?:&|Box\b|Vec\b|String\b|NonNull\b|NonZero\w*|Rc\b|Arc\b|HashMap\b|BTreeMap\b|CString\b"
    r"|(?:unsafe )?(?:extern (?:\"\w+\" )?)?fn\b|std::num::NonZero\w*|std::ptr::NonNull\b)"
)


@rule(
    query=calls("zeroed"),
    category="memory_mgmt",
    cwe=(457, 824),
    confidence=0.9,
    suggestion="Use Option, Default or 'mem::take'; zeros are no valid value of this type.",
)
def zeroed_non_zero_type(call: Call) -> Iterator[Report]:
    if call.arguments or call.written.endswith(("alloc_zeroed", "Box::zeroed")):
        return
    swapped = _replaced(call.node)
    if swapped is not None:
        yield Report(
            swapped,
            "'mem::replace' leaves a value of zeros behind, which is dropped like a real one.",
            confidence=0.7,
            pattern="mem::replace",
        )
        return
    arguments = field(field(call.node, "function"), "type_arguments")
    given = text(arguments).strip("<> ") if arguments is not None else _type_of_path(call)
    kind = given or expected_type(call.node, call.function)
    match = _NEVER_ZERO.match(kind)
    if match:
        yield Report(
            call.node,
            "'{type}' has no value of zeros.",
            pattern="mem::zeroed",
            type=kind[:60],
        )


def _type_of_path(call: Call) -> str:
    match = re.match(r"MaybeUninit::<(.+)>::zeroed$", call.written[:200])
    return match[1] if match else ""


def _replaced(node: Node) -> Node | None:
    """The call of `mem::replace` that gets the zeroed value, or None."""
    for outer in ancestors(node):
        if outer.type == "call_expression" and called_name(outer) == "replace":
            return outer
        if outer.type not in ("arguments", "unsafe_block", "block", "call_expression",
                              "field_expression"):  # fmt: skip
            return None
    return None
