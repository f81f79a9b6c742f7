"""Uncontrolled format string.

## What it does
Finds calls of the `printf`, `syslog`, `err` and `wprintf` families whose format string is not
constant; follows taint through functions and files. Literals in macros, translations (`_("...")`),
variables that only ever hold literals, and wrappers that pass on their own format with a `va_list`
are not reported.

## Why is this bad?
An attacker who controls the format reads memory with `%p` and `%s` and writes it with `%n`. A
stray `%` in a file name is enough for a crash.

## Example
```c
fgets(line, sizeof(line), stdin);
printf(line);
```

Use instead:
```c
fgets(line, sizeof(line), stdin);
printf("%s", line);
```

## References
- CWE-134: Use of Externally-Controlled Format String
- SEI CERT C FIO30-C: Exclude user input from format strings
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, flow, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.formats import FORMATS
from jarvis_ls.jsec.local.c.inputs import text_source, weigh_injection
from jarvis_ls.jsec.local.c.proof import pick_template
from jarvis_ls.jsec.local.c.string_lengths import only_literals
from jarvis_ls.jsec.local.constants import declaration, string_literal
from jarvis_ls.jsec.local.guards import NULLS

INPUT = "Format string '{format}' of '{call}' is untrusted input from '{source}'."
UNKNOWN = "Format string '{format}' of '{call}' is not a string literal."


@rule(
    query=flow("format-string", guess=calls(*FORMATS)),
    category="input_validation",
    cwe=(134,),
    confidence=0.75,
    suggestion='Use "%s" as the format and pass the string as an argument.',
    fixable=True,
)
def format_string_not_literal(call: Call) -> Iterator[Report]:
    place = FORMATS[call.name]
    report = check_format(call, place, passes_list=call.name.lstrip("_").startswith("v"))
    if report is not None:
        yield report


@on_fault(format_string_not_literal)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        pick_template(
            fault,
            "Untrusted input is used as the format string of '{by}'.",
            "Untrusted input is used as a format string.",
        ),
        cwe=(134,),
    )


def check_format(call: Call, place: int, *, passes_list: bool) -> Report | None:
    """Return the report about the format argument of a call; None when it is safe."""
    written, function = call.arg(place), call.function
    if written is None or function is None or string_literal(written, function) is not None:
        return None
    if call.name == "error" and len(call.arguments) < 3:
        return None
    source = text_source(written, function)
    if source is None:
        confidence = _confidence(call, bare(written), place, function, passes_list)
        if confidence is None or only_literals(written, function, call.node.start_byte):
            return None
    else:
        confidence = weigh_injection(source, 0.8, function)
    return Report(
        call.node,
        UNKNOWN if source is None else INPUT,
        confidence=confidence,
        pattern=call.name,
        call=call.name,
        format=text(written),
        source="" if source is None else source.name,
        causes=[(source.node, "Untrusted input enters here.")] if source is not None else (),
        fix=_rewrite(call, written, place),
    )


def _confidence(
    call: Call, written: Node, place: int, function: Function, passes_list: bool
) -> float | None:
    if written.type == "identifier" and text(written).isupper():
        return None  # a macro from a missing header
    if text(written) in NULLS:
        return None
    if written.type in ("concatenated_string", "ERROR") or text(written).startswith(('"', 'L"')):
        return None
    declared = declaration(written, function)
    parameter = isinstance(declared, Variable) and declared.is_parameter
    if parameter and (passes_list or _is_variadic(function)):
        return None
    if passes_list:
        return 0.35
    if _is_constant_table(written, function):
        return None
    alone = len(call.arguments) == place + 1
    if written.type == "call_expression":
        return 0.55 if alone else 0.35
    return 0.55 if alone else 0.35


def _is_variadic(function: Function) -> bool:
    parameters = text(field(function.declarator, "parameters"))
    return "..." in parameters or "va_list" in parameters


def _is_constant_table(written: Node, function: Function) -> bool:
    """Return whether it is an element or field of a `const` object."""
    if written.type == "subscript_expression":
        declared = declaration(field(written, "argument"), function)
    elif written.type in ("identifier", "field_expression"):
        declared = declaration(written, function)
        if declared is not None and not declared.arrays:
            return False
        if isinstance(declared, Variable) and declared.is_parameter:
            return False
    else:
        return False
    return declared is not None and "const" in declared.type


def _rewrite(call: Call, written: Node, place: int) -> Rewrite | None:
    if len(call.arguments) != place + 1 or "w" in call.name.replace("warn", "").replace("new", ""):
        return None
    if call.written != call.name:
        return None
    at = written.start_byte
    return Rewrite('Insert "%s" as the format', [((at, at), '"%s", ')])
