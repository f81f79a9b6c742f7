"""Improper validation of an array index.

## What it does
Finds array indices that come from `atoi`, `strtol`, `scanf`, `recv`, `fgets`, `rand` and other
input in the same function, without an upper bound check or, for signed values, a lower one.

## Why is this bad?
An attacker who controls the index chooses which memory is read or written.

## Example
```c
int n = atoi(line);
if (n >= 0)
    table[n] = 1;
```

Use instead:
```c
int n = atoi(line);
if (n >= 0 && n < TABLE_SIZE)
    table[n] = 1;
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
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, flow_verdicts, functions, rule
from jarvis_ls.jsec.local.c.buffer_sizes import extent, index_of, pointee
from jarvis_ls.jsec.local.c.inputs import INPUTS, number_source
from jarvis_ls.jsec.local.c.integers import is_unsigned
from jarvis_ls.jsec.local.c.range_tests import bounds

NO_END = (
    "Index '{index}' of '{array}' is untrusted input from '{source}' without an upper bound check."
)
NO_START = "Index '{index}' is untrusted input from '{source}' and may be negative."
TOO_FAR = (
    "Index '{index}' from '{source}' may be {high}, out of bounds for '{array}' ({count} elements)."
)


@rule(
    query=functions(calling=INPUTS),
    category="input_validation",
    cwe=(129, 787, 125),
    confidence=0.85,
    suggestion="Check the index against 0 and the number of elements first.",
)
@flow_verdicts(
    faults=(
        "buffer-write-stack",
        "buffer-write-heap",
        "buffer-underwrite",
        "buffer-read-over",
        "buffer-read-under",
    )
)
def unchecked_index_from_input(function: Function) -> Iterator[Report]:
    for access in function.nodes("index"):
        array, index = field(access, "argument"), index_of(access)
        if array is None or index is None:
            continue
        name = _variable(bare(index))
        if name is None:
            continue
        source = number_source(name, function)
        if source is None:
            continue
        limits = bounds(function, text(name), access.start_byte)
        count = _elements(array, function)
        if not limits.upper:
            message = NO_END
        elif limits.high is not None and count is not None and limits.high >= count:
            message = TOO_FAR
        elif not limits.lower and not is_unsigned(name, function):
            message = NO_START
        else:
            continue
        yield Report(
            access,
            message,
            confidence=source.weigh(0.85),
            pattern=source.name,
            index=text(index),
            source=source.name,
            array=text(array),
            high=str(limits.high),
            count=str(count),
            causes=[(source.node, "Untrusted input enters here.")],
        )


def _variable(index: Node) -> Node | None:
    """Return the variable of an index that is a variable, or one plus or minus a value."""
    if index.type == "binary_expression" and operator_of(index) in ("+", "-"):
        left = field(index, "left")
        index = bare(left) if left is not None else index
    return index if index.type in ("identifier", "field_expression") else None


def _elements(array: Node, function: Function) -> int | None:
    memory, element = extent(array, function), pointee(array, function)
    if memory is None or element is None or not element.count or memory.size.unit != element.unit:
        return None
    return memory.size.count // element.count
