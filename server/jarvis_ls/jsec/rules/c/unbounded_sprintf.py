"""Unbounded sprintf.

## What it does
Finds `sprintf`, `vsprintf` and `wsprintf`. The longest possible output is computed where the
format is a literal; calls whose output always fits are left out.

## Why is this bad?
`sprintf` has no size argument: output that does not fit overflows the buffer. A width such as
`%5d` is a minimum, and `%s` has no limit at all.

## Example
```c
char line[32];
sprintf(line, "user %s", name);
```

Use instead:
```c
char line[32];
snprintf(line, sizeof(line), "user %s", name);
```

## References
- CWE-121: Stack-based Buffer Overflow
- CWE-120: Buffer Copy without Checking Size of Input
- CWE-676: Use of Potentially Dangerous Function
- SEI CERT C STR31-C: Guarantee that storage for strings has sufficient space
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, flow_verdicts, rule
from jarvis_ls.jsec.local.c.buffer_sizes import extent
from jarvis_ls.jsec.local.c.formats import output_length
from jarvis_ls.jsec.local.c.inputs import text_source
from jarvis_ls.jsec.local.c.layout import gap_of
from jarvis_ls.jsec.local.c.string_lengths import character
from jarvis_ls.jsec.local.constants import declaration, string_literal

TOO_LONG = "'{call}' writes at least {least} characters to '{target}' ({room} characters)."
KNOWN = "'{call}' writes to '{target}' ({size} bytes) without a bounds check."
UNKNOWN = "'{call}' writes to '{target}' without a bounds check."


@rule(
    query=calls("sprintf", "vsprintf", "wsprintf", "wsprintfA", "wsprintfW", "wvsprintfA"),
    category="unsafe_api",
    cwe=(121, 122, 120, 787, 676),
    confidence=0.65,
    suggestion="Use snprintf with the buffer size and check for truncation.",
    fixable=True,
)
@flow_verdicts(faults=("buffer-write-stack", "buffer-write-heap"), trace="copy-reached")
def unbounded_sprintf(call: Call) -> Iterator[Report]:
    target = call.arg(0)
    if target is None:
        return
    literal = string_literal(call.arg(1), call.function)
    values = call.arguments[2:]
    if literal is None or call.name.startswith(("v", "wv")):
        least, most = 1, None
    else:
        least, most = output_length(literal, values, call.function)
    memory = extent(target, call.function)
    room = None
    if memory is not None and not memory.size.unit:
        room = memory.size.count // character(target, call.function)
    if room is not None and most is not None and most + 1 <= room:
        return
    certain = room is not None and least + 1 > room
    yield Report(
        call.node,
        TOO_LONG if certain else KNOWN if room is not None else UNKNOWN,
        confidence=0.9 if certain else _confidence(call, literal, room),
        pattern=call.name,
        call=call.name,
        target=text(target),
        room=str(room),
        size=str(memory.size.count if memory is not None else 0),
        least=str(least + 1),
        fix=_rewrite(call),
    )


def _confidence(call: Call, literal: str | None, room: int | None) -> float:
    if literal is None:
        return 0.5
    if any(text_source(v, call.function) is not None for v in call.arguments[2:]):
        return 0.9
    if "%s" in literal or "%S" in literal or "%ls" in literal:
        return 0.75 if room is not None else 0.4
    return 0.45 if "%" in literal else 0.3


def _rewrite(call: Call) -> Rewrite | None:
    target, callee = call.arg(0), field(call.node, "function")
    limited = {"sprintf": "snprintf", "vsprintf": "vsnprintf"}.get(call.written)
    if limited is None or callee is None or target is None:
        return None
    declared = declaration(target, call.function)
    if target.type not in ("identifier", "field_expression") or declared is None:
        return None
    if not declared.arrays or (isinstance(declared, Variable) and declared.is_parameter):
        return None
    name = text(target)
    size = (target.end_byte, target.end_byte), f", sizeof{gap_of(call)}({name})"
    return Rewrite(
        "Limit the output to the size of '{target}'", [(callee, limited), size], target=name
    )
