"""OS command injection through a shell.

## What it does
Finds `Command::new("sh")` (bash, cmd, powershell, …) with `-c` or `/C` and a non-literal
argument, `libc::system` and `popen` with non-literal text, and scripts sent by `ssh`.

## Why is this bad?
The shell interprets `;`, `$(…)` and backquotes in every part. A file name such as `x; rm -rf ~`
becomes a command.

## Example
```rust
Command::new("sh").arg("-c").arg(format!("tar xf {name}")).status()?;
```

Use instead:
```rust
Command::new("tar").arg("xf").arg("--").arg(name).status()?;
```

## References
- CWE-78: Improper Neutralization of Special Elements used in an OS Command ('OS Command Injection')
- CWE-88: Improper Neutralization of Argument Delimiters in a Command ('Argument Injection')
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, flow, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.rust.shapes import (
    arguments,
    call_path,
    macro_name,
    macro_tokens,
    outwards,
    peel,
    receiver_of,
)
from jarvis_ls.jsec.local.rust.values import is_literal, literal_text, origin, peel_reference

_SHELLS = re.compile(
    r"(?:.*[/\\])?(?:sh|bash|dash|zsh|ksh|ash|fish|cmd|powershell|pwsh|su|ssh)(?:\.exe)?$"
)
_SWITCHES = re.compile(r"(?i)-\w*c|/c|-command|/k|-encodedcommand")


@rule(
    query=flow("command-injection", guess=calls("new", "system", "popen")),
    category="input_validation",
    cwe=(78, 88),
    confidence=0.85,
    suggestion="Run the program directly and pass each argument with 'arg'.",
)
def shell_command_from_parts(call: Call) -> Iterator[Report]:
    if call.name in ("system", "popen"):
        yield from _c_call(call)
        return
    if not call_path(call).endswith("Command::new"):
        return
    program = literal_text(peel(call.arg(0)))
    if program is None or not _SHELLS.match(program):
        return
    seen_switch = program.endswith(("ssh", "su"))
    for place in _arguments_of(call):
        written = literal_text(peel(place))
        if written is not None:
            seen_switch = seen_switch or _SWITCHES.fullmatch(written) is not None
            continue
        if not seen_switch or is_literal(place, call.function, call.unit):
            continue
        source = origin(place, call.function)
        yield Report(
            place,
            "Command line '{command}' built at run time is passed to '{shell}' (command "
            "injection).",
            confidence=0.9 if source else 0.85 if _is_formatted(call, place) else 0.7,
            pattern=f"Command::new({program})",
            shell=program,
            command=" ".join(text(place)[:60].split()),
        )
        return


@on_fault(shell_command_from_parts)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(fault, "Untrusted input is run as a shell command (command injection).", cwe=(78,))


def _c_call(call: Call) -> Iterator[Report]:
    command = call.arg(0)
    path = call_path(call)
    if command is None or not (path.startswith("libc::") or path == call.name):
        return
    if '"' in text(command) and "format!" not in text(command):
        return
    if is_literal(command, call.function, call.unit):
        return
    yield Report(
        call.node,
        "Command line '{command}' built at run time is passed to '{shell}' (command injection).",
        confidence=0.75,
        pattern=call.name,
        shell=call.name,
        command=" ".join(text(command)[:60].split()),
    )


def _arguments_of(call: Call) -> list[Node]:
    """Return what `arg` and `args` add to the command, in the chain and on its variable."""
    places: list[Node] = []
    for outer in outwards(call.node):
        places.extend(_arguments_in(outer))
    target = call.target
    if target is not None and call.function is not None:
        name = text(target).removeprefix("mut ")
        for use in call.function.uses(name, call.node.end_byte)[:32]:
            member = use.parent
            if member is None or member.type != "field_expression" or member.parent is None:
                continue
            places.extend(_arguments_in(member.parent))
            for outer in outwards(member.parent):
                places.extend(_arguments_in(outer))
    return places


def _arguments_in(node: Node) -> list[Node]:
    name = called_name(node)
    args = arguments(node)
    if name == "arg" and args:
        return args[:1]
    if name != "args" or not args:
        return []
    value = peel_reference(args[0])
    if value is not None and value.type == "array_expression":
        return [c for c in value.named_children if "comment" not in c.type]
    tokens = macro_tokens(value) if value is not None and value.type == "macro_invocation" else None
    if tokens is not None:
        return [
            c for c in tokens.named_children if c.type.endswith("literal") or c.type == "identifier"
        ]
    return args[:1]


def _is_formatted(call: Call, place: Node) -> bool:
    node = peel(place)
    if node is not None and node.type == "identifier" and call.function is not None:
        variable = call.function.variable(text(node), node.start_byte)
        node = peel(variable.initial) if variable is not None else None
    for _ in range(4):
        if node is None or node.type != "call_expression":
            break
        node = peel(receiver_of(node))
    return node is not None and (
        (node.type == "macro_invocation" and macro_name(node) == "format")
        or node.type == "binary_expression"
    )
