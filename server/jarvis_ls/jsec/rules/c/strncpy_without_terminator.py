"""Improper null termination by strncpy.

## What it does
Finds `strncpy` and `wcsncpy` whose source may be at least as long as the size argument, where no
terminator is stored in the target afterwards and the target was not zero-initialised.

## Why is this bad?
`strncpy` writes no terminator when the source is truncated. The next function that reads the
string reads past the end of the buffer.

## Example
```c
char name[32];
strncpy(name, from, sizeof(name));
puts(name);
```

Use instead:
```c
char name[32];
strncpy(name, from, sizeof(name) - 1);
name[sizeof(name) - 1] = '\\0';
puts(name);
```

## References
- CWE-170: Improper Null Termination
- CWE-126: Buffer Over-read
- CWE-125: Out-of-bounds Read
- SEI CERT C STR32-C: Do not pass a non-null-terminated character sequence to a library function
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, flow_verdicts, rule
from jarvis_ls.jsec.local.c.buffer_sizes import Extent, extent
from jarvis_ls.jsec.local.c.copy_sizes import amount
from jarvis_ls.jsec.local.c.layout import add_after
from jarvis_ls.jsec.local.c.string_lengths import (
    character,
    contents_before,
    is_terminated,
    length,
    names_of,
)
from jarvis_ls.jsec.local.constants import constant, declaration, string_literal


@rule(
    query=calls("strncpy", "wcsncpy", "stpncpy", "lstrcpyn", "_tcsncpy"),
    category="buffer_overflow",
    cwe=(170, 126, 125, 464),
    confidence=0.6,
    suggestion="Store a terminator at the end of the target after the copy, or use strlcpy "
    "or snprintf.",
    fixable=True,
)
@flow_verdicts(faults=("buffer-read-over", "text-without-end"))
def strncpy_without_terminator(call: Call) -> Iterator[Report]:
    target, source, function = call.arg(0), call.arg(1), call.function
    if target is None or source is None or function is None:
        return
    asked = amount(call, (2,), 1)
    if asked.measured is not None:
        yield from _reports_of_length(call, function, target, asked.measured)
        return
    limit = asked.size.count if asked.size is not None and not asked.size.unit else None
    longest = length(source, function)
    if longest.most is not None and limit is not None and longest.most < limit:
        return
    if _has_terminator(function, target, call):
        return
    memory = extent(target, function)
    confidence = _confidence(function, target, memory, limit, longest.exact)
    if confidence is None:
        return
    yield _report(call, target, confidence, _rewrite(call, target, memory, limit))


def _reports_of_length(call: Call, function: Function, target: Node, of: Node) -> Iterator[Report]:
    """Report `strncpy(d, s, strlen(s))`, which never copies the terminator."""
    if text(bare(of)) != text(bare(call.arguments[1])) or "+" in text(call.arg(2)):
        return
    if not _has_terminator(function, target, call):
        yield _report(call, target, 0.6, None)


def _report(call: Call, target: Node, confidence: float, fix: Rewrite | None) -> Report:
    return Report(
        call.node,
        "'{call}' does not null-terminate '{target}' when the source is truncated.",
        confidence=confidence,
        pattern=call.name,
        call=call.name,
        target=text(target),
        fix=fix,
    )


def _confidence(
    function: Function, target: Node, memory: Extent | None, limit: int | None, exact: int | None
) -> float | None:
    width = character(target, function)
    room = None if memory is None or memory.size.unit else memory.size.count // width
    if room is not None and limit is not None and limit > room:
        return None  # an overflow, which another rule reports
    proven = exact is not None and limit is not None and exact >= limit
    declared = declaration(target, function)
    own = isinstance(declared, Variable) and not declared.is_static
    if proven and (own or room == limit):
        return 0.85
    if room is not None and room == limit:
        return 0.65
    if room is not None and limit is not None:  # the last element is not written: it may be zero
        return 0.55 if own and memory is not None and memory.kind != "literal" else None
    return 0.4 if limit is None and memory is None else None


def _has_terminator(function: Function, target: Node, call: Call) -> bool:
    """Return whether a zero is stored in the target later, or it was zero-filled before."""
    names = names_of(target, function)
    loop_end = function.end
    if is_terminated(function, names, call.node.end_byte, loop_end):
        return True
    for event in contents_before(function, names, call.node.start_byte):
        if event.call is not None and event.call.name in ("bzero", "calloc", "ZeroMemory"):
            return True
        if event.call is not None and event.call.name in ("memset", "wmemset"):
            return constant(event.call.arg(1), function) == 0
    for name in names:
        variable = function.variable(name, target.start_byte)
        if (
            variable is not None
            and variable.initial is not None
            and (
                variable.initial.type == "initializer_list"
                or text(variable.initial) == '""'
                or text(variable.initial).startswith(("calloc", "(char *)calloc"))
            )
        ):
            return True
    return False


def _rewrite(call: Call, target: Node, memory: Extent | None, limit: int | None) -> Rewrite | None:
    statement = call.statement
    declared = declaration(target, call.function)
    if statement is None or memory is None or declared is None or not declared.arrays:
        return None
    if isinstance(declared, Variable) and declared.is_parameter:
        return None
    if target.type not in ("identifier", "field_expression") or limit is None:
        return None
    if call.function is None:
        return None
    if string_literal(call.arg(1), call.function) is not None:
        return None  # it is known to end, or not to: as in the header of a file format
    name = text(target)
    size = f"sizeof({name})"
    count = size if "char" in declared.type.split() else f"{size} / sizeof({name}[0])"
    stored = add_after(call.function, statement, [f"{name}[{count} - 1] = '\\0';"])
    # a field of a fixed width may well be meant to be full
    return Rewrite(
        "Null-terminate '{target}'", stored, safe=target.type == "identifier", target=name
    )
