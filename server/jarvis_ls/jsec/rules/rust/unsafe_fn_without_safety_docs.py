"""Missing '# Safety' section of a public unsafe function.

## What it does
Finds `pub unsafe fn` and `pub unsafe trait` without a `# Safety` section (or a SAFETY comment)
above.

## Why is this bad?
The caller of an `unsafe` function must uphold its preconditions. If they are undocumented, a
wrong assumption is undefined behaviour.

## Example
```rust
pub unsafe fn set_len(&mut self, len: usize) { self.len = len; }
```

Use instead:
```rust
/// # Safety
/// `len` must not exceed the capacity, and the first `len` elements must be initialised.
pub unsafe fn set_len(&mut self, len: usize) { self.len = len; }
```

## References
- CWE-1111: Incomplete I/O Documentation
- Clippy: missing_safety_doc
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import SAFETY, attributes, documentation, modifiers
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule, summary


@rule(
    query=nodes(
        "(function_item (visibility_modifier) @site (function_modifiers))"
        '(trait_item (visibility_modifier) @site "unsafe")'
    ),
    category="unsafe_usage",
    cwe=(1111,),
    confidence=0.25,
    suggestion="Add a '# Safety' section with the preconditions.",
    severity="low",
)
@summary("{count} public unsafe functions in this file have no '# Safety' section.")
def unsafe_fn_without_safety_docs(site: Site) -> Iterator[Report]:
    declared = site.node.parent
    if declared is None or site.node.text != b"pub":
        return
    if declared.type == "function_item" and "unsafe" not in modifiers(declared):
        return
    above = documentation(declared)
    if SAFETY.search(above) or "safety" in above.lower():
        return
    if any(
        a.startswith(("doc(hidden", "doc = include", "no_mangle")) for a in attributes(declared)
    ):
        return
    name = field(declared, "name")
    if name is not None:
        yield Report(
            name,
            "Public unsafe '{name}' has no '# Safety' section.",
            name=text(name),
        )
