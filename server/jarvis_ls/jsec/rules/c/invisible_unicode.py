"""Invisible characters make the source look different from what it does.

## What it does
Finds the Unicode characters that change the direction of text, and characters without width, in
source files.

## Why is this bad?
With them a line can look like a comment and be code, or a name like another ("Trojan Source",
CVE-2021-42574). A reviewer cannot see the difference.

## Example
```c
bool is_admin = false;
/* begin admins only */ if (is_admin) {   // with U+202E inside, shown in another order
```

Use instead:
```c
bool is_admin = false;
if (is_admin) { /* begin admins only */
```

## References
- CWE-1007: Insufficient Visual Distinction of Homoglyphs Presented to User
- CVE-2021-42574: Trojan Source
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from jarvis_ls.codeintel.items import Item
from jarvis_ls.jsec.rule import Report, Rewrite, rule, whole_file
from jarvis_ls.jsec.site import WholeUnit

DIRECTION = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
MARKS = "\u200e\u200f\u061c"
NO_WIDTH = "\u200b\u2060\ufeff\u00ad\u180e\u200c\u200d"
_FOUND = re.compile("|".join(c for c in (*DIRECTION, *MARKS, *NO_WIDTH)).encode())
MAX_REPORTS = 50


@rule(
    query=whole_file(*DIRECTION, *MARKS, *NO_WIDTH),
    category="input_validation",
    cwe=(1007,),
    confidence=0.9,
    suggestion="Remove the character, or write it as an escape where the text needs it.",
    fixable=True,
)
def invisible_unicode(whole: WholeUnit) -> Iterator[Report]:
    starts = [item.start for item in whole.items]
    for number, match in enumerate(_FOUND.finditer(whole.unit.source.data)):
        if number == MAX_REPORTS:
            return
        character = match[0].decode()
        where = _kind(whole.items, starts, match.start())
        confidence = _confidence(character, where)
        if not confidence:
            continue
        fix = None
        if where == "comment":
            fix = Rewrite("Remove the character", [((match.start(), match.end()), "")])
        yield Report(
            (match.start(), match.end()),
            "An invisible character {code} stands here: the text is not what it looks like.",
            confidence=confidence,
            pattern=f"U+{ord(character):04X}",
            code=f"U+{ord(character):04X}",
            fix=fix,
        )


def _kind(items: list[Item], starts: list[int], offset: int) -> str:
    """What the character stands in: `comment`, `string` or code (empty)."""
    index = bisect_right(starts, offset) - 1
    if index < 0 or offset >= items[index].end:
        return ""
    node = items[index].node.descendant_for_byte_range(offset, offset)
    for _ in range(4):
        if node is None:
            return ""
        if node.type == "comment":
            return "comment"
        if "string" in node.type or "char" in node.type or node.type == "system_lib_string":
            return "string"
        node = node.parent
    return ""


def _confidence(character: str, where: str) -> float:
    if character in DIRECTION:
        return 0.9
    if character in MARKS:
        return 0.6 if where != "comment" else 0.4
    return 0.6 if not where else 0.0  # joiners belong to the words of some languages
