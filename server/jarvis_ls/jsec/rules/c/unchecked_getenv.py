"""The value of an environment variable is used without a check that it is set.

## What it does
Finds results of `getenv` that are dereferenced or given to string functions (`strlen`, `strcpy`,
`strcmp`, `atoi`, `fopen`, `printf` with `%s`, ...) with no null check before.

## Why is this bad?
Anyone who starts the program may leave the variable out, and it crashes; or put anything into
it. In programs with more rights than their user both are attacks.

## Example
```c
snprintf(path, sizeof(path), "%s/.rc", getenv("HOME"));
```

Use instead:
```c
const char *home = getenv("HOME");
if (home == NULL)
    home = "/";
snprintf(path, sizeof(path), "%s/.rc", home);
```

## References
- CWE-252: Unchecked Return Value
- CWE-476: NULL Pointer Dereference
- CWE-807: Reliance on Untrusted Inputs in a Security Decision
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, Function, ancestors, bare, call_at, field, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.guards import null_checked
from jarvis_ls.jsec.rule import Report, calls, rule

_READERS = frozenset(
    {"strlen", "strcpy", "strcat", "strncpy", "strncat", "strcmp", "strncmp", "strcasecmp",
     "strncasecmp", "strchr", "strrchr", "strstr", "strdup", "strndup", "strtol", "strtoul",
     "strtod", "strtok", "strspn", "strcspn", "atoi", "atol", "atoll", "atof", "fopen", "open",
     "puts", "fputs", "opendir", "memcpy", "sprintf", "snprintf", "printf", "fprintf", "access",
     "stat", "chdir", "unlink", "wcslen", "wcscpy", "wcscat", "sscanf", "stoi", "stol"}
)  # fmt: skip
_MAX_USES = 32


@rule(
    query=calls("getenv", "secure_getenv", "_wgetenv"),
    category="input_validation",
    cwe=(252, 476, 807),
    confidence=0.75,
    severity="medium",
    suggestion="Test the result against NULL before using it, and what it says before trusting it.",
)
def unchecked_getenv(call: Call) -> Iterator[Report]:
    function = call.function
    if function is None:
        return
    user = _reader(call, call.node)
    if user is None:
        user = _first_use(call, function)
    if user is None:
        return
    yield Report(
        call.node,
        "'{variable}' may not be set, but '{user}' is given its value unchecked.",
        pattern=call.name,
        variable=text(call.arg(0)).strip('"'),
        user=user,
    )


def _first_use(call: Call, function: Function) -> str | None:
    """What uses the variable the result is stored in before it is checked."""
    target = call.target
    if target is None or target.type != "identifier":
        return None
    name, start = text(target), call.node.end_byte
    for use in function.uses(name, start)[:_MAX_USES]:
        parent = use_of(use)
        if parent is not None and parent.type == "assignment_expression" and (
            field(parent, "left") == use
        ):  # fmt: skip
            return None
        user = _reader(call, use)
        if user is not None:
            checked = null_checked(function, name, call.node.start_byte, use.start_byte + 1)
            return None if checked or _tested_beside(use, function) else user
    return None


def _tested_beside(use: Node, function: Function) -> bool:
    """Whether the left side of an `&&` or `||` around the use looked at the variable."""
    for outer in ancestors(use, function.body):
        if outer.type.endswith("statement"):
            return False
        left = field(outer, "left") if outer.type == "binary_expression" else None
        if left is not None and text(field(outer, "operator")) in ("&&", "||") and (
            left.end_byte <= use.start_byte
            and function.uses(text(use), left.start_byte, left.end_byte)
        ):  # fmt: skip
            return True
    return False


def _reader(call: Call, value: Node) -> str | None:
    """The function or operator that reads through `value`, if one does."""
    parent = use_of(value)
    if parent is None:
        return None
    if parent.type == "argument_list" and parent.parent is not None:
        user = call_at(call.unit, call.item, parent.parent, call.function)
        return user.name if user is not None and user.name in _READERS else None
    if parent.type == "subscript_expression" and bare(
        field(parent, "argument") or parent
    ) == bare(value):  # fmt: skip
        return "[]"
    if parent.type == "pointer_expression" and text(field(parent, "operator")) == "*":
        return "*"
    return None
