"""The address of a local variable is returned.

## What it does
Reports a `return` of a local array, of `&variable`, of a pointer that was set to one, of memory
from `alloca`, and in C++ a reference to a local. Static locals are fine.

## Why is this bad?
The variable ends with the function. The caller reads and writes whatever the next calls put on
that part of the stack, return addresses among it.

## Example
```c
char *name_of(int id)
{
    char name[32];
    snprintf(name, sizeof name, "item %d", id);
    return name;
}
```

Use instead:
```c
void name_of(int id, char *name, size_t size)
{
    snprintf(name, size, "item %d", id);
}
```

## References
- CWE-562: Return of Stack Variable Address
- SEI CERT C DCL30-C: Declare objects with appropriate storage durations
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Function, bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.control import closures
from jarvis_ls.jsec.c.lifecycle import faults_of
from jarvis_ls.jsec.rule import Report, functions, rule

_MESSAGE = "{what} ends with this function, but its address is returned."


@rule(
    query=functions(),
    category="memory_mgmt",
    cwe=(562,),
    confidence=0.9,
    suggestion="Let the caller pass the memory, or return allocated memory.",
)
def returned_local_address(function: Function) -> Iterator[Report]:
    if not _returns_address(function):
        return
    for fault in faults_of(function, "returned-local"):
        name = fault.detail.rpartition(" ")[2]
        if fault.detail.startswith("memory from") or _is_local(function, name, fault.node):
            yield Report(
                fault.node,
                _MESSAGE,
                confidence=0.88 if fault.certain else 0.62,
                what=fault.detail[:1].upper() + fault.detail[1:],
                related=[(fault.origin, "Set here.")] if fault.origin is not None else (),
            )
    hidden = closures(function)
    for node in function.nodes("return"):
        if any(start <= node.start_byte < end for start, end in hidden):
            continue
        value = next((c for c in node.named_children if c.type != "comment"), None)
        local = _address_of_local(function, bare(value)) if value is not None else None
        if value is not None and local is not None:
            yield Report(value, _MESSAGE, what=f"'{text(local)}'")


def _returns_address(function: Function) -> bool:
    """Whether the function returns a pointer or reference (or a type that may be one)."""
    declarator = field(function.node, "declarator")
    if declarator is not None and declarator.type in ("pointer_declarator", "reference_declarator"):
        return True
    kind = field(function.node, "type")
    return kind is not None and kind.type in ("type_identifier", "placeholder_type_specifier")


def _address_of_local(function: Function, value: Node) -> Node | None:
    """The local whose address an expression is."""
    kind = value.type
    if kind == "identifier":
        variable = function.variable(text(value), value.start_byte)
        if variable is None or variable.is_static or variable.is_parameter:
            return None
        declarator = field(function.node, "declarator")
        reference = declarator is not None and declarator.type == "reference_declarator"
        if reference and not variable.is_pointer and not _is_reference(variable.node):
            return value
        pointer = declarator is not None and declarator.type == "pointer_declarator"
        return value if variable.is_array and pointer else None
    if kind == "pointer_expression" and text(field(value, "operator")) == "&":
        inner = bare(field(value, "argument") or value)
        for _ in range(8):
            if inner.type == "subscript_expression" or (
                inner.type == "field_expression" and inner.children[1].type == "."
            ):
                inner = bare(field(inner, "argument") or inner)
        if inner.type == "identifier" and _is_local(function, text(inner), value):
            variable = function.variable(text(inner), value.start_byte)
            whole = inner.parent == value or (variable is not None and variable.pointers == 0)
            return inner if whole else None
    return None


def _is_reference(name: Node) -> bool:
    parent = name.parent
    return parent is not None and parent.type == "reference_declarator"


def _is_local(function: Function, name: str, at: Node) -> bool:
    variable = function.variable(name, at.start_byte)
    if variable is None or variable.is_static:
        return False
    if variable.is_parameter and variable.arrays:
        return False
    return not _is_reference(variable.node)
