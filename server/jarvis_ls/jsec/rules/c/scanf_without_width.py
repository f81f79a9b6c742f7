"""Unbounded string conversion in scanf.

## What it does
Finds `%s` and `%[...]` without a field width in formats of `scanf`, `fscanf`, `sscanf` and their
wide variants, and widths that leave no room for the terminator. `%*s`, `%ms` and sources of
`sscanf` that are known to fit are left out.

## Why is this bad?
The input controls how many bytes are written, as with `gets`: a buffer overflow.

## Example
```c
char word[20];
scanf("%s", word);
```

Use instead:
```c
char word[20];
scanf("%19s", word);
```

## References
- CWE-120: Buffer Copy without Checking Size of Input
- CWE-121: Stack-based Buffer Overflow
- SEI CERT C STR31-C: Guarantee that storage for strings has sufficient space
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import bare, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, flow_verdicts, rule
from jarvis_ls.jsec.local.c.buffer_sizes import extent
from jarvis_ls.jsec.local.c.formats import Scan, scans
from jarvis_ls.jsec.local.c.string_lengths import character, length
from jarvis_ls.jsec.local.constants import string_literal

ANY = "'{conversion}' writes to '{target}' without a field width."
NO_ROOM = "'{conversion}' and the terminator overflow '{target}' ({room} characters)."
FORMATS = {
    "scanf": 0,
    "fscanf": 1,
    "sscanf": 1,
    "wscanf": 0,
    "fwscanf": 1,
    "swscanf": 1,
    "vscanf": 0,
    "vsscanf": 1,
    "vfscanf": 1,
}


@rule(
    query=calls(*FORMATS),
    category="unsafe_api",
    cwe=(120, 121, 787, 676),
    confidence=0.9,
    suggestion="Specify a field width of the buffer size minus one, as in %19s.",
    fixable=True,
)
@flow_verdicts(faults=("buffer-write-stack", "buffer-write-heap"))
def scanf_without_width(call: Call) -> Iterator[Report]:
    place = FORMATS[call.name]
    literal = string_literal(call.arg(place), call.function)
    if literal is None:
        return
    for number, scan in enumerate(scans(literal)):
        if scan.kind not in ("s", "S", "[") or scan.allocates:
            continue
        target = call.arg(place + 1 + number)
        room = _room(call, target)
        if scan.width is not None and (room is None or scan.width < room):
            continue
        if _short_source(call, room):
            continue
        yield Report(
            call.node,
            ANY if scan.width is None else NO_ROOM,
            confidence=0.65 if call.name == "sscanf" and room is None else None,
            pattern=call.name,
            conversion=scan.written,
            target=text(target) if target is not None else "?",
            room=str(room),
            fix=_rewrite(call, place, scan, room),
        )


def _room(call: Call, target: Node | None) -> int | None:
    memory = extent(target, call.function)
    if memory is None or memory.size.unit or memory.offset < 0:
        return None
    return memory.size.count // character(target, call.function)


def _short_source(call: Call, room: int | None) -> bool:
    """Return whether the source of `sscanf` is known to fit into the target."""
    if call.name not in ("sscanf", "swscanf") or room is None:
        return False
    most = length(call.arg(0), call.function).most
    return most is not None and most < room


def _rewrite(call: Call, place: int, scan: Scan, room: int | None) -> Rewrite | None:
    """Return the insertion of a width into the format, where that is a single literal."""
    node = call.arg(place)
    if node is None or bare(node).type != "string_literal" or room is None or room < 2:
        return None
    node = bare(node)
    written = text(node)
    if not written.startswith('"'):
        return None
    start = node.start_byte + 1 + len(written[1 : 1 + scan.start].encode())
    end = start + len(scan.written.encode())
    kept = scan.written.lstrip("%0123456789")
    return Rewrite(
        "Limit the field width to {width}",
        [((start, end), f"%{room - 1}{kept}")],
        width=str(room - 1),
    )
