"""Missing SAFETY comment of an unsafe block.

## What it does
Finds `unsafe` blocks without a SAFETY comment (English or Chinese) in the block or above it. A
function gets one finding, at its first such block, and so does a file with such functions
throughout; the finding lists the others.

## Why is this bad?
In an `unsafe` block the compiler trusts the author. Without a written justification, a reviewer
cannot tell whether a later change still upholds the preconditions.

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

from jarvis_ls.codeintel.extract.rust import SAFETY, has_safety_comment
from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import ancestors
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule, summary

SINGLE = "Unsafe block has no SAFETY comment."
HABIT = "{count} unsafe blocks in this file have no SAFETY comment."
MANY = "{count} unsafe blocks in this function have no SAFETY comment."
_AROUND = frozenset({"function_item", "unsafe_block"})
_MOST_SHOWN = 16
"""Limit of the related blocks that a finding lists."""


@rule(
    query=nodes("(unsafe_block) @site"),
    category="unsafe_usage",
    cwe=(758,),
    confidence=0.25,
    suggestion="Add a '// SAFETY:' comment that justifies the block, or use a safe function "
    "instead.",
)
@summary(HABIT)
def unsafe_without_safety_comment(site: Site) -> Iterator[Report]:
    function = site.function
    if function is None:
        bare_blocks = [site.node] if _is_undocumented(site.node, site.item.prefix) else []
    else:
        bare_blocks = _undocumented_blocks(function)
    if not bare_blocks or bare_blocks[0] != site.node:
        return
    others = bare_blocks[1:]
    yield Report(
        site.node.children[0],
        MANY if others else SINGLE,
        pattern="unsafe",
        count=str(len(bare_blocks)),
    ).with_related(
        [
            (other.children[0], "Unsafe block without a SAFETY comment.")
            for other in others[:_MOST_SHOWN]
        ]
    )


@once_per_function
def _undocumented_blocks(function: Function) -> list[Node]:
    """Return the undocumented `unsafe` blocks of the function, without its inner functions."""
    if any(outer.type == "unsafe_block" for outer in ancestors(function.node)):
        return []
    prefix = function.item.prefix
    is_inside = SAFETY.search(function.unit.text(function.node)) is not None
    if not is_inside and has_safety_comment(function.node, prefix):
        return []  # what is around the function holds for all of it
    return [
        node
        for node in function.nodes("unsafe")
        if all(outer.type not in _AROUND for outer in ancestors(node, function.node))
        and not (is_inside and has_safety_comment(node, prefix))
    ]


def _is_undocumented(node: Node, prefix: tuple[Node, ...]) -> bool:
    if has_safety_comment(node, prefix):
        return False
    return not any(outer.type == "unsafe_block" for outer in ancestors(node))
