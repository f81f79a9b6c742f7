"""An element is taken without a bound check.

## What it does
Finds `get_unchecked` and `get_unchecked_mut` where no test of the index, no loop over a range and
no SAFETY comment stands near, and indexes past the end of an array of known size.

## Why is this bad?
An index that is too large reads or writes memory of something else, silently.

## Example
```rust
let value = unsafe { *table.get_unchecked(index) };
```

Use instead:
```rust
let value = table[index];
```

## References
- CWE-125: Out-of-bounds Read
- CWE-787: Out-of-bounds Write
- CWE-129: Improper Validation of Array Index
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, field, text
from jarvis_ls.codeintel.extract.rust import has_safety_comment, modifiers
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, Rewrite, flow, methods, rule
from jarvis_ls.jsec.rust.guards import tested, tests_before
from jarvis_ls.jsec.rust.values import array_length, largest, number_origin, words_in


@rule(
    query=flow(
        "buffer-read-over",
        "buffer-write-stack",
        "buffer-write-heap",
        "buffer-underwrite",
        "buffer-read-under",
        by=("get_unchecked",),
        guess=methods("get_unchecked", "get_unchecked_mut"),
    ),
    category="buffer_overflow",
    cwe=(125, 787, 129),
    confidence=0.65,
    suggestion="Index with '[…]' or 'get', or test the index against the length first.",
    fixable=True,
    cleared="bounds",
)
def get_unchecked_without_bound(call: Call | Fault) -> Iterator[Report]:
    if isinstance(call, Fault):
        yield Report(call, "This index can lie outside of the {size} elements.")
        return
    index, table = call.arg(0), call.receiver
    if index is None or table is None or len(call.arguments) != 1:
        return
    if call.function is not None and "unchecked" in call.function.name:
        return
    confidence = _rate(call, table, index)
    if not confidence:
        return
    yield Report(
        call.node,
        "Nothing near shows that '{index}' lies inside '{table}'.",
        confidence=confidence,
        pattern=call.name,
        fix=_checked(call, table, index),
        index=text(index)[:60],
        table=text(table)[:60],
    )


def _rate(call: Call, table: Node, index: Node) -> float:
    constant = largest(index, call.function, call.unit)
    length = array_length(table, call.function, call.unit)
    if constant is not None and length is not None:
        return 0.95 if constant >= length else 0.0
    if tested(call.function, index, call.node.start_byte):
        return 0.65 if _lets_length_through(call, table, index) else 0.0
    if constant is not None and tested(call.function, table, call.node.start_byte):
        return 0.0
    if has_safety_comment(call.node):
        return 0.0
    words = words_in(index)
    if any(t.is_debug and words & t.words for t in tests_before(call.function, index.start_byte)):
        return 0.5
    if call.function is not None and "unsafe" in modifiers(call.function.node):
        return 0.5
    return 0.8 if number_origin(index, call.function) else 0.65


def _lets_length_through(call: Call, table: Node, index: Node) -> bool:
    """Whether all that the index is compared with is `i <= table.len()`."""
    name, held = re.escape(text(index)[:60]), re.escape(text(table)[:60])
    loose = re.compile(rf"(?<![\w.]){name}\s*<=\s*{held}\.len\(\)(?!\s*[-\w])")
    asked = [t for t in tests_before(call.function, call.node.start_byte)
             if words_in(index) & t.words]  # fmt: skip
    return bool(asked) and all(
        loose.search(t.written) and t.written.count(text(index)) == 1 for t in asked
    )


def _checked(call: Call, table: Node, index: Node) -> Rewrite | None:
    """`&table[i]`, or `table[i]` where the result is dereferenced at once; it panics where the
    other read out of bounds."""
    borrow = "&mut " if call.name.endswith("mut") else "&"
    parent = call.node.parent
    if parent is not None and parent.type == "unary_expression" and parent.children[0].type == "*":
        return Rewrite("Index with a bound check", [(parent, f"{text(table)}[{text(index)}]")],
                       safe=False)  # fmt: skip
    if parent is not None and parent.type == "field_expression":
        return None if field(parent, "value") is None else Rewrite(
            "Index with a bound check", [(call.node, f"{text(table)}[{text(index)}]")], safe=False
        )  # fmt: skip
    element = f"{borrow}{text(table)}[{text(index)}]"
    return Rewrite("Index with a bound check", [(call.node, element)], safe=False)
