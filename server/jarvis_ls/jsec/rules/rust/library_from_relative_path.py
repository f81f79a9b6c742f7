"""Untrusted search path for a shared library.

## What it does
Finds `Library::new`, `dlopen` and `LoadLibrary` with a relative path, a path in a shared
directory, or a path from untrusted input.

## Why is this bad?
The loader may find an attacker's library first. Its code runs with all privileges of the process.

## Example
```rust
let library = Library::new("./plugins/codec.so")?;
```

Use instead:
```rust
let library = Library::new("/usr/lib/app/codec.so")?;
```

## References
- CWE-426: Untrusted Search Path
- CWE-427: Uncontrolled Search Path Element
- CWE-114: Process Control
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.rust.shapes import call_path, peel
from jarvis_ls.jsec.local.rust.values import literal_text, origin


@rule(
    query=calls("new", "open", "dlopen", "LoadLibraryA", "LoadLibraryW", "open_already_loaded"),
    category="input_validation",
    cwe=(426, 427, 114),
    confidence=0.5,
    suggestion="Load it by an absolute path in a directory that only the administrator can "
    "write to.",
)
def library_from_relative_path(call: Call) -> Iterator[Report]:
    path = call_path(call)
    owner = path.rpartition("::")[0].rpartition("::")[2]
    if call.name in ("new", "open") and owner not in ("Library", "DynamicLibrary", "Container"):
        return
    argument = peel(call.arg(0))
    if argument is None or in_test(call.node):
        return
    written = literal_text(argument)
    if written is not None:
        if written.startswith(("/tmp/", "/var/tmp/", "./", "../")):
            confidence = 0.5
        elif not written.startswith("/") and ":" not in written[:3] and "lib" in owner.lower():
            confidence = 0.4
        else:
            return
    else:
        source = origin(argument, call.function)
        if not source:
            return
        confidence = 0.65 if source != "the environment" else 0.45
    yield Report(
        call.node,
        "Shared library '{library}' is loaded from an untrusted path.",
        confidence=confidence,
        pattern=path,
        library=text(argument)[:60],
    )
