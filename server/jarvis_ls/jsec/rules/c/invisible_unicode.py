"""Bidirectional or invisible characters in source code (Trojan Source).

## What it does
Finds Unicode characters that change the direction of text, and zero-width characters, in source
files.

## Why is this bad?
A line can look like a comment and be code, or one name like another (CVE-2021-42574). A reviewer
cannot see the difference.

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

from jarvis_ls.codeintel.top_level_items import Item
from jarvis_ls.jsec.base.match_site import WholeUnit
from jarvis_ls.jsec.base.rule import Report, Rewrite, rule, whole_file

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
    suggestion="Remove the character, or write it as an escape sequence.",
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
            "Invisible or bidirectional character {code} in source code.",
            confidence=confidence,
            pattern=f"U+{ord(character):04X}",
            code=f"U+{ord(character):04X}",
            fix=fix,
        )


def _kind(items: list[Item], starts: list[int], offset: int) -> str:
    """Return `comment` or `string` for a character in one; empty for code."""
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
