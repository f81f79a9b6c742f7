"""An object is overwritten byte by byte.

## What it does
Reports `memset`, `memcpy`, `memmove` and `bzero` over a C++ object that owns things or has
virtual functions: standard strings, containers and smart pointers, and `this` in a class with
virtual functions.

## Why is this bad?
The bytes hold pointers and the table of virtual functions. After `memset` the object leaks what
it owned and crashes at the next virtual call; after `memcpy` two objects own the same memory and
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

from jarvis_ls.codeintel.code import Call, ancestors, bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.containers import owns_memory
from jarvis_ls.jsec.rule import Report, calls, rule

_MESSAGE = "{function}() overwrites {what}, which is more than plain bytes."


@rule(
    query=calls("memset", "memcpy", "memmove", "bzero", "ZeroMemory", "explicit_bzero"),
    category="memory_mgmt",
    cwe=(665, 843),
    confidence=0.85,
    only="cpp",
    suggestion="Assign to the object or call its member functions.",
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
        yield Report(call.node, _MESSAGE, confidence=confidence, pattern=call.name,
                     function=call.name, what="this object")  # fmt: skip
        return
    if node.type == "pointer_expression" and text(node.children[0]) == "&":
        name = text(field(node, "argument"))
        variable = call.function.variable(name, node.start_byte)
        if variable is not None and not variable.pointers and owns_memory(variable.type):
            yield Report(call.node, _MESSAGE, pattern=call.name, function=call.name,
                         what=f"the {variable.type} '{name}'")  # fmt: skip


def _class_around(node: Node) -> Node | None:
    for outer in ancestors(node):
        if outer.type == "field_declaration_list":
            return outer
    return None
