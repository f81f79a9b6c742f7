"""Ignored byte count of a partial read or write.

## What it does
Finds `x.read(&mut buf)?;`, `x.write(buf)?;` and `unwrap()` of them as statements.

## Why is this bad?
Both may transfer fewer bytes than requested. The rest of the buffer then holds stale data, or the
rest of the message is never sent.

## Example
```rust
stream.read(&mut header)?;
```

Use instead:
```rust
stream.read_exact(&mut header)?;
```

## References
- CWE-252: Unchecked Return Value
- CWE-394: Unexpected Status Code or Return Value
- Clippy: unused_io_amount
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, Rewrite, methods, rule
from jarvis_ls.jsec.local.rust.shapes import outwards

_WHOLE = {"read": "read_exact", "write": "write_all"}


@rule(
    query=methods("read", "write"),
    category="error_handling",
    cwe=(252, 394),
    confidence=0.8,
    suggestion="Use 'read_exact' or 'write_all', or check the returned count.",
    severity="medium",
    fixable=True,
)
def partial_io(call: Call) -> Iterator[Report]:
    argument = call.arg(0)
    if argument is None or len(call.arguments) != 1:
        return
    if call.name == "read" and not text(argument).startswith("&mut"):
        return
    top, handled = call.node, False
    for outer in outwards(call.node):
        if called_name(outer) not in ("unwrap", "expect"):
            return
        top, handled = outer, True
    parent = top.parent
    while parent is not None and parent.type in ("try_expression", "await_expression"):
        handled = handled or parent.type == "try_expression"
        parent = parent.parent
    if parent is None or parent.type != "expression_statement" or not handled:
        return
    if not _is_stream(call.receiver, argument, call.name):
        return
    name = field(field(call.node, "function"), "field")
    whole = _WHOLE[call.name]
    yield Report(
        call.node,
        "Byte count of '{called}' is ignored: it may transfer less than requested.",
        pattern=call.name,
        fix=Rewrite("Use '{whole}'", [(name, whole)], safe=False, whole=whole)
        if name is not None
        else None,
        called=call.name,
    )


_STREAMS = frozenset(
    "w writer out output f fmt dst stream os sink file encoder target formatter".split()
)


def _is_stream(receiver: Node | None, argument: Node, name: str) -> bool:
    """Return whether the receiver may be a stream, unlike in `hasher.write(&x)` or a lock."""
    words = text(receiver).lower()[-80:]
    if any(
        word in words
        for word in ("hash", "state", "lock", "cell", "buf_mut", "maybe", "ptr", "sip", "digest")
    ):
        return False
    if name == "write" and text(argument).removeprefix("&mut ").lstrip("&") in _STREAMS:
        return False  # a value that writes itself
    return name == "read" or argument.type in (
        "reference_expression",
        "identifier",
        "call_expression",
        "string_literal",
    )
