"""The first or last element of a container that may be empty is used.

## What it does
Reports `front`, `back`, `top`, `pop`, `pop_back` and `pop_front` on a local container or
parameter when the function neither asks `empty()` or `size()` before nor adds an element.

## Why is this bad?
On an empty container these read or release memory that is not there. Containers are empty
exactly when input is unusual: an empty line, a message without entries.

## Example
```cpp
char last(const std::string &line)
{
    return line.back();
}
```

Use instead:
```cpp
char last(const std::string &line)
{
    return line.empty() ? '\0' : line.back();
}
```

## References
- CWE-125: Out-of-bounds Read
- CWE-758: Reliance on Undefined, Unspecified, or Implementation-Defined Behavior
- SEI CERT C++ CTR50-CPP: Guarantee that container indices and iterators are within the valid range
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, Function, Variable, text
from jarvis_ls.jsec.containers import is_sequence
from jarvis_ls.jsec.rule import Report, methods, rule

_ASKS = frozenset({"empty", "size", "length", "begin", "end", "find", "at", "max_size"})


@rule(
    query=methods("front", "back", "top", "pop", "pop_back", "pop_front"),
    category="buffer_overflow",
    cwe=(125, 758),
    confidence=0.6,
    only="cpp",
    severity="medium",
    suggestion="Ask {container}.empty() first.",
)
def access_to_empty_container(call: Call) -> Iterator[Report]:
    function, receiver = call.function, call.receiver
    if function is None or receiver is None or receiver.type != "identifier" or call.arguments:
        return
    variable = function.variable(text(receiver), receiver.start_byte)
    if variable is None or variable.pointers or not is_sequence(variable.type):
        return
    touched = _touched_before(function, variable, call)
    if touched is None:
        return
    never_filled = not variable.is_parameter and variable.initial is None and not touched
    yield Report(
        call.node,
        "{method}() is called on '{container}' without asking whether it is empty.",
        confidence=0.85 if never_filled else 0.6 if not touched else 0.45,
        pattern=call.name,
        method=call.name,
        container=variable.name,
    )


def _touched_before(function: Function, variable: Variable, call: Call) -> bool | None:
    """Whether anything else happened to the container before; None when it was asked for its
    size, filled, set, or handed to someone who may fill it."""
    if variable.initial is not None and not variable.is_parameter:
        return None
    touched = False
    for use in function.uses(variable.name, 0, call.node.start_byte):
        if use == variable.node:
            continue
        parent = use.parent
        if parent is None or parent.type != "field_expression":
            return None
        name = text(parent.child_by_field_name("field"))
        if name in _ASKS or name.startswith(("push", "emplace", "insert", "assign", "resize",
                                             "append", "swap", "operator")):  # fmt: skip
            return None
        touched = True
    return touched
