"""A function returns a pointer into its own stack or into a value it drops.

## What it does
Finds functions with a raw pointer as result that return `&local as *const T`, `local.as_ptr()` or
`&mut local`, where `local` is a variable of the function.

## Why is this bad?
The variable is gone when the function returns. The caller reads or writes whatever lies there
next.

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

from jarvis_ls.codeintel.code import Function, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, functions, rule
from jarvis_ls.jsec.rust.shapes import called_in, return_type

_INTO_LOCAL = re.compile(
    r"^(?:&(?:mut |raw const |raw mut )?(\w+)(?:\[\w*\])?(?: as \*.*)?"
    r"|(\w+)\.as_(?:mut_)?ptr\(\)(?:\.cast\w*(?:::<.*>)?\(\))?(?: as \*.*)?)$"
)
_KEPT = frozenset({"forget", "ManuallyDrop", "into_raw", "leak"})


@rule(
    query=flow("local-returned", guess=functions()),
    category="memory_mgmt",
    cwe=(562, 416),
    confidence=0.9,
    suggestion="Return the value itself, or hand out memory that lives on ('Box::into_raw').",
)
def pointer_to_local_returned(function: Function | Fault) -> Iterator[Report]:
    if isinstance(function, Fault):
        yield Report(
            function, "The pointer leads to a variable that is gone when the function returns."
        )
        return
    if not return_type(function).startswith(("*const", "*mut")) or function.body is None:
        return
    for value in _returned(function):
        match = _INTO_LOCAL.match(text(value)[:160])
        if match is None:
            continue
        variable = function.variable(match[1] or match[2], value.start_byte)
        if variable is None or variable.type.startswith(("&", "*")):
            continue
        made = text(variable.initial)[:60]
        if variable.is_parameter and match[2] and variable.type.startswith(("NonNull", "P")):
            continue
        if not variable.is_parameter and not _owns(made, variable.type, by_value=bool(match[1])):
            continue
        if variable.is_parameter and not _owns("", variable.type, by_value=bool(match[1])):
            continue
        if not _KEPT.isdisjoint(called_in(function)):
            continue
        yield Report(
            value,
            "'{local}' is gone when the caller gets this pointer.",
            pattern="return",
            local=variable.name,
        )


def _returned(function: Function) -> Iterator[Node]:
    for node in function.nodes("return"):
        if node.named_child_count:
            yield node.named_children[0]
    body = function.body
    last = next(
        (c for c in reversed(body.named_children[-8:]) if "comment" not in c.type), None
    ) if body is not None else None  # fmt: skip
    if last is not None and last.type not in ("expression_statement", "let_declaration"):
        yield last


def _owns(made: str, kind: str, *, by_value: bool) -> bool:
    """Whether a variable holds its value itself and does not borrow it."""
    if made.startswith("&") or ".as_" in made:
        return False
    if by_value and (kind or made):
        return True
    words = ("Vec", "String", "[", "CString", "vec!", "format!", "Box::new")
    return kind.startswith(words) or made.startswith(words)
