"""Descriptor of a file or socket that is closed at once.

## What it does
Finds `as_raw_fd()`, `as_raw_handle()` and `as_raw_socket()` of a file or socket that is opened in
the same expression, when the descriptor is stored or returned. Passing it on within one call is
fine.

## Why is this bad?
The owner is dropped at the end of the statement, which closes the descriptor. Its number may belong
to another file by the time it is used, which is then read, written or closed instead.

## Example
```rust
let fd = File::open(path)?.as_raw_fd();
```

Use instead:
```rust
let fd = File::open(path)?.into_raw_fd();
```

## References
- CWE-672: Operation on a Resource after Expiration or Release
- CWE-910: Use of Expired File Descriptor
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, Rewrite, methods, rule
from jarvis_ls.jsec.local.rust.shapes import chain, path_of
from jarvis_ls.jsec.local.rust.temporaries import storage_of

_INTO = {
    "as_raw_fd": "into_raw_fd",
    "as_raw_handle": "into_raw_handle",
    "as_raw_socket": "into_raw_socket",
}
_OWNERS = frozenset(
    "File TcpStream TcpListener UdpSocket UnixStream UnixListener UnixDatagram Socket".split()
)
_MAKES = frozenset("open create create_new options bind connect unbound".split())
_PASSING = frozenset(
    "unwrap expect map_err unwrap_or_else ok ok_or ok_or_else context with_context or_else".split()
)


@rule(
    query=methods(*_INTO),
    category="resource_leak",
    cwe=(672, 910),
    confidence=0.85,
    severity="medium",
    suggestion="Keep the owner in a variable, or take the descriptor out of it by '{into}'.",
    fixable=True,
)
def descriptor_of_dropped_owner(call: Call) -> Iterator[Report]:
    opened = _opened(call)
    if opened is None or storage_of(call.node) is None:
        return
    yield Report(
        call.node,
        "The descriptor is closed at the end of the statement, together with its owner.",
        pattern=call.name,
        causes=[(opened, "The owner is created here.")],
        fix=_into_raw(call),
        into=_INTO[call.name],
    )


def _opened(call: Call) -> Node | None:
    """Return the call that opens the file or socket whose descriptor is taken; None when that has
    a name."""
    for node in chain(call.receiver):
        if node.type != "call_expression":
            return None
        name = called_name(node)
        if name in _PASSING:
            continue
        if name == "try_clone":
            return node
        callee = field(node, "function")
        if callee is None or name not in _MAKES:
            return None
        if callee.type == "scoped_identifier":
            owner = path_of(text(callee), call.unit).rpartition("::")[0].rpartition("::")[2]
            return node if owner in _OWNERS else None
        return node if name == "open" and "OpenOptions" in text(callee)[:400] else None
    return None


def _into_raw(call: Call) -> Rewrite | None:
    """Return the rewrite that leaves the descriptor open, for the caller to close."""
    callee = field(call.node, "function")
    name = field(callee, "field")
    if name is None:
        return None
    return Rewrite("Use '{into}'", [(name, _INTO[call.name])], safe=False, into=_INTO[call.name])
