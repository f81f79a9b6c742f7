"""A program is run by a name that is looked up in PATH.

## What it does
Finds `execlp`, `execvp`, `posix_spawnp`, `system` and `popen` with a literal program that does
not begin at the root. What the shell itself does (`cd`, `echo`, `exit`) is left alone.

## Why is this bad?
PATH belongs to whoever starts the program. With a directory of their own in front, any program
of that name runs instead.

## Example
```c
FILE *pipe = popen("ls -la", "r");
```

Use instead:
```c
FILE *pipe = popen("/bin/ls -la", "r");
```

## References
- CWE-426: Untrusted Search Path
- CWE-427: Uncontrolled Search Path Element
- SEI CERT C ENV33-C: Do not call system()
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, text
from jarvis_ls.jsec.c.texts import literal_content
from jarvis_ls.jsec.rule import Report, calls, rule

PLACES = {"system": 0, "popen": 0, "_popen": 0, "_wpopen": 0, "_wsystem": 0, "wpopen": 0,
          "execlp": 0, "execvp": 0, "execvpe": 0, "posix_spawnp": 1, "_execlp": 0, "_execvp": 0,
          "_spawnlp": 1, "_spawnvp": 1, "_wexeclp": 0, "_wexecvp": 0, "_wspawnlp": 1,
          "_wspawnvp": 1, "WinExec": 0, "CreateProcessA": 1, "CreateProcessW": 1}  # fmt: skip
_BUILTIN = frozenset({"cd", "echo", "exit", "true", "false", "exec", ":", "test", "[", "pause",
                      "cls", "set", "export", "umask", "ulimit", "if", "for"})  # fmt: skip


@rule(
    query=calls(*PLACES),
    category="input_validation",
    cwe=(426, 427),
    confidence=0.6,
    severity="medium",
    suggestion="Name the program by its full path.",
    answered=("search-path", "command-injection"),
)
def relative_program_search(call: Call) -> Iterator[Report]:
    program = call.arg(PLACES[call.name])
    if call.name.startswith("CreateProcess") and text(call.arg(0)) not in ("NULL", "nullptr", "0"):
        program = call.arg(0)  # the command line names it only where this does not
    literal = literal_content(program, call.function)
    if literal is None or not literal.strip():
        return
    name = literal.split()[0]
    absolute = name.startswith(("/", "$", "%", "\\\\", "~", "(", "{")) or ":" in name[:3]
    if absolute or name in _BUILTIN or "=" in name:
        return
    yield Report(
        call.node,
        "'{call}' looks for '{program}' in PATH, which whoever starts the program sets.",
        pattern=call.name,
        call=call.name,
        program=name,
    )
