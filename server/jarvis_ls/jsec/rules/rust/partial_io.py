"""The number of bytes that were read or written is thrown away.

## What it does
Finds `x.read(&mut buf)?;`, `x.write(buf)?;` and `unwrap()` of them as statements.

## Why is this bad?
Both may handle fewer bytes than asked for. The rest of the buffer holds old data, or the rest of
the message is never sent.

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

from jarvis_ls.codeintel.code import Call, called_name, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.rule import Report, Rewrite, methods, rule
from jarvis_ls.jsec.rust.shapes import outwards

_WHOLE = {"read": "read_exact", "write": "write_all"}


@rule(
    query=methods("read", "write"),
    category="error_handling",
    cwe=(252, 394),
    confidence=0.8,
    suggestion="Use 'read_exact' or 'write_all', or look at the number that is returned.",
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
        "'{called}' may handle fewer bytes than asked for, and nobody looks how many.",
        pattern=call.name,
        fix=Rewrite("Use '{whole}'", [(name, whole)], safe=False, whole=whole)
        if name is not None
        else None,
        called=call.name,
    )


_STREAMS = frozenset({"w", "writer", "out", "output", "f", "fmt", "dst", "stream", "os", "sink",
                      "file", "encoder", "target", "formatter"})  # fmt: skip


def _is_stream(receiver: Node | None, argument: Node, name: str) -> bool:
    """Whether the receiver may be a stream: `hasher.write(&x)` and locks are something else."""
    words = text(receiver).lower()[-80:]
    if any(word in words for word in ("hash", "state", "lock", "cell", "buf_mut", "maybe", "ptr",
                                      "sip", "digest")):  # fmt: skip
        return False
    if name == "write" and text(argument).removeprefix("&mut ").lstrip("&") in _STREAMS:
        return False  # a value that writes itself
    return name == "read" or argument.type in (
        "reference_expression", "identifier", "call_expression", "string_literal",
    )  # fmt: skip
