"""Truncating cast of a length.

## What it does
Finds `x.len() as u8`, `as u16`, `as u32`, `as i32` and the like, also of sums with a length,
where nothing nearby bounds the length.

## Why is this bad?
`as` silently drops the high bits: 65,546 becomes 10. A length field or a C function then gets a
small number for a large buffer.

## Example
```rust
header.write_u16(payload.len() as u16)?;
```

Use instead:
```rust
let length = u16::try_from(payload.len()).map_err(|_| Error::TooLong)?;
header.write_u16(length)?;
```

## References
- CWE-197: Numeric Truncation Error
- CWE-681: Incorrect Conversion between Numeric Types
- Clippy: cast_possible_truncation
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, flow_verdicts, nodes, rule
from jarvis_ls.jsec.local.rust.errors import converted
from jarvis_ls.jsec.local.rust.guards import is_tested
from jarvis_ls.jsec.local.rust.shapes import arguments
from jarvis_ls.jsec.local.rust.values import WIDTHS

_CONFIDENCE = {
    "u8": 0.65,
    "i8": 0.65,
    "u16": 0.65,
    "i16": 0.65,
    "u32": 0.45,
    "i32": 0.5,
    "c_int": 0.5,
    "c_uint": 0.45,
    "c_short": 0.65,
    "c_ushort": 0.65,
}
_LENGTHS = frozenset({"len", "count", "capacity", "size_of_val"})

CHECKED = "Return an error when it does not fit in '{target}'"


@rule(
    query=nodes("(type_cast_expression) @site"),
    category="integer_overflow",
    cwe=(197, 681),
    confidence=0.6,
    suggestion="Convert with 'try_from' and handle the error.",
    severity="medium",
    fixable=True,
)
@flow_verdicts(faults=("truncation",), sound="cast")
def as_truncates_length(site: Site) -> Iterator[Report]:
    if site.item.in_test:
        return
    target = text(field(site.node, "type")).rpartition("::")[2]
    value = field(site.node, "value")
    if target not in _CONFIDENCE or value is None:
        return
    length = _length_in(value)
    if length is None or _is_bounded(site, length) or has_safety_comment(site.node):
        return
    fix = None
    if target in WIDTHS and not target.startswith("c_"):
        plain = text(value)
        plain = plain[1:-1] if plain.startswith("(") and plain.endswith(")") else plain
        checked = converted(site.function, site.node, target, plain)
        if checked:
            fix = Rewrite(CHECKED, [(site.node, checked)], safe=False, target=target)
    yield Report(
        site.node,
        "Cast of '{length}' to '{target}' may truncate the value.",
        confidence=_CONFIDENCE[target],
        pattern=f"as {target}",
        fix=fix,
        length=text(length)[:60],
        target=target,
    )


def _length_in(node: Node) -> Node | None:
    """Return the call of `len()` whose value reaches the cast, through sums and products."""
    for _ in range(8):
        if node.type == "parenthesized_expression" and node.named_child_count:
            node = node.named_children[0]
        elif node.type == "binary_expression" and node.children[1].type in ("+", "-", "*"):
            left, right = node.named_children[0], node.named_children[-1]
            node = right if _is_length(right) else left
        else:
            break
    return node if _is_length(node) else None


def _is_length(node: Node) -> bool:
    return node.type == "call_expression" and called_name(node) in _LENGTHS


def _is_bounded(site: Site, length: Node) -> bool:
    if called_name(length) == "count" and arguments(length):
        return True
    name = text(length)
    if name.partition(".")[0].isupper():
        return True  # of a constant
    if any(word in name for word in (".min(", ".take(", "chunks", "to_be_bytes", "to_le_bytes")):
        return True
    return is_tested(site.function, length, site.node.start_byte)
