"""World-writable file or directory.

## What it does
Finds modes with write permission for others (`0666`, `0777`, `S_IWOTH`) passed to `open`,
`creat`, `chmod`, `mkdir` and the like; `open` with `O_CREAT` but without a mode, which then takes
an indeterminate value; a security descriptor with a null DACL; and `fopen` for writing of a file
whose name suggests a password or key, in functions that set neither a umask nor a mode.

## Why is this bad?
Every user of the machine can modify data that the program later reads and trusts. With `open` and
`mkdir` only the umask, which the caller controls, may restrict the mode; with `chmod` nothing
does.

## Example
```c
int fd = open(path, O_CREAT | O_WRONLY, 0666);
chmod(socket_path, 0777);
```

Use instead:
```c
int fd = open(path, O_CREAT | O_WRONLY, 0600);
chmod(socket_path, 0700);
```

## References
- CWE-732: Incorrect Permission Assignment for Critical Resource
- CWE-276: Incorrect Default Permissions
- SEI CERT C FIO06-C: Create files with appropriate access permissions
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, rule
from jarvis_ls.jsec.local.c.file_modes import mode_value
from jarvis_ls.jsec.local.c.identifier_words import names_key, names_secret, words
from jarvis_ls.jsec.local.constants import string_literal

CREATING = {
    "open": 2,
    "open64": 2,
    "_open": 2,
    "openat": 3,
    "creat": 1,
    "mkdir": 1,
    "mkdirat": 2,
    "mkfifo": 1,
    "mknod": 1,
    "shm_open": 2,
    "sem_open": 2,
    "mq_open": 2,
}
SETTING = {"chmod": 1, "fchmod": 1, "fchmodat": 2}
STICKY = 0o1000


@rule(
    query=calls(*CREATING, *SETTING, "SetSecurityDescriptorDacl", "fopen"),
    category="insecure_permissions",
    cwe=(732, 276),
    confidence=0.85,
    suggestion="Restrict the mode to the owner: 0600 for files, 0700 for directories.",
    fixable=True,
)
def permissive_file_mode(call: Call) -> Iterator[Report]:
    if call.name == "SetSecurityDescriptorDacl":
        if text(call.arg(1)) == "TRUE" and text(call.arg(2)) in ("NULL", "0", "nullptr"):
            yield Report(
                call.node,
                "A null DACL grants full access to every user.",
                pattern=call.name,
            )
        return
    if call.name == "fopen":
        if _writes_secret(call):
            yield Report(
                call.node,
                "Secret in {path} may be readable by other users: fopen sets no file mode.",
                confidence=0.5,
                pattern="fopen",
                path=text(call.arg(0))[:60],
            )
        return
    place = CREATING.get(call.name, SETTING.get(call.name, 0))
    given = call.arg(place)
    if given is None:
        flags = text(call.arg(place - 1))
        if call.name in ("open", "open64", "openat") and "O_CREAT" in flags:
            yield Report(
                call.node,
                "'{name}' is called with O_CREAT but without a mode: the file permissions "
                "are indeterminate.",
                confidence=0.9,
                pattern=call.name,
                name=call.written,
            )
        return
    mode = mode_value(given, call)
    if mode is None or not mode & 0o002 or mode & STICKY:
        return
    yield Report(
        given,
        "Mode {mode} makes the file world-writable.",
        confidence=_confidence(call, mode),
        pattern=call.name,
        mode=text(given),
        name=call.written,
        fix=Rewrite(
            "Remove write permission for others", [(given, f"0{mode & 0o775:o}")], safe=False
        ),
    )


def _writes_secret(call: Call) -> bool:
    path, mode = call.arg(0), string_literal(call.arg(1), call.function) or ""
    if path is None or mode[:1] not in ("w", "a") or call.function is None:
        return False
    literal = string_literal(path, call.function)
    name = text(path) if literal is None else literal.rpartition("/")[2].partition(".")[0]
    tail = [word for word in words(name) if word not in ("file", "path", "name", "filename")]
    if not names_key("_".join(tail)) and not (literal or "").endswith((".pem", ".key")):
        return False
    return not any(c.name in ("umask", "fchmod", "chmod") for c in call.function.calls)


def _confidence(call: Call, mode: int) -> float:
    if names_secret(text(call.arg(0))):
        return 0.75
    if call.name in SETTING:  # done on purpose: for a socket or a terminal, as a rule
        return 0.65 if mode & 0o111 else 0.5
    return 0.45 if call.name.startswith("mkdir") or mode == 0o666 else 0.6
