"""Missing null check on a lookup result.

## What it does
Reports a dereference of the return value of `getenv`, `strchr`, `strstr`, `strtok`, `localtime`,
`getpwnam`, `dlsym` and similar functions that is reachable without a null check, also when the
value is passed directly to a function such as `strlen`.

## Why is this bad?
These functions return NULL when nothing is found, and what they search is usually untrusted
input: a line without `=`, an environment without `HOME`. The program crashes.

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

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import ancestors, field, operator_of, text, use_of
from jarvis_ls.jsec.base.rule import Report, calls, flow_verdicts, rule
from jarvis_ls.jsec.local.c.allocation import MAY_BE_NULL
from jarvis_ls.jsec.local.c.next_use import use_before_test
from jarvis_ls.jsec.local.c.result_fixes import test_pointer
from jarvis_ls.jsec.local.constants import string_literal

_CONFIDENCE = {
    "getenv": 0.55,
    "secure_getenv": 0.55,
    "localtime": 0.45,
    "gmtime": 0.45,
    "setlocale": 0.4,
    "memchr": 0.5,
    "strchr": 0.5,
    "strrchr": 0.5,
}


@rule(
    query=calls(*MAY_BE_NULL),
    category="error_handling",
    cwe=(690, 476),
    confidence=0.5,
    severity="medium",
    suggestion="Check the return value of {function}() for NULL before using it.",
    fixable=True,
)
@flow_verdicts(faults=("unchecked-allocation", "null-dereference"))
def unchecked_lookup_result(call: Call) -> Iterator[Report]:
    if call.name == "fgets" or _finds_always(call):
        return
    use = call.node if _is_dereferenced_directly(call) else use_before_test(call)
    if use is None or _is_guarded(call):
        return
    yield Report(
        use,
        "'{value}' is dereferenced without a null check although {function}() may return NULL.",
        confidence=_CONFIDENCE.get(call.name, 0.5),
        pattern=call.name,
        value=text(call.target) or text(call.node)[:60],
        function=call.name,
        causes=[(call.node, "Returned here, possibly NULL.")] if use != call.node else (),
        fix=test_pointer(call),
    )


def _finds_always(call: Call) -> bool:
    """Return whether the search cannot fail: for a terminator, or for a character of a literal."""
    if call.name in ("strchr", "strrchr") and text(call.arg(1)) in ("0", "'\\0'"):
        return True
    return call.name == "strchr" and string_literal(call.arg(0)) is not None


def _is_dereferenced_directly(call: Call) -> bool:
    """Return whether the result is dereferenced in the same expression."""
    parent = use_of(call.node)
    if parent is None:
        return False
    if parent.type == "pointer_expression":
        return operator_of(parent) == "*"
    if parent.type == "subscript_expression":
        return field(parent, "argument") == call.node
    return parent.type == "field_expression"


def _is_guarded(call: Call) -> bool:
    """Return whether an enclosing condition makes the same lookup first."""
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
