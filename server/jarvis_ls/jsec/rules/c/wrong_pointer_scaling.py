"""Incorrect pointer scaling.

## What it does
Finds `p + sizeof(T)`, `p + n * sizeof(*p)` and `p += sizeof(T)` where `p` points to elements
larger than a byte.

## Why is this bad?
Pointer arithmetic is scaled by the element size: adding 1 to an `int *` already advances it by
`sizeof(int)` bytes. With `sizeof` in the sum, the pointer advances too far, past the end of the
array.

## Example
```c
int second = *(row + 1 * sizeof(int));
```

Use instead:
```c
int second = *(row + 1);
```

## References
- CWE-468: Incorrect Pointer Scaling
- SEI CERT C ARR39-C: Do not add or subtract a scaled integer to a pointer
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.nodes import bare, field, operator_of, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.c.buffer_sizes import pointee
from jarvis_ls.jsec.local.constants import declaration


@rule(
    query=nodes("(sizeof_expression) @site"),
    category="buffer_overflow",
    cwe=(468,),
    confidence=0.8,
    suggestion="Add the number of elements only, or use a char pointer.",
)
def wrong_pointer_scaling(site: Site) -> Iterator[Report]:
    move = _move_by(site.node)
    pointer, steps = field(move, "left"), field(move, "right")
    if move is None or pointer is None or steps is None:
        return
    if '"' in text(steps):  # the length of a string, which counts characters
        return
    named = bare(pointer)
    if named.type == "pointer_expression":
        named = bare(field(named, "argument") or named)
    declared = declaration(named, site.function) if pointer.type != "cast_expression" else None
    if pointer.type != "cast_expression" and declared is None:
        return
    element = pointee(pointer, site.function)
    if element is None or (not element.unit and element.count < 2):
        return
    if element.unit and not _measures(text(steps), text(pointer), element.unit):
        return  # an unknown type may be a single byte
    yield Report(
        move,
        "'{steps}' is a byte count, but arithmetic on '{pointer}' is scaled by its element size.",
        pattern="sizeof",
        steps=text(steps),
        pointer=text(pointer),
    )


def _move_by(measured: Node) -> Node | None:
    """Return the sum, difference or `+=` whose right operand is a `sizeof` or a product with it (a
    quotient of two is a number of elements).
    """
    steps, user = measured, use_of(measured)
    if user is not None and user.type == "binary_expression" and operator_of(user) == "*":
        steps, user = user, use_of(user)
    right = field(user, "right")
    if user is None or right is None or bare(right) != steps:
        return None
    if user.type == "assignment_expression":
        return user if operator_of(user) in ("+=", "-=") else None
    if user.type != "binary_expression" or operator_of(user) not in ("+", "-"):
        return None
    in_brackets = steps != measured and steps.parent == right
    return user if right == steps or in_brackets else None


def _measures(steps: str, pointer: str, unit: str) -> bool:
    """Return whether the size is that of an element of the pointer."""
    written = steps.replace(" ", "").replace("struct", "")
    wanted = (
        f"sizeof(*{pointer})",
        f"sizeof*{pointer}",
        f"sizeof({unit})",
        f"sizeof({pointer}[0])",
    )
    return any(size in written for size in wanted)
