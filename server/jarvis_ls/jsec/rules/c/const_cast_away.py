"""const_cast that removes const.

## What it does
Reports `const_cast` to a type without `const`. Confidence is higher where the result is written
through than where it is only passed on.

## Why is this bad?
Modifying an object defined as `const` is undefined behaviour: it may be in read-only memory, and
the compiler may have used its old value elsewhere.

## Example
```cpp
void shout(const std::string &text)
{
    const_cast<char &>(text[0]) = 'X';
}
```

Use instead:
```cpp
void shout(std::string &text)
{
    text[0] = 'X';
}
```

## References
- CWE-704: Incorrect Type Conversion or Cast
- SEI CERT C++ EXP55-CPP: Do not access a cv-qualified object through a cv-unqualified type
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule


@rule(
    query=nodes(cpp="(template_function) @site"),
    category="type_safety",
    cwe=(704,),
    confidence=0.25,
    only="cpp",
    severity="medium",
    suggestion="Declare the parameter without const, or modify a copy.",
)
def const_cast_away(site: Site) -> Iterator[Report]:
    if text(field(site.node, "name")) != "const_cast":
        return
    target = text(field(site.node, "arguments")).strip("<> ")
    if target.startswith("const ") or " const" in target.rstrip("*& ").removesuffix("volatile"):
        return
    call = site.node.parent
    if call is None or call.type != "call_expression":
        return
    if _is_twin_of_const(call) or _is_released(call):
        return
    yield Report(
        call,
        "const_cast to '{type}' removes the const qualifier.",
        confidence=0.65 if _is_written(call) else 0.25,
        pattern="const_cast",
        type=target,
    )


def _is_twin_of_const(call: Node) -> bool:
    """Return whether `const_cast<T *>(static_cast<const C *>(this)->f())` calls the overload."""
    arguments = text(field(call, "arguments"))[:400]
    return "this" in arguments and (
        "static_cast<const" in arguments or "const_cast<const" in arguments
    )


def _is_released(call: Node) -> bool:
    """Return whether the result is passed to `free` or `delete`, which do not take const."""
    outer = call.parent
    if outer is not None and outer.type == "argument_list":
        outer = outer.parent
    return outer is not None and (
        outer.type == "delete_expression"
        or (outer.type == "call_expression" and text(field(outer, "function")).endswith("free"))
    )


def _is_written(node: Node) -> bool:
    """Return whether the result is assigned to, directly or through `*`, `->`, `.` or `[]`."""
    for _ in range(6):
        parent = node.parent
        if parent is None:
            return False
        if parent.type == "assignment_expression":
            return field(parent, "left") == node
        if parent.type == "update_expression":
            return True
        if parent.type not in (
            "pointer_expression",
            "field_expression",
            "subscript_expression",
            "parenthesized_expression",
        ):
            return False
        node = parent
    return False
