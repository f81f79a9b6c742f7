"""Incorrect size argument of strncat.

## What it does
Finds `strncat` and `wcsncat` whose size argument is the size of the whole target, the remaining
space without room for the terminator (`sizeof(d) - strlen(d)`), or the length of the source.

## Why is this bad?
The argument is the number of characters to *append*, and the terminator is written in addition.
Given the size of the target, `strncat` writes out of bounds as soon as the target is not empty.

## Example
```c
char line[80] = "name: ";
strncat(line, name, sizeof(line));
```

Use instead:
```c
char line[80] = "name: ";
strncat(line, name, sizeof(line) - strlen(line) - 1);
```

## References
- CWE-193: Off-by-one Error
- CWE-787: Out-of-bounds Write
- CWE-805: Buffer Access with Incorrect Length Value
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import bare, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, flow_verdicts, rule
from jarvis_ls.jsec.local.c.buffer_sizes import extent
from jarvis_ls.jsec.local.c.copy_sizes import amount
from jarvis_ls.jsec.local.c.string_lengths import character, length
from jarvis_ls.jsec.local.constants import declaration

WHOLE = "'{call}' may append {size} characters and a terminator to '{target}' ({room} characters)."
NO_ZERO = "'{size}' leaves no room for the terminator that '{call}' writes."
SOURCE = "'{size}' is the length of the source, not the space left in '{target}'."


@rule(
    query=calls("strncat", "wcsncat", "_tcsncat"),
    category="buffer_overflow",
    cwe=(193, 787, 121, 805),
    confidence=0.85,
    suggestion="Pass the remaining space minus one: sizeof(target) - strlen(target) - 1.",
    fixable=True,
)
@flow_verdicts(faults=("buffer-write-stack", "buffer-write-heap"))
def strncat_wrong_size(call: Call) -> Iterator[Report]:
    target, source, size = call.arg(0), call.arg(1), call.arg(2)
    if target is None or source is None or size is None:
        return
    written = text(bare(size)).replace(" ", "")
    name = text(bare(target)).replace(" ", "")
    if written in (f"sizeof({name})-strlen({name})", f"sizeof{name}-strlen({name})"):
        yield _report(call, NO_ZERO, 0.85, target, size, "")
        return
    asked = amount(call, (2,), 1)
    if (
        asked.measured is not None
        and text(bare(asked.measured)) == text(bare(source))
        and ("-" not in written)
    ):
        if not _fits(call, target, source, None):
            sure = _overflows(call, target, source)
            yield _report(call, SOURCE, 0.85 if sure else 0.6, target, size, "")
        return
    memory = extent(target, call.function)
    if memory is None or memory.size.unit or asked.size is None or asked.size.unit:
        return
    room = memory.size.count // character(target, call.function)
    if asked.size.count >= room and not _fits(call, target, source, room):
        yield _report(call, WHOLE, 0.85, target, size, str(room), str(asked.size.count))


def _fits(call: Call, target: Node, source: Node, room: int | None) -> bool:
    """Return whether the lengths of target and source are known and fit together."""
    if room is None:
        memory = extent(target, call.function)
        if memory is None or memory.size.unit:
            return memory is None
        room = memory.size.count // character(target, call.function)
    there, more = length(target, call.function).exact, length(source, call.function).most
    return there is not None and more is not None and there + more + 1 <= room


def _overflows(call: Call, target: Node, source: Node) -> bool:
    """Return whether the source alone is known to be longer than the whole target."""
    memory, more = extent(target, call.function), length(source, call.function).exact
    if memory is None or memory.size.unit or more is None:
        return False
    return more + 1 > memory.size.count // character(target, call.function)


def _report(
    call: Call,
    message: str,
    confidence: float,
    target: Node,
    size: Node,
    room: str,
    shown: str = "",
) -> Report:
    return Report(
        call.node,
        message,
        confidence=confidence,
        pattern=call.name,
        call=call.name,
        target=text(target),
        size=shown or text(size),
        room=room,
        fix=_rewrite(call, target, size),
    )


def _rewrite(call: Call, target: Node, size: Node) -> Rewrite | None:
    declared = declaration(target, call.function)
    if call.name != "strncat" or declared is None or not declared.arrays:
        return None
    if isinstance(declared, Variable) and declared.is_parameter:
        return None
    if target.type not in ("identifier", "field_expression"):
        return None
    name = text(target)
    new = f"sizeof({name}) - strlen({name}) - 1"
    return Rewrite("Use the space left in '{target}'", [(size, new)], target=name)
