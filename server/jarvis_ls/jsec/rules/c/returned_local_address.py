"""Return of the address of a local variable.

## What it does
Reports a `return` of a local array, of `&variable`, of a pointer set to one, of memory from
`alloca`, and in C++ of a reference to a local. Static locals are left out.

## Why is this bad?
The lifetime of the variable ends with the function. The caller reads and writes whatever later
calls place on that part of the stack, return addresses included.

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

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import ancestors, bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.c.next_use import declared_at, only_value

_MESSAGE = "Address of local variable {what} is returned."
_ADDRESSES = frozenset(
    {"identifier", "pointer_expression", "parenthesized_expression", "cast_expression"}
)


def _may_be_address(node: Node) -> bool:
    return node.named_child_count == 1 and node.named_children[0].type in _ADDRESSES


_STATIC = re.compile(rb"\s*(?:static|thread_local)\b")


@rule(
    query=nodes("(return_statement) @site", when=_may_be_address),
    category="memory_mgmt",
    cwe=(562,),
    confidence=0.9,
    suggestion="Let the caller pass a buffer, or return allocated memory.",
)
def returned_local_address(site: Site) -> Iterator[Report]:
    function = site.function
    value = site.node.named_children[0]
    if function is None or not _returns_address(function):
        return
    local = _address_of_local(function, bare(value))
    if local is not None and not _in_lambda(site.node, function):
        yield Report(value, _MESSAGE, what=f"'{text(local)}'")


def _in_lambda(node: Node, function: Function) -> bool:
    return any(outer.type == "lambda_expression" for outer in ancestors(node, function.node))


def _returns_address(function: Function) -> bool:
    """Return whether the function returns a pointer or reference (or a type that may be one)."""
    declarator = field(function.node, "declarator")
    if declarator is not None and declarator.type in ("pointer_declarator", "reference_declarator"):
        return True
    kind = field(function.node, "type")
    return kind is not None and kind.type in ("type_identifier", "placeholder_type_specifier")


def _address_of_local(function: Function, value: Node, *, through: bool = True) -> Node | None:
    """Return the local variable that an expression is the address of."""
    if value.type == "pointer_expression" and operator_of(value) == "&":
        inner = bare(field(value, "argument") or value)
        whole = inner.type == "identifier"
        for _ in range(8):
            if inner.type == "subscript_expression" or (
                inner.type == "field_expression" and inner.children[1].type == "."
            ):
                inner = bare(field(inner, "argument") or inner)
        kind = _kind(function, inner)
        return inner if kind in ("value", "array") or (whole and kind == "pointer") else None
    if value.type != "identifier":
        return None
    kind = _kind(function, value)
    outer = field(function.node, "declarator")
    if outer is not None and outer.type == "reference_declarator":
        return value if kind == "value" else None
    if kind == "array":
        return value if outer is not None and outer.type == "pointer_declarator" else None
    if kind == "pointer" and through:
        held = only_value(function, text(value))
        return _address_of_local(function, bare(held), through=False) if held is not None else None
    return None


def _before(function: Function, node: Node) -> bytes:
    """Return the text of the statement in front of a node, as far as it is on the same line."""
    data = function.unit.source.data
    start = max(data.rfind(end, function.start, node.start_byte) for end in (b"\n", b";", b"{"))
    return data[start + 1 : node.start_byte]


def _kind(function: Function, name: Node) -> str:
    """Return how a local is declared: `value`, `array` or `pointer`; empty for other storage."""
    declared = declared_at(function, text(name), name) if name.type == "identifier" else None
    if declared is None or _STATIC.match(_before(function, declared)):
        return ""  # the grammar may not see it for a macro in between
    kinds = set()
    for outer in ancestors(declared, function.node):
        if outer.type == "declaration":
            if any(text(c) in ("static", "extern", "thread_local") for c in outer.children):
                return ""
            break
        if outer.type in ("parameter_declaration", "for_range_loop"):
            return ""
        kinds.add(outer.type)
    else:
        return ""
    if kinds & {"reference_declarator", "function_declarator"}:
        return ""
    if "array_declarator" in kinds:
        return "array"
    return "pointer" if "pointer_declarator" in kinds else "value"
