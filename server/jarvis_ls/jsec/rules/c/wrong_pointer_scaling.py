"""A pointer is moved by a number of bytes that is scaled once more.

## What it does
Finds `p + sizeof(T)`, `p + n * sizeof(*p)` and `p += sizeof(T)` where `p` points to elements of
more than one byte.

## Why is this bad?
Adding 1 to an `int *` moves it by `sizeof(int)` bytes already. With `sizeof` in the sum it moves
by the square of that, past the end of its array.

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

from jarvis_ls.codeintel.code import bare, field, operator_of, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.extents import pointee
from jarvis_ls.jsec.constants import declaration
from jarvis_ls.jsec.rule import Report, nodes, rule
from jarvis_ls.jsec.site import Site


@rule(
    query=nodes("(sizeof_expression) @site"),
    category="buffer_overflow",
    cwe=(468,),
    confidence=0.8,
    suggestion="Add the number of elements alone, or work on a char pointer.",
)
def wrong_pointer_scaling(site: Site) -> Iterator[Report]:
    move = _move_by(site.node)
    pointer, steps = field(move, "left"), field(move, "right")
    if move is None or pointer is None or steps is None:
        return
    if '"' in text(steps):  # the length of a text: that counts characters
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
        return  # a type from elsewhere may well be one byte
    yield Report(
        move,
        "'{steps}' counts bytes, but '{pointer}' moves by whole elements.",
        pattern="sizeof",
        steps=text(steps),
        pointer=text(pointer),
    )


def _move_by(measured: Node) -> Node | None:
    """The sum, difference or `+=` whose right side is a `sizeof`, or a product with it; a quotient
    of two is a number of elements."""
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
    """Whether the size taken is that of an element of the pointer."""
    written = steps.replace(" ", "").replace("struct", "")
    wanted = (
        f"sizeof(*{pointer})",
        f"sizeof*{pointer}",
        f"sizeof({unit})",
        f"sizeof({pointer}[0])",
    )
    return any(size in written for size in wanted)
