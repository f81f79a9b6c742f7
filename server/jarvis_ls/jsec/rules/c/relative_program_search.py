"""Untrusted search path: program looked up in PATH.

## What it does
Finds `execlp`, `execvp`, `posix_spawnp`, `system` and `popen` with a literal program name that is
not an absolute path. Shell builtins (`cd`, `echo`, `exit`) are left out.

## Why is this bad?
The caller of the program controls PATH. With a directory of the attacker at its start, any
program of that name runs instead.

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

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, calls, flow_verdicts, rule
from jarvis_ls.jsec.local.c.string_lengths import literal_content

PLACES = {
    "system": 0,
    "popen": 0,
    "_popen": 0,
    "_wpopen": 0,
    "_wsystem": 0,
    "wpopen": 0,
    "execlp": 0,
    "execvp": 0,
    "execvpe": 0,
    "posix_spawnp": 1,
    "_execlp": 0,
    "_execvp": 0,
    "_spawnlp": 1,
    "_spawnvp": 1,
    "_wexeclp": 0,
    "_wexecvp": 0,
    "_wspawnlp": 1,
    "_wspawnvp": 1,
    "WinExec": 0,
    "CreateProcessA": 1,
    "CreateProcessW": 1,
}
_BUILTIN = frozenset(
    "cd echo exit true false exec : test [ pause cls set export umask ulimit if for".split()
)


@rule(
    query=calls(*PLACES),
    category="input_validation",
    cwe=(426, 427),
    confidence=0.6,
    severity="medium",
    suggestion="Use an absolute path to the program.",
)
@flow_verdicts(faults=("search-path", "command-injection"))
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
        "'{call}' searches PATH for '{program}', and the caller of the program controls PATH.",
        pattern=call.name,
        call=call.name,
        program=name,
    )
