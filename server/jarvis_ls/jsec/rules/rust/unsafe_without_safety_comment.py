"""An unsafe block does not say why it is sound.

## What it does
Finds `unsafe` blocks with no SAFETY comment (English or Chinese) in the block or above it.

## Why is this bad?
In an `unsafe` block the compiler trusts the author. Without the argument written down, nobody
can tell whether a later change still keeps what the block relies on.

## Example
```rust
let first = unsafe { *bytes.as_ptr() };
```

Use instead:
```rust
// SAFETY: `bytes` was checked to be non-empty above.
let first = unsafe { *bytes.as_ptr() };
```

## References
- CWE-758: Reliance on Undefined, Unspecified, or Implementation-Defined Behavior
- Clippy: undocumented_unsafe_blocks
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import ancestors, text
from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.jsec.rule import Report, nodes, rule
from jarvis_ls.jsec.site import Site


@rule(
    query=nodes("(unsafe_block) @site"),
    category="unsafe_usage",
    cwe=(758,),
    confidence=0.45,
    suggestion="Write a '// SAFETY:' comment that names what makes the block sound, "
    "or use a safe function instead.",
)
def unsafe_without_safety_comment(site: Site) -> Iterator[Report]:
    if has_safety_comment(site.node, site.item.prefix):
        return
    if any(outer.type == "unsafe_block" for outer in ancestors(site.node)):
        return
    keyword = site.node.children[0]
    yield Report(
        keyword if text(keyword) == "unsafe" else site.node,
        "This unsafe block does not say why it is sound.",
        pattern="unsafe",
    )
