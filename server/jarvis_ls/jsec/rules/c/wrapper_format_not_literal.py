"""A function of the file that formats like `printf` is given a format that is not a literal.

## What it does
Takes every function of the file with parameters `const char *format, ...` (also `fmt`, `msg`
and the like) that starts a `va_list`, and looks at the formats it is called with.

## Why is this bad?
Such a wrapper hands its format on to `vprintf` or a relative. Text from outside in its place
reads and writes memory just as in `printf` itself, but no compiler warns.

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

from jarvis_ls.codeintel.code import Function, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.formats import FORMATS
from jarvis_ls.jsec.c.mentions import calls_of
from jarvis_ls.jsec.rule import Report, rule, whole_file
from jarvis_ls.jsec.rules.c.format_string_not_literal import check_format
from jarvis_ls.jsec.site import WholeUnit

NAMES = ("fmt", "format", "msg", "message", "template", "str", "text")


@rule(
    query=whole_file("va_start"),
    category="input_validation",
    cwe=(134,),
    confidence=0.75,
    suggestion='Use "%s" as the format and pass the text as an argument.',
    fixable=True,
    answered=("format-string",),
)
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
    """Index of the format of a variadic function, or None when it has none."""
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
