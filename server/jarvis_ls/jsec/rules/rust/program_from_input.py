"""Program name controlled by untrusted input.

## What it does
Finds `Command::new(x)` where `x` comes from the command line, the environment, a request or from
text that is read.

## Why is this bad?
An attacker who controls the name can run any program on the machine with the privileges of this
process.

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

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, calls, flow, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.rust.guards import is_tested
from jarvis_ls.jsec.local.rust.shapes import call_path
from jarvis_ls.jsec.local.rust.values import is_literal, origin

_CONFIDENCE = {"the environment": 0.4, "the command line": 0.6}


@rule(
    query=flow("program-injection", guess=calls("new")),
    category="input_validation",
    cwe=(78, 426),
    confidence=0.6,
    suggestion="Choose the program from an allowlist.",
)
def program_from_input(call: Call) -> Iterator[Report]:
    if not call_path(call).endswith("Command::new") or len(call.arguments) != 1:
        return
    program = call.arg(0)
    if program is None or is_literal(program, call.function, call.unit):
        return
    source = origin(program, call.function)
    if not source or is_tested(call.function, program, call.node.start_byte):
        return
    yield Report(
        call.node,
        "Untrusted input from {source} is used as the program to run: '{program}'.",
        confidence=_CONFIDENCE.get(source, 0.6),
        pattern="Command::new",
        program=text(program)[:60],
        source=source,
    )


@on_fault(program_from_input)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault, "Untrusted input is used as the program to run (command injection).", cwe=(78,)
    )
