"""Invisible or bidirectional control character in source code.

## What it does
Finds bidirectional control characters (U+202A to U+202E, U+2066 to U+2069) and zero-width
characters (U+200B, U+2060, U+FEFF) in code, strings and comments.

## Why is this bad?
The code that a reviewer sees differs from the code that is compiled: a comment ends early, a
string holds another word ("Trojan Source").

## Example
```rust
let access = "user\\u{202e}"; // the character itself is invisible
```

Use instead:
```rust
let access = "user";
```

## References
- CWE-1007: Insufficient Visual Distinction of Homoglyphs Presented to User
- CVE-2021-42574: Trojan Source
- rustc: text_direction_codepoint_in_literal
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.jsec.base.match_site import WholeUnit
from jarvis_ls.jsec.base.rule import Report, Rewrite, rule, whole_file

_TURNING = [chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))]
_WIDTHLESS = [chr(code) for code in (0x200B, 0x2060, 0xFEFF)]
_MOST = 50


@rule(
    query=whole_file(*_TURNING, *_WIDTHLESS),
    category="input_validation",
    cwe=(1007,),
    confidence=0.8,
    suggestion="Delete the character, or write it as an escape sequence.",
    fixable=True,
)
def hidden_text_direction(whole: WholeUnit) -> Iterator[Report]:
    data = whole.unit.source.data
    for character in (*_TURNING, *_WIDTHLESS):
        encoded = character.encode()
        at = data.find(encoded)
        for _ in range(_MOST):
            if at < 0:
                break
            place = (at, at + len(encoded))
            yield Report(
                place,
                "Invisible character U+{code} changes how this line is displayed.",
                confidence=0.9 if character in _TURNING else 0.6,
                pattern=f"U+{ord(character):04X}",
                fix=Rewrite("Delete the character", [(place, "")], safe=False),
                code=f"{ord(character):04X}",
            )
            at = data.find(encoded, at + len(encoded))
