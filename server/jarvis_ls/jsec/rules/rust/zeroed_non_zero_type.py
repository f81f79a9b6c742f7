"""mem::zeroed() for a type that cannot be zero.

## What it does
Finds `mem::zeroed` and `MaybeUninit::zeroed().assume_init()` for references, function pointers,
`Box`, `Vec`, `String`, `NonNull`, `NonZero` and the like, and `mem::replace(x, mem::zeroed())`.

## Why is this bad?
These types have no valid all-zero value, and the compiler relies on that for `Option`. The value
is undefined behaviour even before it is used, and dropping it frees address 0.

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

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import ancestors, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.rust.transmute import expected_type

_NEVER_ZERO = re.compile(
    r"(?:&|Box\b|Vec\b|String\b|NonNull\b|NonZero\w*|Rc\b|Arc\b|HashMap\b|BTreeMap\b|CString\b"
    r"|(?:unsafe )?(?:extern (?:\"\w+\" )?)?fn\b|std::num::NonZero\w*|std::ptr::NonNull\b)"
)


@rule(
    query=calls("zeroed"),
    category="memory_mgmt",
    cwe=(457, 824),
    confidence=0.9,
    suggestion="Use 'Option', 'Default' or 'mem::take'.",
)
def zeroed_non_zero_type(call: Call) -> Iterator[Report]:
    if call.arguments or call.written.endswith(("alloc_zeroed", "Box::zeroed")):
        return
    replace = _enclosing_replace(call.node)
    if replace is not None:
        yield Report(
            replace,
            "'mem::replace' stores a zeroed value, which may be invalid when it is dropped.",
            confidence=0.7,
            pattern="mem::replace",
        )
        return
    arguments = field(field(call.node, "function"), "type_arguments")
    explicit = text(arguments).strip("<> ") if arguments is not None else _type_of_path(call)
    kind = explicit or expected_type(call.node, call.function)
    match = _NEVER_ZERO.match(kind)
    if match:
        yield Report(
            call.node,
            "'mem::zeroed' creates an invalid value of type '{type}'.",
            pattern="mem::zeroed",
            type=kind[:60],
        )


def _type_of_path(call: Call) -> str:
    match = re.match(r"MaybeUninit::<(.+)>::zeroed$", call.written[:200])
    return match[1] if match else ""


def _enclosing_replace(node: Node) -> Node | None:
    """Return the call of `mem::replace` that gets the zeroed value, or None."""
    for outer in ancestors(node):
        if outer.type == "call_expression" and called_name(outer) == "replace":
            return outer
        if outer.type not in (
            "arguments",
            "unsafe_block",
            "block",
            "call_expression",
            "field_expression",
        ):
            return None
    return None
