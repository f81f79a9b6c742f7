"""Copy assignment operator without handling of self-assignment.

## What it does
Reports an `operator=` that releases a member before it copies from its argument and neither
compares the argument with `this` nor uses copy-and-swap.

## Why is this bad?
In `a = a` the source is the object itself: its memory is freed and then copied from (use after
free). Self-assignment happens in loops and through references.

## Example
```cpp
Text &Text::operator=(const Text &other)
{
    delete[] data;
    data = new char[other.size];
    memcpy(data, other.data, other.size);
    return *this;
}
```

Use instead:
```cpp
Text &Text::operator=(const Text &other)
{
    if (this != &other) {
        delete[] data;
        data = new char[other.size];
        memcpy(data, other.data, other.size);
    }
    return *this;
}
```

## References
- CWE-416: Use After Free
- CWE-415: Double Free
- SEI CERT C++ OOP54-CPP: Gracefully handle self-copy assignment
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node, captures, compile_query
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.allocation import RELEASES, called_name


@rule(
    query=functions(containing=("operator",)),
    category="memory_mgmt",
    cwe=(416, 415),
    confidence=0.8,
    only="cpp",
    suggestion="Return early if 'this == &{other}', or use copy-and-swap.",
)
def assignment_operator_without_self_test(function: Function) -> Iterator[Report]:
    name = function.name.replace(" ", "")
    if not name.endswith("operator=") or function.body is None:
        return
    parameters = function.parameters
    if len(parameters) != 1 or "const" not in parameters[0].type.split():
        return
    owner = name.rpartition("::")[0].rpartition("::")[2]
    if owner and owner not in parameters[0].type:
        return
    other = parameters[0].name
    released = _first_release(function)
    if released is None or not function.uses(other, released.end_byte):
        return
    if any(call.name == "swap" for call in function.calls):
        return
    compact = text(function.body).replace(" ", "")
    if f"this!=&{other}" in compact or f"this==&{other}" in compact:
        return
    if f"&{other}!=this" in compact or f"&{other}==this" in compact or "addressof" in compact:
        return
    yield Report(
        released,
        "On self-assignment this frees the memory that is then copied from '{other}'.",
        pattern="operator=",
        other=other,
    )


def _first_release(function: Function) -> Node | None:
    query = compile_query("cpp", "(delete_expression) @delete")
    found = list(captures(query, function.node).get("delete", ()))
    found += [call.node for call in function.calls if called_name(call) in RELEASES]
    return min(found, key=lambda node: node.start_byte, default=None)
