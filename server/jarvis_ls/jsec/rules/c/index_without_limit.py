"""Nothing limits an index into an array of fixed size.

## What it does
Finds indices into arrays of fixed size that come from a member, an element, a parameter or the
result of a call, when the type of that value can hold more than the array has elements, and no
comparison of the function limits it. A counter that runs up to such a value counts as well.

This is a place to look at, no proof: the limit may be kept elsewhere.

## Why is this bad?
If nothing else limits the value, a message or file chooses which memory is read or written.

## Example
```c
unsigned char levels[16];
for (i = 0; i < header->count; i++)
    levels[i] = read_byte(in);
```

Use instead:
```c
unsigned char levels[16];
if (header->count > 16)
    return -1;
for (i = 0; i < header->count; i++)
    levels[i] = read_byte(in);
```

## References
- CWE-129: Improper Validation of Array Index
- CWE-787: Out-of-bounds Write
- CWE-125: Out-of-bounds Read
- SEI CERT C ARR30-C: Do not form or use out-of-bounds pointers or array subscripts
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.buffer_sizes import index_of, resolve_typedefs
from jarvis_ls.jsec.local.c.unlimited import unlimited_roots
from jarvis_ls.jsec.local.constants import constant, constant_text, declaration

_MOST = 200
"""Most subscripts of one function that are examined."""


@rule(
    query=functions(containing=("[",)),
    category="buffer_overflow",
    cwe=(129, 787, 125),
    confidence=0.2,
    severity="medium",
    suggestion="Compare '{value}' with the size of '{array}' first, or say in an assertion what "
    "limits it.",
)
def index_without_limit(function: Function) -> Iterator[Report]:
    told: set[tuple[str, str]] = set()
    for access in function.nodes("index")[:_MOST]:
        index, array = index_of(access), field(access, "argument")
        if index is None or array is None or constant(index, function) is not None:
            continue
        size = _elements(array, function)
        if size is None:
            continue
        for root in unlimited_roots(index, function, access.start_byte):
            key = text(array), root.name
            if root.most < size or key in told:
                continue
            told.add(key)
            yield Report(
                access,
                "'{array}' has {size} elements, and nothing in the function limits '{value}'.",
                array=text(array),
                size=str(size),
                value=root.name,
                causes=[(root.node, "The value is read here.")],
            )


def _elements(array: Node, function: Function) -> int | None:
    """Return how many elements an array has that is declared with a constant size."""
    declared = declaration(array, function)
    if declared is None:
        return None
    _, pointers, arrays = resolve_typedefs(declared, function.unit)
    if not arrays or not arrays[0] or pointers:
        return None
    return constant_text(arrays[0], function.unit)
