"""from_utf8_unchecked() on unvalidated bytes.

## What it does
Finds `from_utf8_unchecked` and `as_bytes_mut` without a nearby check of the bytes or SAFETY
comment.

## Why is this bad?
Every function of `str` relies on valid UTF-8. On invalid bytes, slicing and `chars()` may read
out of bounds.

## Example
```rust
let name = unsafe { std::str::from_utf8_unchecked(&packet[4..]) };
```

Use instead:
```rust
let name = std::str::from_utf8(&packet[4..])?;
```

## References
- CWE-20: Improper Input Validation
- CWE-176: Improper Handling of Unicode Encoding
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, rule
from jarvis_ls.jsec.local.rust.errors import errors_of
from jarvis_ls.jsec.local.rust.guards import tests_before
from jarvis_ls.jsec.local.rust.values import is_literal, origin

_TESTS = frozenset(
    {
        "is_ascii",
        "is_utf8",
        "from_utf8",
        "is_ascii_digit",
        "is_ascii_alphanumeric",
        "is_char_boundary",
        "is_ascii_alphabetic",
        "is_ascii_hexdigit",
    }
)
_MADE_OF_TEXT = (".as_bytes()", ".to_string()", "itoa", "ryu", "hex", "base64", "encode")


@rule(
    query=calls("from_utf8_unchecked", "from_utf8_unchecked_mut", "from_boxed_utf8_unchecked"),
    category="unsafe_usage",
    cwe=(20, 176),
    confidence=0.6,
    suggestion="Use 'from_utf8' and handle the error, or 'from_utf8_lossy'.",
    fixable=True,
)
def unchecked_utf8(call: Call) -> Iterator[Report]:
    value = call.arg(0)
    if value is None or is_literal(value, call.function, call.unit):
        return
    if any(word in text(value)[:300] for word in _MADE_OF_TEXT) or has_safety_comment(call.node):
        return
    if any(_TESTS & test.words for test in tests_before(call.function, call.node.start_byte)):
        return
    if call.function is not None and "unchecked" in call.function.name:
        return
    source = origin(value, call.function)
    yield Report(
        call.node,
        "'{called}' does not validate that '{value}' is UTF-8.",
        confidence=0.65 if source else 0.5,
        pattern=call.name,
        fix=_checked_fix(call),
        called=call.name,
        value=text(value)[:60],
    )


def _checked_fix(call: Call) -> Rewrite | None:
    """Return the rewrite to `from_utf8(…)?` in a function that returns a Result."""
    callee = call.node.child_by_field_name("function")
    if callee is None or call.function is None:
        return None
    checked = call.written.replace("_unchecked", "").replace("from_boxed_utf8", "from_utf8")
    if not errors_of(call.function).any and f"{checked}({text(call.arg(0))})?" not in text(
        call.function.node
    ):
        return None
    return Rewrite(
        "Use 'from_utf8' and return its error",
        [(callee, checked), ((call.node.end_byte, call.node.end_byte), "?")],
        safe=False,
    )
