"""Object accessed through a pointer to a larger type.

## What it does
Reports `*(T *)&x`, also through a `void *` that only ever holds `&x`, when `T` is larger than the
declared type of `x`.

## Why is this bad?
The access goes past the end of the variable: a read returns adjacent stack memory, a write
corrupts it.

## Example
```c
short number = 8;
void *data = &number;
printf("%d\n", *(int *)data);
```

Use instead:
```c
short number = 8;
void *data = &number;
printf("%d\n", *(short *)data);
```

## References
- CWE-843: Access of Resource Using Incompatible Type ('Type Confusion')
- CWE-704: Incorrect Type Conversion or Cast
- CWE-787: Out-of-bounds Write
- SEI CERT C EXP39-C: Do not access a variable through a pointer of an incompatible type
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.declarations import Declared
from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.constants import element_size


@rule(
    query=nodes(
        """(pointer_expression operator: "*"
             argument: [(cast_expression) (parenthesized_expression)]) @site"""
    ),
    category="type_safety",
    cwe=(843, 704, 787),
    confidence=0.88,
    suggestion="Access '{variable}' as its declared type '{declared}'.",
)
def read_through_larger_type(site: Site) -> Iterator[Report]:
    function = site.function
    argument = field(site.node, "argument")
    if function is None or argument is None or text(site.node.children[0]) != "*":
        return
    cast = argument
    for _ in range(4):
        if cast.type == "parenthesized_expression" and cast.named_child_count:
            cast = cast.named_children[0]
    named = field(cast, "type")
    if cast.type != "cast_expression" or named is None or text(named).count("*") != 1:
        return
    target = text(named).replace("*", "").strip()
    variable = _pointee(function, bare(field(cast, "value") or cast))
    if variable is None or variable.pointers or variable.arrays:
        return
    wanted, given = element_size(Declared("", target)), element_size(variable)
    if wanted is None or given is None or wanted <= given:
        return
    yield Report(
        site.node,
        "'{variable}' of type '{declared}' is accessed as the larger type '{type}'.",
        variable=variable.name,
        declared=variable.type,
        type=target,
    )


def _pointee(function: Function, value: Node) -> Variable | None:
    """Return the variable an expression points to, directly or by a pointer with one target."""
    if value.type == "pointer_expression" and text(value.children[0]) == "&":
        inner = field(value, "argument")
        return function.variable(text(inner), value.start_byte) if inner is not None else None
    pointer = None
    if value.type == "identifier":
        pointer = function.variable(text(value), value.start_byte)
    if pointer is None:
        return None
    known = _target_cache(function)
    if pointer.node.start_byte not in known:
        known[pointer.node.start_byte] = _only_target(function, pointer)
    return known[pointer.node.start_byte]


@once_per_function
def _target_cache(_function: Function) -> dict[int, Variable | None]:
    """Return the results of `_only_target` in a function, by the position of the declaration."""
    return {}


def _only_target(function: Function, pointer: Variable) -> Variable | None:
    """Return the only variable whose address a local pointer ever holds."""
    if pointer.is_parameter:
        return None
    found: Variable | None = None
    for use in function.uses(pointer.name, *pointer.scope):
        parent = use.parent
        stored = None
        if (
            parent is not None
            and parent.type == "assignment_expression"
            and (field(parent, "left") == use)
        ):
            stored = field(parent, "right")
        elif use == pointer.node:
            stored = pointer.initial
        elif parent is not None and text(parent.children[0]) == "&":
            return None
        if stored is None or text(stored) in ("NULL", "nullptr", "0"):
            continue
        stored = bare(stored)
        if stored.type != "pointer_expression" or text(stored.children[0]) != "&":
            return None
        found = function.variable(text(field(stored, "argument")), stored.start_byte)
    return found
