"""The result of snprintf is used as if it were the number of characters written.

## What it does
Finds lengths that come from `snprintf` and are added to an offset, used as an index or given to
`write`, `send`, `memcpy` without a comparison with the size of the buffer.

## Why is this bad?
`snprintf` returns how long the text would have been. When it does not fit, the number is larger
than the buffer: the next write or read goes past its end.

## Example
```c
int n = snprintf(line, sizeof line, "%s\n", name);
write(fd, line, n);
```

Use instead:
```c
int n = snprintf(line, sizeof line, "%s\n", name);
if (n < 0 || (size_t)n >= sizeof line)
    return -1;
```

## References
- CWE-253: Incorrect Check of Function Return Value
- CWE-131: Incorrect Calculation of Buffer Size
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, ancestors, field, operator_of, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.constants import string_literal
from jarvis_ls.jsec.guards import bounded
from jarvis_ls.jsec.rule import Report, calls, rule

FORMATS = {"snprintf": 2, "vsnprintf": 2}
LENGTHS = {"write": 2, "send": 2, "sendto": 2, "fwrite": 2, "memcpy": 2, "memmove": 2,
           "SSL_write": 2}  # fmt: skip


@rule(
    query=calls(*FORMATS),
    category="buffer_overflow",
    cwe=(253, 131),
    confidence=0.65,
    suggestion="Compare the result with the size of the buffer before you use it.",
)
def snprintf_result_as_length(call: Call) -> Iterator[Report]:
    function = call.function
    written = string_literal(call.arg(FORMATS[call.name]), function)
    if function is None or (written is not None and not re.search(r"%[-0-9.*]*l?[sS]", written)):
        return
    added = _added_to(call)
    if added:
        if bounded(function, added):
            return
        use: Node | None = call.node
    else:
        use = _used_as_length(call)
    if use is None:
        return
    yield Report(
        use,
        "'{name}' returns the length it needed, not what it wrote: this can lie past the buffer.",
        pattern=call.name,
        name=call.name,
    )


def _added_to(call: Call) -> str:
    """What the result is added to, as in `offset += snprintf(...)`."""
    parent = use_of(call.node)
    if parent is None or parent.type != "assignment_expression":
        return ""
    return text(field(parent, "left")) if operator_of(parent) == "+=" else ""


def _used_as_length(call: Call) -> Node | None:
    """The first place where the variable that holds the result is used unchecked as a length."""
    target, function = call.target, call.function
    if target is None or function is None or not text(target).isidentifier():
        return None
    name = text(target)
    for use in function.uses(name, call.node.end_byte)[:20]:
        user = use_of(use)
        found = None
        if user is not None and user.type == "subscript_expression":
            found = user
        elif user is not None and user.type == "argument_list" and user.parent is not None:
            called = text(field(user.parent, "function"))
            arguments = user.named_children
            place = LENGTHS.get(called)
            if place is not None and len(arguments) > place and name == text(arguments[place]):
                found = user.parent
        if found is not None:
            before = _statement_start(found)
            return None if bounded(function, name, call.node.end_byte, before) else found
    return None


def _statement_start(node: Node) -> int:
    for outer in ancestors(node):
        if outer.type.endswith("_statement") or outer.type == "declaration":
            return outer.start_byte
    return node.start_byte
