"""A shell runs a command line that is put together from parts.

## What it does
Finds `Command::new("sh")` (bash, cmd, powershell, …) with `-c` or `/C` and an argument that is no
literal, `libc::system` and `popen` with text that is no literal, and scripts sent by `ssh`.

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

from jarvis_ls.codeintel.code import Call, called_name, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, calls, flow, rule
from jarvis_ls.jsec.rust.shapes import (
    arguments,
    call_path,
    macro_name,
    macro_tokens,
    outwards,
    peel,
    receiver_of,
)
from jarvis_ls.jsec.rust.values import is_literal, literal_text, origin, peel_reference

_SHELLS = re.compile(
    r"(?:.*[/\\])?(?:sh|bash|dash|zsh|ksh|ash|fish|cmd|powershell|pwsh|su|ssh)(?:\.exe)?$"
)
_SWITCHES = re.compile(r"(?i)-\w*c|/c|-command|/k|-encodedcommand")


@rule(
    query=flow("command-injection", guess=calls("new", "system", "popen")),
    category="input_validation",
    cwe=(78, 88),
    confidence=0.85,
    suggestion="Start the program itself and pass each part with 'arg'.",
)
def shell_command_from_parts(call: Call | Fault) -> Iterator[Report]:
    if isinstance(call, Fault):
        yield Report(call, "A shell runs text that comes from input as a command line.", cwe=(78,))
        return
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
            "'{shell}' runs '{command}' as a command line.",
            confidence=0.9 if source else 0.85 if _is_formatted(call, place) else 0.7,
            pattern=f"Command::new({program})",
            shell=program,
            command=" ".join(text(place)[:60].split()),
        )
        return


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
        "'{shell}' runs '{command}' as a command line.",
        confidence=0.75,
        pattern=call.name,
        shell=call.name,
        command=" ".join(text(command)[:60].split()),
    )


def _arguments_of(call: Call) -> list[Node]:
    """What `arg` and `args` add to the command: along the chain, and on the variable it is
    bound to."""
    places: list[Node] = []
    for outer in outwards(call.node):
        places.extend(_added(outer))
    target = call.target
    if target is not None and call.function is not None:
        name = text(target).removeprefix("mut ")
        for use in call.function.uses(name, call.node.end_byte)[:32]:
            member = use.parent
            if member is None or member.type != "field_expression" or member.parent is None:
                continue
            places.extend(_added(member.parent))
            for outer in outwards(member.parent):
                places.extend(_added(outer))
    return places


def _added(node: Node) -> list[Node]:
    name = called_name(node)
    given = arguments(node)
    if name == "arg" and given:
        return given[:1]
    if name != "args" or not given:
        return []
    held = peel_reference(given[0])
    if held is not None and held.type == "array_expression":
        return [c for c in held.named_children if "comment" not in c.type]
    tokens = macro_tokens(held) if held is not None and held.type == "macro_invocation" else None
    if tokens is not None:
        return [c for c in tokens.named_children if c.type.endswith("literal")
                or c.type == "identifier"]  # fmt: skip
    return given[:1]


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
