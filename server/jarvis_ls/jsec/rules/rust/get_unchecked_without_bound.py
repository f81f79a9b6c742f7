"""get_unchecked() without a bounds check.

## What it does
Finds `get_unchecked` and `get_unchecked_mut` without a nearby check of the index, loop over a
range or SAFETY comment, and indices past the end of an array of known size.

## Why is this bad?
An index out of bounds is undefined behaviour: it silently reads or writes other memory.

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

from jarvis_ls.codeintel.extract.rust import has_safety_comment, modifiers
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, Rewrite, flow, flow_verdicts, methods, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.rust.guards import is_tested, tests_before
from jarvis_ls.jsec.local.rust.values import array_length, largest, number_origin, words_in


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
    suggestion="Index with '[…]' or 'get', or check the index against the length first.",
    fixable=True,
)
@flow_verdicts(sound="bounds")
def get_unchecked_without_bound(call: Call) -> Iterator[Report]:
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
        "Index '{index}' is not checked against the length of '{table}'.",
        confidence=confidence,
        pattern=call.name,
        fix=_checked_index_fix(call, table, index),
        index=text(index)[:60],
        table=text(table)[:60],
    )


@on_fault(get_unchecked_without_bound)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(fault, "Index may be out of bounds ({size} elements).")


def _rate(call: Call, table: Node, index: Node) -> float:
    constant = largest(index, call.function, call.unit)
    length = array_length(table, call.function, call.unit)
    if constant is not None and length is not None:
        return 0.95 if constant >= length else 0.0
    if is_tested(call.function, index, call.node.start_byte):
        return 0.65 if _lets_length_through(call, table, index) else 0.0
    if constant is not None and is_tested(call.function, table, call.node.start_byte):
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
    """Return whether the index is compared only by `i <= table.len()`."""
    name, container = re.escape(text(index)[:60]), re.escape(text(table)[:60])
    off_by_one = re.compile(rf"(?<![\w.]){name}\s*<=\s*{container}\.len\(\)(?!\s*[-\w])")
    comparisons = [
        t for t in tests_before(call.function, call.node.start_byte) if words_in(index) & t.words
    ]
    return bool(comparisons) and all(
        off_by_one.search(t.written) and t.written.count(text(index)) == 1 for t in comparisons
    )


def _checked_index_fix(call: Call, table: Node, index: Node) -> Rewrite | None:
    """Return the rewrite to `&table[i]`, or `table[i]` where the result is dereferenced; it
    panics where the other reads out of bounds.
    """
    if call.function is not None and "unsafe" in modifiers(call.function.node):
        return None  # its callers promise that
    borrow = "&mut " if call.name.endswith("mut") else "&"
    parent = call.node.parent
    if parent is not None and parent.type == "unary_expression" and parent.children[0].type == "*":
        return Rewrite(
            "Index with a bounds check", [(parent, f"{text(table)}[{text(index)}]")], safe=False
        )
    if parent is not None and parent.type == "field_expression":
        return (
            None
            if field(parent, "value") is None
            else Rewrite(
                "Index with a bounds check",
                [(call.node, f"{text(table)}[{text(index)}]")],
                safe=False,
            )
        )
    element = f"{borrow}{text(table)}[{text(index)}]"
    return Rewrite("Index with a bounds check", [(call.node, element)], safe=False)
