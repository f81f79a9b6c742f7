"""The result of a lookup is used as if something was always found.

## What it does
Reports a dereference of what `getenv`, `strchr`, `strstr`, `strtok`, `localtime`, `getpwnam`,
`dlsym` and similar functions return when it can be reached before a test for NULL, also when
the result goes straight into a function such as `strlen`.

## Why is this bad?
These functions return NULL when there is nothing to return, and what they search in usually
comes from outside: a line without `=`, an environment without `HOME`. The program crashes.

## Example
```c
char *value = strchr(line, '=') + 1;
puts(value);
```

Use instead:
```c
char *value = strchr(line, '=');
if (value == NULL)
    return -1;
puts(value + 1);
```

## References
- CWE-690: Unchecked Return Value to NULL Pointer Dereference
- CWE-476: NULL Pointer Dereference
- SEI CERT C ERR33-C: Detect and handle standard library errors
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, Function, ancestors, field, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.allocation import DEREFERENCES, MAY_BE_NULL, called_name
from jarvis_ls.jsec.c.happenings import calls_by_node
from jarvis_ls.jsec.c.lifecycle import faults_of, first_of_each
from jarvis_ls.jsec.guards import string_literal
from jarvis_ls.jsec.rule import Report, functions, rule

_MESSAGE = "'{value}' is dereferenced without a test whether {function}() returned NULL."
_CONFIDENCE = {"getenv": 0.75, "secure_getenv": 0.75, "localtime": 0.45, "gmtime": 0.45,
               "setlocale": 0.4, "memchr": 0.55, "strchr": 0.6, "strrchr": 0.55}  # fmt: skip


@rule(
    query=functions(calling=MAY_BE_NULL),
    category="error_handling",
    cwe=(690, 476),
    confidence=0.65,
    severity="medium",
    suggestion="Test the result of {function}() for NULL before using it.",
    answered=("unchecked-allocation", "null-dereference"),
)
def unchecked_lookup_result(function: Function) -> Iterator[Report]:
    for fault, _ in first_of_each(faults_of(function, "unchecked")):
        if fault.detail in MAY_BE_NULL:
            confidence = _CONFIDENCE.get(fault.detail, 0.65)
            yield Report(
                fault.node,
                _MESSAGE,
                confidence=confidence if fault.certain else confidence - 0.15,
                pattern=fault.detail,
                value=fault.name,
                function=fault.detail,
                related=[(fault.origin, "Looked up here.")] if fault.origin is not None else (),
            )
    known = calls_by_node(function)
    for call in function.calls:
        name = called_name(call)
        if name in MAY_BE_NULL and _used_directly(call, known) and not _asked_before(call):
            yield Report(call.node, _MESSAGE, confidence=_CONFIDENCE.get(name, 0.65), pattern=name,
                         value=text(call.node)[:60], function=name)  # fmt: skip


def _used_directly(call: Call, known: dict[int, Call]) -> bool:
    """Whether the result is dereferenced in the same expression."""
    if call.name in ("strchr", "strrchr") and text(call.arg(1)) in ("0", "'\\0'"):
        return False
    if call.name == "strchr" and string_literal(call.arg(0)) is not None:
        return False
    parent = use_of(call.node)
    if parent is None:
        return False
    if parent.type == "pointer_expression":
        return text(field(parent, "operator")) == "*"
    if parent.type == "subscript_expression":
        return field(parent, "argument") == call.node
    if parent.type == "field_expression":
        return True
    if parent.type != "argument_list":
        return False
    outer = known.get(parent.parent.id) if parent.parent is not None else None
    return outer is not None and _index(outer, call.node) in DEREFERENCES.get(
        called_name(outer), ()
    )


def _index(outer: Call, node: Node) -> int:
    return next(
        (i for i, a in enumerate(outer.arguments) if a.start_byte <= node.start_byte < a.end_byte),
        -1,
    )


def _asked_before(call: Call) -> bool:
    """Whether a condition around the call asks the same question first."""
    written = text(call.node)
    for outer in ancestors(call.node, call.function.node if call.function else None):
        if outer.type in ("if_statement", "conditional_expression", "while_statement"):
            condition = field(outer, "condition")
        elif outer.type == "binary_expression":
            condition = field(outer, "left")
        else:
            continue
        before = condition is not None and condition.end_byte <= call.node.start_byte
        if before and written in text(condition):
            return True
    return False
