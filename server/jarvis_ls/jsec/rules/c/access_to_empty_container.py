"""Access to the first or last element of an empty container.

## What it does
Reports `front`, `back`, `top`, `pop`, `pop_back` and `pop_front` on a local container or parameter
when the function neither checks `empty()` or `size()` before nor adds an element. The same for
a member, when other code of the file checks it.

## Why is this bad?
On an empty container the behaviour is undefined: these calls read or release memory out of bounds.
Containers are empty exactly when input is unusual: an empty line, a message without entries.

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

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.base.rule import Report, methods, rule
from jarvis_ls.jsec.local.c.containers import is_sequence

_CHECKS = frozenset({"empty", "size", "length", "begin", "end", "find", "at", "max_size"})
_FILLS = ("push", "emplace", "insert", "assign", "resize", "append", "swap", "operator")


@rule(
    query=methods("front", "back", "top", "pop", "pop_back", "pop_front"),
    category="buffer_overflow",
    cwe=(125, 758),
    confidence=0.6,
    only="cpp",
    severity="medium",
    suggestion="Check {container}.empty() first.",
)
def access_to_empty_container(call: Call) -> Iterator[Report]:
    function, receiver = call.function, call.receiver
    if function is None or receiver is None or call.arguments:
        return
    if receiver.type == "field_expression":
        yield from _of_member(call, function, receiver)
    if receiver.type != "identifier":
        return
    variable = function.variable(text(receiver), receiver.start_byte)
    if variable is None or variable.pointers or not is_sequence(variable.type):
        return
    known = _uses_by_container(function)
    if variable.node.start_byte not in known:
        known[variable.node.start_byte] = _first_uses(function, variable)
    checked_at, touched_at = known[variable.node.start_byte]
    if checked_at < call.node.start_byte:
        return
    touched = touched_at < receiver.start_byte
    never_filled = not variable.is_parameter and variable.initial is None and not touched
    yield Report(
        call.node,
        "{method}() is called on '{container}', which may be empty.",
        confidence=0.85 if never_filled else 0.6 if not touched else 0.45,
        pattern=call.name,
        method=call.name,
        container=variable.name,
    )


def _of_member(call: Call, function: Function, receiver: Node) -> Iterator[Report]:
    """Report the first access to a member that nothing in the function checks or fills, but that
    other code of the file does check."""
    name, container = text(field(receiver, "field")), text(receiver)
    members = call.unit.facts.fields.get(name, ())
    if not members or any(m.pointers or not is_sequence(m.type) for m in members):
        return
    asked = (f"{container}.{check}".encode() for check in ("empty()", "size()"))
    source = call.unit.source.data
    if not any(check in source for check in asked):
        return
    for node in function.nodes("member"):
        if text(field(node, "argument")) == container:
            if node.start_byte == call.node.start_byte:
                break
            return  # something of it was checked, filled or reported before
    yield Report(
        call.node,
        "{method}() is called on '{container}', which may be empty.",
        confidence=0.4,
        pattern=call.name,
        method=call.name,
        container=container,
    )


@once_per_function
def _uses_by_container(_function: Function) -> dict[int, tuple[int, int]]:
    """Return the cache of `_first_uses` of a function, by the declarations of the containers."""
    return {}


def _first_uses(function: Function, variable: Variable) -> tuple[int, int]:
    """Return the offset of the first check, fill, assignment or escape of the container, and that
    of its first other use."""
    parent = variable.node.parent
    if parent is not None and parent.type == "function_declarator":
        return 0, 0  # `vector<char> text(size)`: an argument that reads like a parameter
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
        if name in _CHECKS or name.startswith(_FILLS):
            return use.start_byte, touched
        touched = min(touched, use.start_byte)
    return function.end, touched
