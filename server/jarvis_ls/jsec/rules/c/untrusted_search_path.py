"""A place to look for programs or libraries is set from what is not fixed.

## What it does
Finds `putenv` and `setenv` of PATH, LD_LIBRARY_PATH and LD_PRELOAD with input or with relative
directories, `SetDllDirectory` with a variable, and `dlopen` or `LoadLibrary` of libraries whose
name comes from outside or has no path.

## Why is this bad?
The next program or library that is looked up comes from a directory somebody else chose, and
runs with this program's rights.

## Example
```c
setenv("PATH", getenv("TOOLS"), 1);
```

Use instead:
```c
setenv("PATH", "/usr/bin:/bin", 1);
```

## References
- CWE-427: Uncontrolled Search Path Element
- CWE-426: Untrusted Search Path
- CWE-114: Process Control
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, bare, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.inputs import text_source
from jarvis_ls.jsec.c.texts import literal_content
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.flow.library.tables import is_known
from jarvis_ls.jsec.guards import NULLS
from jarvis_ls.jsec.rule import Report, calls, flow, rule

_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH", "DYLD_LIBRARY_PATH")
SETTERS = ("putenv", "_putenv", "_wputenv", "setenv", "SetEnvironmentVariableA", "_putenv_s")
LOADERS = ("dlopen", "LoadLibrary", "LoadLibraryA", "LoadLibraryW", "LoadLibraryExA",
           "SetDllDirectory", "SetDllDirectoryA", "SetDllDirectoryW")  # fmt: skip

INPUT = "'{call}' is given '{value}', which comes from '{source}'."
RELATIVE = "'{value}' names a place relative to wherever the program is started."
UNKNOWN = "'{call}' is given '{value}', which is not a literal."


@rule(
    query=flow("search-path", guess=calls(*SETTERS, *LOADERS)),
    category="input_validation",
    cwe=(427, 426, 114),
    confidence=0.85,
    suggestion="Use fixed absolute directories only.",
    unasked=(RELATIVE,),
)
def untrusted_search_path(call: Call | Fault) -> Iterator[Report]:
    if isinstance(call, Fault):
        yield Report(
            call,
            "Where programs or libraries are looked for can be changed from outside.",
            cwe=(426, 427),
        )
        return
    value = call.arg(1 if call.name in ("setenv", "SetEnvironmentVariableA", "_putenv_s") else 0)
    if value is None or text(bare(value)) in NULLS:
        return
    if call.name in SETTERS:
        yield from _setting(call, value)
    else:
        yield from _loading(call, value)


def _setting(call: Call, value: Node) -> Iterator[Report]:
    literal = literal_content(value, call.function)
    if call.arg(0) is not value:
        name = literal_content(call.arg(0), call.function)
        if name is None or name not in _VARIABLES:
            return
    elif literal is not None:
        name, _, literal = literal.partition("=")
        if name not in _VARIABLES:
            return
    source = text_source(value, call.function)
    if source is not None:
        yield _report(call, INPUT, value, 0.85, source.name)
    elif literal is not None and any(_is_relative(part) for part in literal.split(":")):
        yield _report(call, RELATIVE, value, 0.8)


def _loading(call: Call, value: Node) -> Iterator[Report]:
    source = text_source(value, call.function)
    literal = literal_content(value, call.function)
    if source is not None:
        yield _report(call, INPUT, value, 0.85, source.name)
    elif literal is None:
        yield _report(call, UNKNOWN, value, 0.45)
    elif call.name != "dlopen" and _is_relative(literal) and not is_known(literal):
        yield _report(call, RELATIVE, value, 0.6)
    elif "/" in literal and _is_relative(literal):
        yield _report(call, RELATIVE, value, 0.8)


def _report(
    call: Call, message: str, value: Node, confidence: float, source: str = ""
) -> Report:  # fmt: skip
    return Report(call.node, message, confidence=confidence, pattern=call.name, call=call.name,
                  value=text(value), source=source)  # fmt: skip


def _is_relative(directory: str) -> bool:
    absolute = directory.startswith(("/", "$", "%", "\\\\", "~")) or ":" in directory[:3]
    return not absolute
