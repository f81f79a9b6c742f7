"""A file or descriptor is used after it was closed.

## What it does
Follows each local `FILE *`, directory stream or descriptor through its function and reports a
use that can be reached after `fclose`, `closedir` or `close` without it being opened again.

## Why is this bad?
A `FILE` is freed by `fclose`, so the use reads freed memory. A descriptor number is given to
the next file or socket that is opened, perhaps by another thread: data goes to the wrong place.

## Example
```c
fclose(log);
fprintf(log, "done\n");
```

Use instead:
```c
fprintf(log, "done\n");
fclose(log);
```

## References
- CWE-910: Use of Expired File Descriptor
- CWE-672: Operation on a Resource after Expiration or Release
- CWE-416: Use After Free
- SEI CERT C FIO46-C: Do not access a closed file
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, text
from jarvis_ls.jsec.c.allocation import CLOSING
from jarvis_ls.jsec.c.mentions import USING
from jarvis_ls.jsec.c.nearby import use_after
from jarvis_ls.jsec.rule import Report, calls, rule

_DESCRIPTORS = frozenset({"close", "_close", "closesocket"})
_USERS = frozenset({
    "read", "write", "_read", "_write", "pread", "pwrite", "readv", "writev", "lseek", "_lseek",
    "fstat", "fsync", "fdatasync", "ftruncate", "fchmod", "fchown", "ioctl", "fcntl", "flock",
    "dup", "dup2", "mmap", "send", "recv", "sendto", "recvfrom", "sendmsg", "recvmsg", "bind",
    "listen", "accept", "connect", "shutdown", "getsockopt", "setsockopt", "fdopen", "_fdopen",
    "dprintf", "sendfile",
})  # fmt: skip
"""Functions that work on a descriptor; its number alone may be shown after it is closed."""


@rule(
    query=calls(*CLOSING),
    category="resource_leak",
    cwe=(910, 672, 416),
    confidence=0.85,
    suggestion="Close '{handle}' after its last use.",
)
def use_after_close(closing: Call) -> Iterator[Report]:
    use = use_after(closing)
    number = closing.name in _DESCRIPTORS
    if use is not None and use.does in USING and (use.by in _USERS or not number):
        yield Report(
            use.node,
            "'{handle}' is used after {closer}() closed it.",
            confidence=0.85 if use.certain else 0.55,
            pattern=closing.name,
            handle=text(closing.arg(0)),
            closer=closing.name,
            related=[(closing.node, "Closed here.")],
        )
