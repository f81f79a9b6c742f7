"""OS command injection.

## What it does
Finds `system`, `popen` and their Windows counterparts with a command that is not a literal, and
`exec*`, `posix_spawn*`, `_spawn*` whose program, or whose argument to a shell, is not. Text built
only from literals is not reported. Untrusted input in the same function raises the confidence;
taint is followed through functions and files.

## Why is this bad?
The shell interprets `;`, `|`, `$( )` and blanks. An attacker who controls part of the command can
run arbitrary commands.

## Example
```c
snprintf(command, sizeof(command), "ls %s", argv[1]);
system(command);
```

Use instead:
```c
char *const arguments[] = {"ls", "--", argv[1], NULL};
execv("/bin/ls", arguments);
```

## References
- CWE-78: Improper Neutralization of Special Elements used in an OS Command
- CWE-88: Improper Neutralization of Argument Delimiters in a Command
- SEI CERT C ENV33-C: Do not call system()
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, flow, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.inputs import Source, text_source, weigh_injection
from jarvis_ls.jsec.local.c.proof import pick_template
from jarvis_ls.jsec.local.c.string_lengths import literal_content, only_literals
from jarvis_ls.jsec.local.constants import string_literal

SHELLS = {
    "system": 0,
    "popen": 0,
    "_popen": 0,
    "_wpopen": 0,
    "_wsystem": 0,
    "wpopen": 0,
    "WinExec": 0,
    "_tsystem": 0,
}
PROGRAMS = {
    "execl": 0,
    "execlp": 0,
    "execle": 0,
    "execv": 0,
    "execvp": 0,
    "execve": 0,
    "execvpe": 0,
    "posix_spawn": 1,
    "posix_spawnp": 1,
    "_execl": 0,
    "_execlp": 0,
    "_execv": 0,
    "_execvp": 0,
    "_spawnl": 1,
    "_spawnlp": 1,
    "_spawnv": 1,
    "_spawnvp": 1,
    "spawnl": 1,
    "spawnv": 1,
    "_wexecl": 0,
    "_wspawnl": 1,
    "_wexeclp": 0,
    "_wexecv": 0,
    "_wexecvp": 0,
    "_wspawnlp": 1,
    "_wspawnv": 1,
    "_wspawnvp": 1,
    "ShellExecuteA": 2,
    "ShellExecuteW": 2,
    "ShellExecute": 2,
    "CreateProcessA": 1,
    "CreateProcessW": 1,
    "CreateProcess": 1,
}
_SHELL_NAMES = ("sh", "bash", "cmd.exe", "cmd", "dash", "zsh", "ksh", "powershell", "env")

INPUT = "Untrusted input from '{source}' is used in a command run by '{call}' (command injection)."
UNKNOWN = "'{call}' runs '{command}', which is not a literal."


@rule(
    query=flow("command-injection", guess=calls(*SHELLS, *PROGRAMS)),
    category="input_validation",
    cwe=(78, 88),
    confidence=0.7,
    suggestion=(
        "Run a fixed program by its absolute path without a shell, and pass input as arguments."
    ),
)
def command_from_variable(call: Call) -> Iterator[Report]:
    function = call.function
    if function is None:
        return
    if call.name in SHELLS:
        command, confidence = call.arg(SHELLS[call.name]), 0.7
    else:
        command, confidence = _of_program(call, function)
    if command is None or string_literal(command, function) is not None:
        return
    if text(bare(command)) in ("NULL", "0", "nullptr"):
        return
    source = text_source(command, function, at=call.node.start_byte)
    if source is None and only_literals(command, function, call.node.start_byte):
        return
    if source is None and (confidence == 0 or literal_content(command, function) is not None):
        return
    yield _report(call, command, source, confidence)


@on_fault(command_from_variable)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        pick_template(
            fault,
            "Untrusted input is used in a command run by '{by}' (command injection).",
            "Untrusted input is used in a command (command injection).",
        ),
        cwe=(78,),
    )


def _report(call: Call, command: Node, source: Source | None, confidence: float) -> Report:
    return Report(
        call.node,
        UNKNOWN if source is None else INPUT,
        confidence=_weigh(call, source, confidence),
        pattern=call.name,
        call=call.name,
        command=text(command),
        source="" if source is None else source.name,
        causes=[(source.node, "Untrusted input enters here.")] if source is not None else (),
    )


def _weigh(call: Call, source: Source | None, confidence: float) -> float:
    if source is None or call.function is None:
        return confidence
    return weigh_injection(source, 0.6 if source.name == "argv" else 0.8, call.function)


def _of_program(call: Call, function: Function) -> tuple[Node | None, float]:
    """Return the program when it is not a literal, else the tainted argument of a literal shell
    (with confidence 0: reported only for untrusted input)."""
    place = PROGRAMS[call.name]
    program = call.arg(place)
    literal = literal_content(program, function)
    if literal is None:
        return program, 0.5
    if literal.replace("\\\\", "/").rpartition("/")[2] not in _SHELL_NAMES:
        return None, 0
    for argument in _arguments(call, place, function):
        if text_source(argument, function, at=call.node.start_byte) is not None:
            return argument, 0
    return None, 0


def _arguments(call: Call, place: int, function: Function) -> list[Node]:
    """Return the arguments of the program, also those in the initialiser of an array."""
    found = call.arguments[place + 1 :]
    if len(found) >= 1:
        name = bare(found[0])
        variable = function.variable(text(name), name.start_byte)
        if (
            variable is not None
            and variable.initial is not None
            and (variable.initial.type == "initializer_list")
        ):
            return [n for n in variable.initial.named_children[:16] if n.type == "identifier"]
    return found[:16]
