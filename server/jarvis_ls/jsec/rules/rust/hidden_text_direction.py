"""Characters that nobody sees change how the source reads.

## What it does
Finds characters that turn the direction of text (U+202A to U+202E, U+2066 to U+2069) and characters
without width (U+200B, U+2060, U+FEFF) in code, strings and comments.

## Why is this bad?
The code a reviewer sees is not the code that is compiled: a comment ends early, a string holds
another word ("Trojan Source").

## Example
```rust
let access = "user\\u{202e}"; // with the character itself, nobody sees it
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

from jarvis_ls.jsec.rule import Report, Rewrite, rule, whole_file
from jarvis_ls.jsec.site import WholeUnit

_TURNING = [chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))]
_WIDTHLESS = [chr(code) for code in (0x200B, 0x2060, 0xFEFF)]
_MOST = 50


@rule(
    query=whole_file(*_TURNING, *_WIDTHLESS),
    category="input_validation",
    cwe=(1007,),
    confidence=0.8,
    suggestion="Delete the character, or write it as an escape.",
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
                "U+{code} is invisible and changes how this line reads.",
                confidence=0.9 if character in _TURNING else 0.6,
                pattern=f"U+{ord(character):04X}",
                fix=Rewrite("Delete it", [(place, "")], safe=False),
                code=f"{ord(character):04X}",
            )
            at = data.find(encoded, at + len(encoded))
