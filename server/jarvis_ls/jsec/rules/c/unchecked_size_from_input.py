"""Size from untrusted input without a bounds check.

## What it does
Finds sizes of `memcpy`, `memmove`, `memset`, `strncpy`, `recv`, `read`, `malloc` and the like
that are negative constants, or that come from input (`fscanf`, `atoi`, `recv`, `rand`) without a
bounds check: signed values need a lower bound, all of them an upper one.

## Why is this bad?
The size parameter is unsigned. A negative value is converted to a huge one, and `if (n < 100)`
does not reject it.

## Example
```c
int n = atoi(line);
if (n < 100)
    memcpy(target, source, n);
```

Use instead:
```c
int n = atoi(line);
if (n >= 0 && n < 100)
    memcpy(target, source, n);
```

## References
- CWE-195: Signed to Unsigned Conversion Error
- CWE-194: Unexpected Sign Extension
- CWE-120: Buffer Copy without Checking Size of Input
- SEI CERT C INT31-C: Ensure that integer conversions do not result in lost or misinterpreted data
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.base.rule import Report, calls, flow_verdicts, rule
from jarvis_ls.jsec.local.c.buffer_sizes import ALLOCATORS, STACK_ALLOCATORS
from jarvis_ls.jsec.local.c.copy_sizes import WRITES
from jarvis_ls.jsec.local.c.inputs import INPUTS, number_source
from jarvis_ls.jsec.local.c.integers import is_unsigned
from jarvis_ls.jsec.local.c.range_tests import bounds
from jarvis_ls.jsec.local.c.reaching_definitions import reaching
from jarvis_ls.jsec.local.constants import constant

_INPUTS = frozenset(INPUTS)

NEGATIVE = "Size '{size}' of '{call}' is {value}, which is converted to a huge unsigned value."
NO_LOWER = "Size '{size}' of '{call}' is untrusted input from '{source}' and may be negative."
NO_UPPER = (
    "Size '{size}' of '{call}' is untrusted input from '{source}' without an upper bound check."
)


@rule(
    query=calls(*WRITES, *(name for name in ALLOCATORS if name not in STACK_ALLOCATORS)),
    category="input_validation",
    cwe=(195, 194, 120, 805),
    confidence=0.85,
    suggestion="Check that the size is not negative and does not exceed the buffer.",
)
@flow_verdicts(
    faults=(
        "buffer-write-stack",
        "buffer-write-heap",
        "buffer-read-over",
        "signed-to-unsigned",
        "sign-extension",
    )
)
def unchecked_size_from_input(call: Call) -> Iterator[Report]:
    function = call.function
    if function is None:
        return
    places = WRITES[call.name][1] if call.name in WRITES else ALLOCATORS[call.name]
    for place in places:
        size = call.arg(place)
        name = bare(size) if size is not None else None
        if name is None or name.type not in ("identifier", "field_expression"):
            continue
        if not _may_matter(function):
            return
        found = _fault(call, name, function)
        if found is not None:
            message, confidence, source, value = found
            yield Report(
                call.node,
                message,
                confidence=confidence,
                pattern=call.name,
                call=call.name,
                size=text(name),
                source=source,
                value=value,
            )
            return


@once_per_function
def _may_matter(function: Function) -> bool:
    """Return whether the text of a function mentions input or a negative constant."""
    written = function.unit.source.data[function.start : function.end]
    return function.mentions(_INPUTS) or b"= -" in written


def _fault(call: Call, size: Node, function: Function) -> tuple[str, float, str, str] | None:
    writes = reaching(function, text(size), size.start_byte) or []
    for write in writes if len(writes) <= 2 else ():
        value = constant(write.value, function) if write.value is not None else None
        if value is None or value >= 0:
            continue
        if not bounds(function, text(size), size.start_byte).lower:
            return NEGATIVE, 0.85 if len(writes) == 1 else 0.7, "", str(value)
    source = number_source(size, function)
    if source is None:
        return None
    limits = bounds(function, text(size), size.start_byte)
    if not limits.lower and not is_unsigned(size, function):
        return NO_LOWER, source.weigh(0.85), source.name, ""
    if not limits.upper and call.name not in ALLOCATORS:
        return NO_UPPER, source.weigh(0.8), source.name, ""
    return None
