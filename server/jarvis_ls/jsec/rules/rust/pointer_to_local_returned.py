"""Returned pointer to a local variable.

## What it does
Finds functions that return a raw pointer and whose result is `&local as *const T`,
`local.as_ptr()` or `&mut local` of a local variable.

## Why is this bad?
The variable is dropped when the function returns, so the pointer dangles and the caller reads or
writes reused memory.

## Example
```rust
fn buffer() -> *const u8 {
    let buffer = [0u8; 64];
    buffer.as_ptr()
}
```

Use instead:
```rust
fn buffer() -> Box<[u8; 64]> {
    Box::new([0u8; 64])
}
```

## References
- CWE-562: Return of Stack Variable Address
- CWE-416: Use After Free
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, flow, functions, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.rust.shapes import callee_names, return_type

_INTO_LOCAL = re.compile(
    r"^(?:&(?:mut |raw const |raw mut )?(\w+)(?:\[\w*\])?(?: as \*.*)?"
    r"|(\w+)\.as_(?:mut_)?ptr\(\)(?:\.cast\w*(?:::<.*>)?\(\))?(?: as \*.*)?)$"
)
_TRANSFERS = frozenset({"forget", "ManuallyDrop", "into_raw", "leak"})


@rule(
    query=flow("local-returned", guess=functions(containing=("*const", "*mut"))),
    category="memory_mgmt",
    cwe=(562, 416),
    confidence=0.9,
    suggestion="Return the value itself, or transfer ownership with 'Box::into_raw'.",
)
def pointer_to_local_returned(function: Function) -> Iterator[Report]:
    if not return_type(function).startswith(("*const", "*mut")) or function.body is None:
        return
    for value in _return_values(function):
        match = _INTO_LOCAL.match(text(value)[:160])
        if match is None:
            continue
        variable = function.variable(match[1] or match[2], value.start_byte)
        if variable is None or variable.type.startswith(("&", "*")):
            continue
        initial = text(variable.initial)[:60]
        if variable.is_parameter and match[2] and variable.type.startswith(("NonNull", "P")):
            continue
        if not variable.is_parameter and not _owns(initial, variable.type, by_value=bool(match[1])):
            continue
        if variable.is_parameter and not _owns("", variable.type, by_value=bool(match[1])):
            continue
        if not _TRANSFERS.isdisjoint(callee_names(function)):
            continue
        yield Report(
            value,
            "Returned pointer dangles: '{local}' is dropped when the function returns.",
            pattern="return",
            local=variable.name,
        )


@on_fault(pointer_to_local_returned)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(fault, "Returned pointer dangles: it points to a local variable.")


def _return_values(function: Function) -> Iterator[Node]:
    for node in function.nodes("return"):
        if node.named_child_count:
            yield node.named_children[0]
    body = function.body
    last = (
        next((c for c in reversed(body.named_children[-8:]) if "comment" not in c.type), None)
        if body is not None
        else None
    )
    if last is not None and last.type not in ("expression_statement", "let_declaration"):
        yield last


def _owns(initial: str, kind: str, *, by_value: bool) -> bool:
    """Return whether a variable owns its value and does not borrow it."""
    if initial.startswith("&") or ".as_" in initial:
        return False
    if by_value and (kind or initial):
        return True
    words = ("Vec", "String", "[", "CString", "vec!", "format!", "Box::new")
    return kind.startswith(words) or initial.startswith(words)
