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
from jarvis_ls.jsec.c.containers import is_sequence
from jarvis_ls.jsec.memo import once_per_function
from jarvis_ls.jsec.rule import Report, methods, rule

_ASKS = frozenset({"empty", "size", "length", "begin", "end", "find", "at", "max_size"})
_FILLS = ("push", "emplace", "insert", "assign", "resize", "append", "swap", "operator")


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
    known = _known(function)
    if variable.node.start_byte not in known:
        known[variable.node.start_byte] = _first_uses(function, variable)
    asked, touched_at = known[variable.node.start_byte]
    if asked < call.node.start_byte:
        return
    touched = touched_at < receiver.start_byte
    never_filled = not variable.is_parameter and variable.initial is None and not touched
    yield Report(
        call.node,
        "{method}() is called on '{container}' without asking whether it is empty.",
        confidence=0.85 if never_filled else 0.6 if not touched else 0.45,
        pattern=call.name,
        method=call.name,
        container=variable.name,
    )


@once_per_function
def _known(_function: Function) -> dict[int, tuple[int, int]]:
    """What `_first_uses` said of the containers of a function, by where they are declared."""
    return {}


def _first_uses(function: Function, variable: Variable) -> tuple[int, int]:
    """Where the container is first asked for its size, filled, set or handed to someone who may
    fill it, and where anything else first happens to it."""
    if variable.initial is not None and not variable.is_parameter:
        return 0, 0
    touched = function.end
    for use in function.uses(variable.name):
        if use == variable.node:
            continue
        parent = use.parent
        if parent is None or parent.type != "field_expression":
            return use.start_byte, touched
        name = text(parent.child_by_field_name("field"))
        if name in _ASKS or name.startswith(_FILLS):
            return use.start_byte, touched
        touched = min(touched, use.start_byte)
    return function.end, touched
