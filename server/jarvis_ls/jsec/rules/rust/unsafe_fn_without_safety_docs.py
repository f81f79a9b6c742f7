"""A public unsafe function or trait does not say what its user must guarantee.

## What it does
Finds `pub unsafe fn` and `pub unsafe trait` without a `# Safety` section (or a SAFETY comment)
above it.

## Why is this bad?
`unsafe` hands an obligation to the caller. When it is written nowhere, every caller guesses,
and one wrong guess is undefined behaviour.

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

from jarvis_ls.codeintel.code import field, text
from jarvis_ls.codeintel.extract.rust import SAFETY, attributes, documentation, modifiers
from jarvis_ls.jsec.rule import Report, nodes, rule
from jarvis_ls.jsec.site import Site


@rule(
    query=nodes(
        "(function_item (visibility_modifier) @site (function_modifiers))"
        '(trait_item (visibility_modifier) @site "unsafe")'
    ),
    category="unsafe_usage",
    cwe=(1111,),
    confidence=0.5,
    suggestion="Add a '# Safety' section that lists what the caller must guarantee.",
    severity="low",
)
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
            "'{name}' is unsafe and public, but nothing says what its user must guarantee.",
            name=text(name),
        )
