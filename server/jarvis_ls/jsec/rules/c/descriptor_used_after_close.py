"""A file descriptor or socket is used after it was closed.

## What it does
Looks at the statements that always come behind `close` or `closesocket`, and reports a call that
works on the descriptor without it being opened again. Its number alone may be shown.

## Why is this bad?
The number is given to the next file or socket that is opened, perhaps by another thread: data
goes to the wrong place.

## Example
```c
close(fd);
write(fd, "done\n", 5);
```

Use instead:
```c
write(fd, "done\n", 5);
close(fd);
```

## References
- CWE-910: Use of Expired File Descriptor
- CWE-672: Operation on a Resource after Expiration or Release
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.reports import used_after
from jarvis_ls.jsec.rule import Report, calls, rule

_USERS = frozenset({
    "read", "write", "_read", "_write", "pread", "pwrite", "readv", "writev", "lseek", "_lseek",
    "fstat", "fsync", "fdatasync", "ftruncate", "fchmod", "fchown", "ioctl", "fcntl", "flock",
    "dup", "dup2", "mmap", "send", "recv", "sendto", "recvfrom", "sendmsg", "recvmsg", "bind",
    "listen", "accept", "connect", "shutdown", "getsockopt", "setsockopt", "fdopen", "_fdopen",
    "dprintf", "sendfile",
})  # fmt: skip


@rule(
    query=calls("close", "_close", "closesocket"),
    category="resource_leak",
    cwe=(910, 672),
    confidence=0.85,
    suggestion="Close '{handle}' after its last use.",
)
def descriptor_used_after_close(closing: Call) -> Iterator[Report]:
    yield from used_after(closing, _USERS, _is_taken_anew)


def _is_taken_anew(use: Node) -> bool:
    """Whether a number stands where `dup2` puts a copy: it need not be open there."""
    call = use.parent.parent if use.parent is not None else None
    if call is None or not text(field(call, "function")).startswith("dup"):
        return False
    arguments = field(call, "arguments")
    return arguments is not None and arguments.named_children[0] != use
