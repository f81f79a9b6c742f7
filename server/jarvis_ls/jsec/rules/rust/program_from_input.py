"""Input decides which program is started.

## What it does
Finds `Command::new(x)` where `x` comes from the command line, the environment, a request or from
text that is read.

## Why is this bad?
Whoever sends the name runs any program on the machine with the rights of this one.

## Example
```rust
Command::new(request.param("tool")).status()?;
```

Use instead:
```rust
let program = match request.param("tool") {
    "zip" => "zip",
    _ => "tar",
};
Command::new(program).status()?;
```

## References
- CWE-78: Improper Neutralization of Special Elements used in an OS Command ('OS Command Injection')
- CWE-426: Untrusted Search Path
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, text
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, calls, flow, rule
from jarvis_ls.jsec.rust.guards import tested
from jarvis_ls.jsec.rust.shapes import call_path
from jarvis_ls.jsec.rust.values import is_literal, origin

_CONFIDENCE = {"the environment": 0.4, "the command line": 0.6}


@rule(
    query=flow("program-injection", guess=calls("new")),
    category="input_validation",
    cwe=(78, 426),
    confidence=0.75,
    suggestion="Choose the program from a list of names that you know.",
)
def program_from_input(call: Call | Fault) -> Iterator[Report]:
    if isinstance(call, Fault):
        yield Report(call, "Input decides which program is started here.", cwe=(78,))
        return
    if not call_path(call).endswith("Command::new") or len(call.arguments) != 1:
        return
    program = call.arg(0)
    if program is None or is_literal(program, call.function, call.unit):
        return
    source = origin(program, call.function)
    if not source or tested(call.function, program, call.node.start_byte):
        return
    yield Report(
        call.node,
        "The program to start, '{program}', comes from {source}.",
        confidence=_CONFIDENCE.get(source, 0.75),
        pattern="Command::new",
        program=text(program)[:60],
        source=source,
    )
