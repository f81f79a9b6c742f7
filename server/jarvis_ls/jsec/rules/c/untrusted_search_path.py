"""Uncontrolled search path element.

## What it does
Finds `putenv` and `setenv` of PATH, LD_LIBRARY_PATH and LD_PRELOAD with untrusted input or
relative directories, `SetDllDirectory` with a variable, and `dlopen` or `LoadLibrary` of
libraries whose name is untrusted input or has no path. Programs that are run by a mere name have
little confidence, for the search path is mostly the user's own.

## Why is this bad?
An attacker can make the next program or library load from a directory of their choice, and it
runs with the privileges of this program.

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

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import bare, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, flow, flow_verdicts, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.flow.library.c_functions import is_known
from jarvis_ls.jsec.local.c.inputs import Source, text_source, weigh_injection
from jarvis_ls.jsec.local.c.string_lengths import literal_content
from jarvis_ls.jsec.local.guards import NULLS

_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH", "DYLD_LIBRARY_PATH")
SETTERS = ("putenv", "_putenv", "_wputenv", "setenv", "SetEnvironmentVariableA", "_putenv_s")
LOADERS = (
    "dlopen",
    "LoadLibrary",
    "LoadLibraryA",
    "LoadLibraryW",
    "LoadLibraryExA",
    "SetDllDirectory",
    "SetDllDirectoryA",
    "SetDllDirectoryW",
)

INPUT = "Untrusted input from '{source}' sets the search path: '{value}' in '{call}'."
RELATIVE = "Search path '{value}' is relative to the current working directory."
_LOOKED_UP = 0.4
"""Confidence where a fixed name is looked up: the search path is mostly the user's own."""
UNKNOWN = "Search path '{value}' in '{call}' is not a constant."


@rule(
    query=flow("search-path", guess=calls(*SETTERS, *LOADERS)),
    category="input_validation",
    cwe=(427, 426, 114),
    confidence=0.8,
    suggestion="Use constant absolute paths only.",
)
@flow_verdicts(exempt=(RELATIVE,))
def untrusted_search_path(call: Call) -> Iterator[Report]:
    value = call.arg(1 if call.name in ("setenv", "SetEnvironmentVariableA", "_putenv_s") else 0)
    if value is None or text(bare(value)) in NULLS:
        return
    if call.name in SETTERS:
        yield from _setting(call, value)
    else:
        yield from _loading(call, value)


@on_fault(untrusted_search_path)
def _report_fault(fault: Fault) -> Iterator[Report]:
    name = dict(fault.args).get("name", "")
    if name:
        yield Report(
            fault,
            "'{name}' has no path: it is looked up in the search path.",
            cwe=(426, 427),
            confidence=_LOOKED_UP,
            name=name,
        )
        return
    yield Report(
        fault,
        "Search path for programs or libraries is controlled by untrusted input.",
        cwe=(426, 427),
    )


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
        yield _from_input(call, value, source)
    elif literal is not None and any(_is_relative(part) for part in literal.split(":")):
        yield _report(call, RELATIVE, value, 0.7)


def _loading(call: Call, value: Node) -> Iterator[Report]:
    source = text_source(value, call.function)
    literal = literal_content(value, call.function)
    if source is not None:
        yield _from_input(call, value, source)
    elif literal is None:
        yield _report(call, UNKNOWN, value, 0.45)
    elif call.name != "dlopen" and _is_relative(literal) and not is_known(literal):
        yield _report(call, RELATIVE, value, _LOOKED_UP)
    elif "/" in literal and _is_relative(literal):
        yield _report(call, RELATIVE, value, 0.55)


def _from_input(call: Call, value: Node, source: Source) -> Report:
    assert call.function is not None
    return _report(call, INPUT, value, weigh_injection(source, 0.8, call.function), source.name)


def _report(call: Call, message: str, value: Node, confidence: float, source: str = "") -> Report:
    return Report(
        call.node,
        message,
        confidence=confidence,
        pattern=call.name,
        call=call.name,
        value=text(value),
        source=source,
    )


def _is_relative(directory: str) -> bool:
    absolute = directory.startswith(("/", "$", "%", "\\\\", "~")) or ":" in directory[:3]
    return not absolute
