"""Buffer underflow on the last character of an empty string.

## What it does
Finds `text[strlen(text) - 1]` where nothing before it in the function checks whether the string is
empty: no `text[0]`, no `*text`, no other check of its length.

## Why is this bad?
The length of an empty string is 0, and 0 - 1 wraps around to the largest unsigned value: the
access is before the start of the array. `fgets` returns such a string for a line that begins with
a zero byte, so untrusted input can trigger it.

## Example
```c
while (fgets(line, sizeof(line), file) != NULL)
    line[strlen(line) - 1] = '\\0';
```

Use instead:
```c
while (fgets(line, sizeof(line), file) != NULL)
    line[strcspn(line, "\\n")] = '\\0';
```

## References
- CWE-124: Buffer Underwrite ('Buffer Underflow')
- CWE-127: Buffer Under-read
- CWE-191: Integer Underflow
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.nodes import bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.c.buffer_sizes import index_of

_LAST = re.compile(r"(?:std\s?::\s?)?(?:strlen|wcslen)\s?\(\s?([^()]{1,60}?)\s?\)\s?-\s?1")
_MAX_BEFORE = 20_000
"""Bytes of the function before the access that are searched."""


def _looks_last(node: Node) -> bool:
    """Return whether an index ends in 1; the text rules out most."""
    if not (node.text or b"").rstrip(b") ]\t\r\n").endswith(b"1"):
        return False
    index = index_of(node)
    return index is not None and (bare(index).text or b"").rstrip().endswith(b"1")


@rule(
    query=nodes("(subscript_expression) @site", when=_looks_last),
    category="buffer_overflow",
    cwe=(124, 127, 191),
    confidence=0.4,
    suggestion=(
        "Check first that '{text}' is not empty, or cut the line at strcspn({text}, \"\\n\")."
    ),
)
def last_character_of_empty_text(site: Site) -> Iterator[Report]:
    index, name = index_of(site.node), text(field(site.node, "argument"))
    match = _LAST.fullmatch(text(bare(index))) if index is not None else None
    if match is None or match[1] != name or site.function is None:
        return
    start = max(site.function.node.start_byte, site.node.start_byte - _MAX_BEFORE)
    before = site.unit.source.data[start : site.node.start_byte].decode("utf-8", "replace")
    path = re.escape(name)
    check = rf"[!(&|=?]\s?\*\s?{path}\b|\b{path}\s?\[\s?0\s?\]|len\s?\(\s?{path}\s?\)|\"\""
    if re.search(check, before):
        return
    yield Report(
        site.node,
        "Index strlen({text}) - 1 is before the start of '{text}' if the string is empty.",
        pattern="strlen",
        text=name,
        cwe=(124, 191) if _is_written(site.node) else (127, 191),
    )


def _is_written(node: Node) -> bool:
    parent = node.parent
    return (
        parent is not None
        and parent.type == "assignment_expression"
        and field(parent, "left") == node
    )
