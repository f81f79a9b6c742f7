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

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, Rewrite, methods, rule
from jarvis_ls.jsec.local.rust.shapes import outwards

_WHOLE = {"read": "read_exact", "write": "write_all"}


@rule(
    query=methods("read", "write"),
    category="error_handling",
    cwe=(252, 394),
    confidence=0.75,
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
    known = _is_known_stream(call)
    name = field(field(call.node, "function"), "field")
    whole = _WHOLE[call.name]
    yield Report(
        call.node,
        "Byte count of '{called}' is ignored: it may transfer less than requested.",
        confidence=0.75 if known else 0.4,
        pattern=call.name,
        fix=Rewrite("Use '{whole}'", [(name, whole)], safe=False, whole=whole)
        if name is not None and known
        else None,
        called=call.name,
    )


_STREAMS = frozenset(
    "w writer out output f fmt dst stream os sink file encoder target formatter".split()
)


_NUMBER = re.compile(r"&?[\s(]*-?\d[\w.]*[\s)]*")
_IO = re.compile(
    r"\b(?:File|TcpStream|UnixStream|Std(?:in|out|err)\w*|Child\w*|Pipe\w*|Buf(?:Reader|Writer)"
    r"|LineWriter|Async(?:Read|Write)\w*|Read|Write|OpenOptions|stdin|stdout|stderr|TlsStream"
    r"|\w*(?:Stream|Socket|Reader|Writer|Encoder|Decoder))\b"
)
"""Types, traits and functions of streams."""


def _is_known_stream(call: Call) -> bool:
    """Return whether the receiver implements `io::Read` or `io::Write`, as far as the function and
    the fields of the file say."""
    function, receiver = call.function, call.receiver
    if function is None or receiver is None:
        return False
    name = text(receiver).removeprefix("self.").rstrip("?").removesuffix(".0")
    declared = [field_.type for field_ in function.unit.facts.fields.get(name, ())]
    variable = function.variable(name, call.node.start_byte)
    if variable is not None:
        declared += [variable.type, text(variable.initial)[:300]]
    declared += [name] if "(" in name else []
    parameters = {word for said in declared for word in re.findall(r"\b[A-Z]\w*", said)}
    generic = [_bounds(function, parameter) for parameter in parameters]
    return any(_IO.search(said) for said in (*declared, *generic))


def _bounds(function: Function, parameter: str) -> str:
    """Return how the function bounds a type parameter."""
    body = function.body
    end = body.start_byte if body is not None else function.end
    head = function.unit.source.data[function.start : end].decode("utf-8", "replace")
    return " ".join(re.findall(rf"\b{parameter}\s*:\s*([^,>{{]*)", head))


def _is_stream(receiver: Node | None, argument: Node, name: str) -> bool:
    """Return whether the receiver may be a stream, unlike in `hasher.write(&x)` or a lock."""
    words = text(receiver).lower()[-80:]
    if any(
        word in words
        for word in ("hash", "state", "lock", "cell", "buf_mut", "maybe", "ptr", "sip", "digest")
    ):
        return False
    if _NUMBER.fullmatch(text(argument)):
        return False  # a value and no bytes
    if name == "write" and text(argument).removeprefix("&mut ").lstrip("&") in _STREAMS:
        return False  # a value that writes itself
    return name == "read" or argument.type in (
        "reference_expression",
        "identifier",
        "call_expression",
        "string_literal",
    )
