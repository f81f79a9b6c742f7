"""Time-of-check time-of-use (TOCTOU) race on a path.

## What it does
Finds `access`, `stat` or `lstat` of a path that the same function then opens, removes, renames or
changes by name; and `chmod` or `chown` by name of a file just opened.

## Why is this bad?
Between the two calls another process can replace the file, for example by a symbolic link. The
file used is then not the one checked.

## Example
```c
if (access(path, W_OK) == 0)
    fd = open(path, O_WRONLY);
```

Use instead:
```c
fd = open(path, O_WRONLY | O_NOFOLLOW);
if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
    write_to(fd);
```

## References
- CWE-367: Time-of-check Time-of-use (TOCTOU) Race Condition
- SEI CERT C FIO45-C: Avoid TOCTOU race conditions while accessing files
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.guards import same_path, written_between

CHECKS = {
    "access": 0.58,
    "faccessat": 0.58,
    "_access": 0.55,
    "_waccess": 0.55,
    "euidaccess": 0.58,
    "stat": 0.5,
    "lstat": 0.55,
    "_stat": 0.5,
    "stat64": 0.5,
    "lstat64": 0.55,
    "readlink": 0.5,
    "_wstat": 0.5,
    "exists": 0.45,
    "is_regular_file": 0.45,
}
OPENS = frozenset(
    {"open", "open64", "fopen", "fopen64", "creat", "_open", "_wopen", "_wfopen", "freopen"}
)
CHANGES = frozenset({"chmod", "chown", "lchown"})
USES = (
    OPENS
    | CHANGES
    | frozenset(
        "unlink remove rename truncate opendir mkdir rmdir chdir execv execl execvp "
        "execve execlp dlopen link symlink _unlink utime utimes chroot".split()
    )
)


@rule(
    query=functions(calling=(*CHECKS, *CHANGES)),
    category="race_condition",
    cwe=(367,),
    confidence=0.58,
    severity="medium",
    suggestion="Open the file first, then use 'fstat', 'fchmod' or 'fchown' on the descriptor.",
)
def check_before_use_of_path(function: Function) -> Iterator[Report]:
    uses_descriptor = any(call.name in ("fstat", "fstat64", "_fstat") for call in function.calls)
    checked: dict[str, Call] = {}
    for call in function.calls:
        path = _path(call)
        if not path:
            continue
        first = checked.get(path)
        if first is not None and _is_race(function, first, call, path):
            if uses_descriptor and call.name in OPENS:
                continue
            confidence = CHECKS.get(first.name, 0.55)
            yield Report(
                call.node,
                "TOCTOU race: '{path}' is checked with '{check}', then used by name.",
                confidence=confidence if call.name in OPENS | CHANGES else confidence - 0.15,
                pattern=f"{first.name}/{call.name}",
                path=path,
                check=first.written,
                causes=[(first.node, "Checked here.")],
            )
            del checked[path]
        elif call.name in CHECKS or call.name in OPENS:
            checked[path] = call
        else:
            checked.pop(path, None)


def _path(call: Call) -> str:
    if call.is_method or (call.name not in CHECKS and call.name not in USES):
        return ""
    path = text(call.arg(1 if call.name == "faccessat" else 0))
    return "" if path in ("NULL", "0") else path


def _is_race(function: Function, first: Call, second: Call, path: str) -> bool:
    return (
        second.name in (USES if first.name in CHECKS else CHANGES)
        and same_path(function, first.node, second.node)
        and not written_between(function, path, first.node.end_byte, second.node.start_byte)
    )
