"""Use of a file descriptor after close.

## What it does
Checks the statements that always follow `close` or `closesocket`, and reports a call that operates
on the descriptor without it being opened again. Printing its number is allowed.

## Why is this bad?
The number is reused for the next file or socket that is opened, perhaps by another thread: data is
written to or read from the wrong one.

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

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.c.reports import used_after

_USERS = frozenset(
    "read write _read _write pread pwrite readv writev lseek _lseek fstat fsync fdatasync "
    "ftruncate fchmod fchown ioctl fcntl flock dup dup2 mmap send recv sendto recvfrom "
    "sendmsg recvmsg bind listen accept connect shutdown getsockopt setsockopt fdopen "
    "_fdopen dprintf sendfile".split()
)


@rule(
    query=calls("close", "_close", "closesocket"),
    category="resource_leak",
    cwe=(910, 672),
    confidence=0.85,
    suggestion="Close '{handle}' after its last use.",
)
def descriptor_used_after_close(closing: Call) -> Iterator[Report]:
    yield from used_after(closing, _USERS, _is_dup_target)


def _is_dup_target(use: Node) -> bool:
    """Return whether it is the target of `dup2`, which need not be open."""
    call = use.parent.parent if use.parent is not None else None
    if call is None or not text(field(call, "function")).startswith("dup"):
        return False
    arguments = field(call, "arguments")
    return arguments is not None and arguments.named_children[0] != use
