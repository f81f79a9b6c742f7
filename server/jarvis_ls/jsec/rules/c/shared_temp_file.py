"""Fixed file name in a world-writable directory.

## What it does
Finds `fopen` for writing, `creat`, and `open` with `O_CREAT` but without `O_EXCL`, of a path
below `/tmp/`, `/var/tmp/` or `/dev/shm/`.

## Why is this bad?
Another user can create a symbolic link of that name first (CWE-59). The program then overwrites
the target of the link with its own privileges.

## Example
```c
FILE *log = fopen("/tmp/myapp.log", "w");
```

Use instead:
```c
char name[] = "/tmp/myapp-XXXXXX";
int fd = mkstemp(name);
```

## References
- CWE-377: Insecure Temporary File
- CWE-59: Improper Link Resolution Before File Access
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.c.string_lengths import contents_before, names_of
from jarvis_ls.jsec.local.constants import string_literal

OPENING = {
    "fopen": 0,
    "fopen64": 0,
    "open": 0,
    "open64": 0,
    "creat": 0,
    "openat": 1,
    "sqlite3_open": 0,
}
SHARED = ("/tmp/", "/var/tmp/", "/dev/shm/", "/usr/tmp/")
PRINTERS = {"snprintf": 2, "sprintf": 1, "strcpy": 1, "strncpy": 1}


@rule(
    query=calls(*OPENING),
    category="race_condition",
    cwe=(377, 59),
    confidence=0.65,
    severity="medium",
    suggestion="Use 'mkstemp', add O_EXCL and O_NOFOLLOW, or use a private directory.",
)
def shared_temp_file(call: Call) -> Iterator[Report]:
    place = OPENING[call.name]
    path = call.arg(place)
    if path is None or not _creates(call, place):
        return
    written, certain = _path(call, path)
    if not written.startswith(SHARED):
        return
    yield Report(
        call.node,
        "'{path}' is in a world-writable directory: another user may have created a "
        "symbolic link there.",
        confidence=0.65 if certain else 0.5,
        pattern=call.name,
        path=written[:60],
    )


def _creates(call: Call, place: int) -> bool:
    mode = call.arg(place + 1)
    if call.name == "creat":
        return True
    if call.name.startswith("fopen"):
        written = string_literal(mode, call.function) or ""
        return written[:1] in ("w", "a") and "x" not in written
    flags = text(mode)
    return "O_CREAT" in flags and "O_EXCL" not in flags


def _path(call: Call, path: Node) -> tuple[str, bool]:
    """Return the text of a path or its beginning, and whether the text is complete."""
    literal = string_literal(path, call.function)
    if literal is not None or call.function is None:
        return literal or "", True
    for event in contents_before(call.function, names_of(path, call.function), path.start_byte):
        if event.call is not None and event.argument == 0 and event.call.name in PRINTERS:
            written = string_literal(event.call.arg(PRINTERS[event.call.name]), call.function)
            return written or "", False
    return "", True
