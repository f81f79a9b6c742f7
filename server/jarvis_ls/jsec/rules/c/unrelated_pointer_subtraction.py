"""Subtraction of pointers to different objects.

## What it does
Follows both operands of `p - q` through assignments and `strchr`-like searches of the function,
and reports when they point into two different arrays or allocations.

## Why is this bad?
The behaviour is undefined, and the relative position of two arrays is up to the compiler. Used as
a length or index, the difference leads to out-of-bounds accesses.

## Example
```c
char *slash = strchr(path, '/');
size_t at = slash - name;
```

Use instead:
```c
char *slash = strchr(path, '/');
size_t at = slash - path;
```

## References
- CWE-469: Use of Pointer Subtraction to Determine Size
- SEI CERT C ARR36-C: Do not subtract or compare two pointers that do not refer to the same array
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function, call_at
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.c.reaching_definitions import reaching

_SEARCHES = frozenset(
    "strchr strrchr strstr strpbrk memchr wcschr wcsrchr wcsstr strcasestr memrchr".split()
)


_OPERANDS = frozenset({"identifier", "pointer_expression"})


def _of_pointers(node: Node) -> bool:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    return left is not None and right is not None and {left.type, right.type} <= _OPERANDS


@rule(
    query=nodes("(binary_expression) @site", operators=("-",), when=_of_pointers),
    category="buffer_overflow",
    cwe=(469,),
    confidence=0.8,
    suggestion="Subtract only pointers into the same array.",
)
def unrelated_pointer_subtraction(site: Site) -> Iterator[Report]:
    function = site.function
    left, right = field(site.node, "left"), field(site.node, "right")
    if function is None or left is None or right is None:
        return
    first, second = _array(left, function), _array(right, function)
    if first is None or second is None or first == second:
        return
    yield Report(
        site.node,
        "Pointers to different objects are subtracted: '{left}' points into "
        "'{first}', '{right}' into '{second}'.",
        pattern="subtraction",
        left=text(left),
        right=text(right),
        first=first,
        second=second,
    )


def _array(node: Node, function: Function) -> str | None:
    """Return the only local or global array a pointer starts from, or None."""
    for _ in range(6):
        node = bare(node)
        if node.type == "call_expression":
            call = call_at(function.unit, function.item, node, function)
            if call is None or call.name not in _SEARCHES or not call.arguments:
                return None
            node = call.arguments[0]
            continue
        if node.type == "binary_expression" and operator_of(node) in ("+", "-"):
            node = field(node, "left") or node
            continue
        if node.type == "pointer_expression":
            inner = field(node, "argument")
            if inner is None or bare(inner).type != "subscript_expression" or text(node)[0] != "&":
                return None
            node = field(bare(inner), "argument") or node
            continue
        if node.type != "identifier":
            return None
        name = text(node)
        variable = function.variable(name, node.start_byte)
        shared = function.unit.facts.variables.get(name) if variable is None else None
        if (variable is not None and variable.is_array) or (shared is not None and shared.arrays):
            return name
        if variable is None or variable.pointers == 0 or variable.is_parameter:
            return None
        writes = reaching(function, name, node.start_byte) or []
        values = [w.value for w in writes if w.operator == "=" and w.value is not None]
        if len(values) != 1 or len(writes) != 1:
            return None
        node = values[0]
    return None
