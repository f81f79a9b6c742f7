"""Constness is cast away.

## What it does
Reports `const_cast` to a type without `const`. A write through the result counts as worse than
handing it on.

## Why is this bad?
Writing to an object that was defined `const` is undefined behaviour; it may lie in read-only
memory, and the compiler has already used its old value elsewhere.

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

from jarvis_ls.codeintel.code import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.rule import Report, nodes, rule
from jarvis_ls.jsec.site import Site


@rule(
    query=nodes(cpp="(template_function) @site"),
    category="type_safety",
    cwe=(704,),
    confidence=0.45,
    only="cpp",
    severity="medium",
    suggestion="Take the argument without const, or work on a copy.",
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
        "const_cast to '{type}' takes the const away.",
        confidence=0.7 if _is_written(call) else 0.45,
        pattern="const_cast",
        type=target,
    )


def _is_twin_of_const(call: Node) -> bool:
    """`const_cast<T *>(static_cast<const C *>(this)->f())` calls the const overload."""
    given = text(field(call, "arguments"))[:400]
    return "this" in given and ("static_cast<const" in given or "const_cast<const" in given)


def _is_released(call: Node) -> bool:
    """Handed to `free` or `delete`, which do not take const."""
    outer = call.parent
    if outer is not None and outer.type == "argument_list":
        outer = outer.parent
    return outer is not None and (
        outer.type == "delete_expression"
        or (outer.type == "call_expression" and text(field(outer, "function")).endswith("free"))
    )


def _is_written(node: Node) -> bool:
    """Whether the result is assigned to, directly or through `*`, `->`, `.` or `[]`."""
    for _ in range(6):
        parent = node.parent
        if parent is None:
            return False
        if parent.type == "assignment_expression":
            return field(parent, "left") == node
        if parent.type == "update_expression":
            return True
        if parent.type not in ("pointer_expression", "field_expression", "subscript_expression",
                               "parenthesized_expression"):  # fmt: skip
            return False
        node = parent
    return False
