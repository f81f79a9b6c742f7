"""`scanf` reads a word of any length into a buffer.

## What it does
Finds `%s` and `%[...]` without a width in formats of `scanf`, `fscanf`, `sscanf` and their wide
forms, and widths that leave no room for the terminator. `%*s`, `%ms` and sources of `sscanf`
that are known to be short enough are fine.

## Why is this bad?
The input decides how much is written, as with `gets`.

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

from jarvis_ls.codeintel.code import Call, bare, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.extents import extent
from jarvis_ls.jsec.c.formats import Scan, scans
from jarvis_ls.jsec.c.texts import character, length
from jarvis_ls.jsec.constants import string_literal
from jarvis_ls.jsec.rule import Report, Rewrite, calls, rule

ANY = "'{conversion}' writes a word of any length into '{target}'."
NO_ROOM = "'{conversion}' and the terminator do not fit into '{target}' ({room} characters)."
FORMATS = {"scanf": 0, "fscanf": 1, "sscanf": 1, "wscanf": 0, "fwscanf": 1, "swscanf": 1,
           "vscanf": 0, "vsscanf": 1, "vfscanf": 1}  # fmt: skip


@rule(
    query=calls(*FORMATS),
    category="unsafe_api",
    cwe=(120, 121, 787, 676),
    confidence=0.9,
    suggestion="Give a width of one less than the size of the target, as in %19s.",
    fixable=True,
    answered=("buffer-write-stack", "buffer-write-heap"),
)
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
    """Whether what `sscanf` reads from is itself not longer than the target."""
    if call.name not in ("sscanf", "swscanf") or room is None:
        return False
    most = length(call.arg(0), call.function).most
    return most is not None and most < room


def _rewrite(call: Call, place: int, scan: Scan, room: int | None) -> Rewrite | None:
    """The width put into the format, where that is one plain literal."""
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
    return Rewrite("Limit to {width} characters", [((start, end), f"%{room - 1}{kept}")],
                   width=str(room - 1))  # fmt: skip
