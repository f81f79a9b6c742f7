"""Missing SAFETY comment of an unsafe impl.

## What it does
Finds `unsafe impl` of traits other than `Send` and `Sync` (which have their own rule) without a
SAFETY comment above or inside.

## Why is this bad?
Safe code relies on the contract of an unsafe trait. A `GlobalAlloc` that returns short blocks or
a `Pod` type with padding causes undefined behaviour wherever it is used.

## Example
```rust
unsafe impl Pod for Header {}
```

Use instead:
```rust
// SAFETY: `Header` is repr(C), has no padding, and every bit pattern is valid.
unsafe impl Pod for Header {}
```

## References
- CWE-758: Reliance on Undefined, Unspecified, or Implementation-Defined Behavior
- Clippy: undocumented_unsafe_blocks
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule


@rule(
    query=nodes('(impl_item "unsafe" trait: (_)) @site'),
    category="unsafe_usage",
    cwe=(758,),
    confidence=0.25,
    suggestion="Add a '// SAFETY:' comment that says how the type upholds the contract of "
    "the trait.",
)
def unsafe_impl_without_safety_comment(site: Site) -> Iterator[Report]:
    trait = field(site.node, "trait")
    if text(trait).rpartition("::")[2] in ("Send", "Sync"):
        return
    if has_safety_comment(site.node, site.item.prefix):
        return
    kind = field(site.node, "type")
    yield Report(
        (site.node.start_byte, (kind or site.node).end_byte),
        "Unsafe impl of '{trait}' for '{type}' has no SAFETY comment.",
        pattern="unsafe impl",
        type=text(kind),
        trait=text(trait),
    )
