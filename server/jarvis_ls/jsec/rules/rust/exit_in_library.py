"""Process exit in a library function.

## What it does
Finds `process::exit`, `process::abort`, `libc::exit` and `libc::_exit` in files without a `main`.

## Why is this bad?
Destructors do not run: buffers are not flushed, temporary files and locks remain. The host
program cannot handle the error.

## Example
```rust
pub fn load(path: &Path) -> Config {
    read(path).unwrap_or_else(|_| std::process::exit(1))
}
```

Use instead:
```rust
pub fn load(path: &Path) -> Result<Config, Error> {
    read(path)
}
```

## References
- CWE-382: J2EE Bad Practices: Use of System.exit()
- CWE-705: Incorrect Control Flow Scoping
- Clippy: exit
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.rust.shapes import call_path

_ENDS = re.compile(r"(?:^|::)(?:process::(?:exit|abort)|libc::_?exit|libc::abort)$")
_NAMED_FOR_IT = re.compile(r"(?i)exit|abort|die|fatal|usage|panic|main|fail|crash|oom")


@rule(
    query=calls("exit", "_exit", "abort"),
    category="error_handling",
    cwe=(705, 382),
    confidence=0.35,
    suggestion="Return an error and let 'main' decide on the exit.",
    severity="low",
)
def exit_in_library(call: Call) -> Iterator[Report]:
    function = call.function
    path = call_path(call)
    if function is None or not _ENDS.search(path) or "main" in call.unit.facts.defined:
        return
    if _NAMED_FOR_IT.search(function.name) or in_test(call.node):
        return
    yield Report(
        call.node,
        "'{function}' terminates the process without running destructors.",
        pattern=call.name,
        function=function.name,
    )
