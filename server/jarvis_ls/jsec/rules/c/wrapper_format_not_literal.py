"""Uncontrolled format string in a printf wrapper.

## What it does
Takes every function of the file with parameters `const char *format, ...` (also `fmt`, `msg` and
the like) that uses a `va_list`, and checks the format argument of its calls.

## Why is this bad?
The wrapper passes its format on to `vprintf` or the like. Untrusted input as the format reads and
writes memory as with `printf` itself, but compilers do not warn.

## Example
```c
static void log_line(const char *format, ...);
log_line(request->path);
```

Use instead:
```c
static void log_line(const char *format, ...);
log_line("%s", request->path);
```

## References
- CWE-134: Use of Externally-Controlled Format String
- SEI CERT C FIO30-C: Exclude user input from format strings
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import WholeUnit
from jarvis_ls.jsec.base.rule import Report, flow_verdicts, rule, whole_file
from jarvis_ls.jsec.local.c.formats import FORMATS
from jarvis_ls.jsec.local.c.statement_effects import calls_of
from jarvis_ls.jsec.rules.c.format_string_not_literal import check_format

NAMES = ("fmt", "format", "msg", "message", "template", "str", "text")


@rule(
    query=whole_file("va_start"),
    category="input_validation",
    cwe=(134,),
    confidence=0.75,
    suggestion='Use "%s" as the format and pass the string as an argument.',
    fixable=True,
)
@flow_verdicts(faults=("format-string",))
def wrapper_format_not_literal(whole: WholeUnit) -> Iterator[Report]:
    wrappers: dict[str, int] = {}
    for function in whole.mentioning(b"va_start"):
        place = _format_place(function)
        if place is not None and function.name:
            wrappers[function.name.rpartition("::")[2]] = place
    for name in FORMATS:
        wrappers.pop(name, None)
    for call in chain.from_iterable(calls_of(whole, name) for name in wrappers):
        place = wrappers.get(call.name)
        report = None if place is None else check_format(call, place, passes_list=False)
        if report is not None:
            yield report


def _format_place(function: Function) -> int | None:
    """Return the index of the format parameter of a variadic function, or None."""
    parameters = field(function.declarator, "parameters")
    if parameters is None or "..." not in text(parameters) or "va_start" not in text(function.body):
        return None
    named = [c for c in parameters.named_children if c.type == "parameter_declaration"]
    last = len(named) - 1
    return last if named and _is_format(named[last]) else None


def _is_format(parameter: Node) -> bool:
    written = text(parameter)
    name = written.rpartition("*")[2].strip().lower()
    return "char" in written and "*" in written and any(word in name for word in NAMES)
