"""Return value of a file operation ignored.

## What it does
Finds `rename`, `chdir`, `fseek`, `ftruncate`, `chmod`, `remove` and the like whose return value
is ignored. `unlink`, which often cleans up files that may not exist, `remove` on an error path
and calls cast to `(void)` are left out.

## Why is this bad?
The program continues as if the file had been moved, the directory changed or the position set,
and then reads, overwrites or deletes the wrong file or data.

## Example
```c
chdir(upload_directory);
unlink(name);
```

Use instead:
```c
if (chdir(upload_directory) != 0)
    return -1;
```

## References
- CWE-252: Unchecked Return Value
- SEI CERT C ERR33-C: Detect and handle standard library errors
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import ancestors, text
from jarvis_ls.jsec.base.rule import Report, calls, rule, summary
from jarvis_ls.jsec.local.c.result_checks import is_result_dropped
from jarvis_ls.jsec.local.c.result_fixes import test_dropped_result
from jarvis_ls.jsec.local.guards import leaves

SURE = {
    "rename": 0.55,
    "_rename": 0.55,
    "chdir": 0.55,
    "fchdir": 0.55,
    "_chdir": 0.55,
    "ftruncate": 0.55,
    "truncate": 0.55,
    "chmod": 0.5,
    "fchmod": 0.5,
    "chown": 0.5,
    "fchown": 0.5,
    "lchown": 0.5,
    "dup2": 0.4,
    "symlink": 0.5,
    "link": 0.5,
    "renameat": 0.55,
    "fseek": 0.45,
    "fseeko": 0.45,
    "lseek": 0.45,
    "_lseek": 0.45,
    "fsetpos": 0.45,
    "fsync": 0.45,
    "fdatasync": 0.45,
    "pipe": 0.55,
    "socketpair": 0.55,
    "bind": 0.55,
    "listen": 0.55,
    "connect": 0.55,
    "setrlimit": 0.55,
    "stat": 0.5,
    "fstat": 0.5,
    "lstat": 0.5,
    "mlock": 0.3,
    "mprotect": 0.55,
    "mkfifo": 0.45,
    "remove": 0.45,
    "WriteFile": 0.5,
    "ConnectNamedPipe": 0.5,
    "SetNamedPipeHandleState": 0.5,
    "MoveFileA": 0.5,
    "MoveFileW": 0.5,
    "MoveFileExA": 0.5,
    "MoveFileExW": 0.5,
    "CopyFileA": 0.5,
    "CopyFileW": 0.5,
    "SetEndOfFile": 0.5,
    "SetCurrentDirectoryA": 0.5,
    "SetCurrentDirectoryW": 0.5,
}
SEEKS = frozenset({"fseek", "fseeko", "lseek", "_lseek"})


@rule(
    query=calls(*SURE),
    category="error_handling",
    cwe=(252,),
    confidence=0.5,
    severity="medium",
    suggestion="Check the return value of '{name}' and handle the failure.",
    fixable=True,
)
@summary("Return values of {count} file operations in this file are ignored.")
def unchecked_file_operation(call: Call) -> Iterator[Report]:
    if not is_result_dropped(call) or not call.arguments:
        return
    if call.name == "remove" and _is_cleanup(call):
        return
    if call.name in SEEKS and text(call.arg(1)).rstrip("lL") == "0":
        return  # to an end of the file: the next read or ftell fails visibly
    if call.name == "WriteFile" and "GetStdHandle" in text(call.arg(0)):
        return  # a lost console message is rarely worth a report
    yield Report(
        call.node,
        "Return value of '{name}' is ignored; the program continues after a failure.",
        confidence=SURE[call.name],
        pattern=call.name,
        name=call.written,
        fix=test_dropped_result(call),
    )


def _is_cleanup(call: Call) -> bool:
    """Return whether the enclosing block leaves the function after the call."""
    statement = call.statement
    if statement is None:
        return False
    stop = call.function.body if call.function is not None else None
    for outer in ancestors(statement, stop):
        if outer.type == "compound_statement":
            return any(
                leaves(c) for c in outer.named_children if c.start_byte >= statement.end_byte
            )
    return False
