"""Non-trivial object overwritten as raw memory.

## What it does
Reports `memset`, `memcpy`, `memmove` and `bzero` on a C++ object that is not trivially copyable:
standard strings, containers and smart pointers, and `this` in a class with virtual functions.

## Why is this bad?
The bytes include owning pointers and the vtable pointer. After `memset` the object leaks its
resources and crashes at the next virtual call; after `memcpy` two objects own the same memory and
free it twice.

## Example
```cpp
std::string name;
memset(&name, 0, sizeof name);
```

Use instead:
```cpp
std::string name;
name.clear();
```

## References
- CWE-665: Improper Initialization
- CWE-843: Access of Resource Using Incompatible Type ('Type Confusion')
- SEI CERT C++ OOP57-CPP: Prefer special member functions to C Standard Library functions
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import ancestors, bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.c.containers import owns_memory

_MESSAGE = "{function}() overwrites {what}, which is not trivially copyable."


@rule(
    query=calls("memset", "memcpy", "memmove", "bzero", "ZeroMemory", "explicit_bzero"),
    category="memory_mgmt",
    cwe=(665, 843),
    confidence=0.85,
    only="cpp",
    suggestion="Assign to the object or use its member functions.",
)
def raw_memory_of_object(call: Call) -> Iterator[Report]:
    target = call.arg(0)
    if target is None or call.function is None:
        return
    node = bare(target)
    if node.type == "this" or text(node) == "this":
        around = _class_around(call.node)
        if around is None:
            confidence = 0.4
        elif any(text(c) == "virtual" for m in around.children for c in m.children[:2]):
            confidence = 0.88
        else:
            return
        yield Report(
            call.node,
            _MESSAGE,
            confidence=confidence,
            pattern=call.name,
            function=call.name,
            what="this object",
        )
        return
    if node.type == "pointer_expression" and text(node.children[0]) == "&":
        name = text(field(node, "argument"))
        variable = call.function.variable(name, node.start_byte)
        if variable is not None and not variable.pointers and owns_memory(variable.type):
            yield Report(
                call.node,
                _MESSAGE,
                pattern=call.name,
                function=call.name,
                what=f"the {variable.type} '{name}'",
            )


def _class_around(node: Node) -> Node | None:
    for outer in ancestors(node):
        if outer.type == "field_declaration_list":
            return outer
    return None
