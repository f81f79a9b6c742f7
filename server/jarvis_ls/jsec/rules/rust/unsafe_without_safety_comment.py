"""An unsafe block does not say why it is sound.

## What it does
Finds `unsafe` blocks with no SAFETY comment (English or Chinese) in the block or above it. A
function is told of once, at its first such block, and so is a file with such functions
throughout; the finding leads to the others.

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

from jarvis_ls.codeintel.code import Function, ancestors
from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.memo import once_per_function
from jarvis_ls.jsec.rule import Report, nodes, rule
from jarvis_ls.jsec.site import Site

ONE = "This unsafe block does not say why it is sound."
HABIT = "This unsafe block and others, {count} in this file, do not say why they are sound."
MANY = "This block and others, {count} in this function, do not say why they are sound."
_MOST_SHOWN = 16
"""Blocks besides the first that a finding leads to."""


@rule(
    query=nodes("(unsafe_block) @site"),
    category="unsafe_usage",
    cwe=(758,),
    confidence=0.45,
    suggestion="Write a '// SAFETY:' comment that names what makes the block sound, "
    "or use a safe function instead.",
    gathered=HABIT,
)
def unsafe_without_safety_comment(site: Site) -> Iterator[Report]:
    function = site.function
    if function is None:
        bare_blocks = [site.node] if _is_undocumented(site.node, site.item.prefix) else []
    else:
        bare_blocks = _undocumented(function)
    if not bare_blocks or bare_blocks[0] != site.node:
        return
    others = bare_blocks[1:]
    yield Report(
        site.node.children[0],
        MANY if others else ONE,
        pattern="unsafe",
        count=str(len(bare_blocks)),
        related=[(other.children[0], "Nor does this one.") for other in others[:_MOST_SHOWN]],
    )


@once_per_function
def _undocumented(function: Function) -> list[Node]:
    """Its own `unsafe` blocks that say nothing, those of functions inside of it left out."""
    blocks = []
    for node in function.nodes("unsafe"):
        inner = any(outer.type == "function_item" for outer in ancestors(node, function.node))
        if not inner and _is_undocumented(node, function.item.prefix):
            blocks.append(node)
    return blocks


def _is_undocumented(node: Node, prefix: tuple[Node, ...]) -> bool:
    if has_safety_comment(node, prefix):
        return False
    return not any(outer.type == "unsafe_block" for outer in ancestors(node))
