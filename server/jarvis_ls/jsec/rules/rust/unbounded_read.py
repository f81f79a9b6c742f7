"""Unbounded read from an untrusted peer.

## What it does
Finds `read_to_end`, `read_to_string` and `read_line` on sockets and standard input without `take`.

## Why is this bad?
A peer that keeps sending exhausts the memory of the process (denial of service).

## Example
```rust
let mut body = Vec::new();
stream.read_to_end(&mut body)?;
```

Use instead:
```rust
let mut body = Vec::new();
stream.take(MAX_BODY).read_to_end(&mut body)?;
```

## References
- CWE-770: Allocation of Resources Without Limits or Throttling
- CWE-400: Uncontrolled Resource Consumption
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, methods, rule
from jarvis_ls.jsec.local.rust.shapes import call_place, callee_names
from jarvis_ls.jsec.local.rust.values import type_of

_SOCKET = re.compile(r"\b(?:TcpStream|UnixStream|TlsStream|SslStream|OwnedReadHalf|ReadHalf)\b")
_NAMED = re.compile(r"(?i)(?:^|[._])(?:stream|socket|conn|connection|sock|client|peer)$")


@rule(
    query=methods("read_to_end", "read_to_string"),
    category="input_validation",
    cwe=(770, 400),
    confidence=0.6,
    suggestion="Limit the size: 'reader.take(MAX).read_to_end(…)'.",
    severity="medium",
)
def unbounded_read(call: Call) -> Iterator[Report]:
    if call.receiver is None or len(call.arguments) != 1 or in_test(call.node):
        return
    receiver = text(call.receiver)
    kind = type_of(call.receiver, call.function, call.unit)
    if ".take(" in receiver or (call.function is not None and _limits(call)):
        return
    certain = _SOCKET.search(kind) is not None
    if not certain and not _NAMED.search(receiver[-80:]):
        return
    yield Report(
        call_place(call.node),
        "'{called}' reads an unbounded amount of data from '{receiver}'.",
        confidence=0.65 if certain else 0.5,
        pattern=call.name,
        called=call.name,
        receiver=receiver[-60:],
    )


def _limits(call: Call) -> bool:
    assert call.function is not None
    return not callee_names(call.function).isdisjoint(("take", "set_limit", "limit"))
