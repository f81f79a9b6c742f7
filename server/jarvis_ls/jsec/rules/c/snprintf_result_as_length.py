"""Return value of snprintf used as the written length.

## What it does
Finds lengths returned by `snprintf` that are added to an offset, used as an index or passed to
`write`, `send` or `memcpy` without a comparison with the buffer size.

## Why is this bad?
`snprintf` returns the length the complete output would have had. If the output was truncated,
that is larger than the buffer, and the next read or write is out of bounds.

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

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import ancestors, field, operator_of, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.c.buffer_sizes import extent
from jarvis_ls.jsec.local.c.formats import output_length
from jarvis_ls.jsec.local.c.result_checks import is_write
from jarvis_ls.jsec.local.constants import string_literal
from jarvis_ls.jsec.local.guards import is_bounded

_CUT = 0.65
"""Confidence where a text of unknown length goes to an array of fixed size."""
_MAYBE = 0.4
"""Confidence where the buffer may have been made for the text."""
FORMATS = {"snprintf": 2, "vsnprintf": 2}
LENGTHS = {
    "write": 2,
    "send": 2,
    "sendto": 2,
    "fwrite": 2,
    "memcpy": 2,
    "memmove": 2,
    "SSL_write": 2,
}


@rule(
    query=calls(*FORMATS),
    category="buffer_overflow",
    cwe=(253, 131),
    confidence=0.45,
    suggestion="Check the return value against the buffer size before using it.",
)
def snprintf_result_as_length(call: Call) -> Iterator[Report]:
    function = call.function
    written = string_literal(call.arg(FORMATS[call.name]), function)
    if function is None or (written is not None and not re.search(r"%[-0-9.*]*l?[sS]", written)):
        return
    offset = _accumulator(call)
    if offset:
        if is_bounded(function, offset):
            return
        use: Node | None = call.node
    else:
        use = _use_as_length(call)
    if use is None:
        return
    room = array_room(call, function)
    most = _most(call, written)
    if room is not None and most is not None and most < room:
        return
    yield Report(
        use,
        "Return value of '{name}' is used as a length but may exceed the buffer size.",
        confidence=_CUT if room is not None and most is None and not offset else _MAYBE,
        pattern=call.name,
        name=call.name,
    )


def array_room(call: Call, function: Function) -> int | None:
    """Return the bytes of the array that a call writes from its start; None for other targets."""
    memory = extent(call.arg(0), function)
    if memory is None or memory.kind != "array" or memory.offset or memory.size.unit:
        return None
    return memory.size.count


def _most(call: Call, written: str | None) -> int | None:
    """Return the longest output that the format allows; None when it has no known limit."""
    if written is None or call.name.startswith("v"):
        return None
    return output_length(written, call.arguments[FORMATS[call.name] + 1 :], call.function)[1]


def _accumulator(call: Call) -> str:
    """Return the variable the result is added to, as in `offset += snprintf(...)`."""
    parent = use_of(call.node)
    if parent is None or parent.type != "assignment_expression":
        return ""
    return text(field(parent, "left")) if operator_of(parent) == "+=" else ""


def _use_as_length(call: Call) -> Node | None:
    """Return the first unchecked use of the result as a length."""
    target, function = call.target, call.function
    if target is None or function is None or not text(target).isidentifier():
        return None
    name = text(target)
    for use in function.uses(name, call.node.end_byte)[:20]:
        if is_write(use):
            return None  # from here on it is another length
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
            return None if is_bounded(function, name, call.node.end_byte, before) else found
    return None


def _statement_start(node: Node) -> int:
    for outer in ancestors(node):
        if outer.type.endswith("_statement") or outer.type == "declaration":
            return outer.start_byte
    return node.start_byte
