"""#[no_mangle] function without extern "C".

## What it does
Finds `#[no_mangle]` and `#[export_name]` functions that are not `extern`.

## Why is this bad?
C callers pass arguments by the C calling convention, and the Rust convention differs and is not
stable between compilers.

## Example
```rust
#[no_mangle]
pub fn checksum(p: *const u8, n: usize) -> u32 { 0 }
```

Use instead:
```rust
#[no_mangle]
pub extern "C" fn checksum(p: *const u8, n: usize) -> u32 { 0 }
```

## References
- CWE-686: Function Call With Incorrect Argument Type
- Clippy: no_mangle_with_rust_abi
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import attributes, modifiers
from jarvis_ls.codeintel.functions import Function
from jarvis_ls.jsec.base.rule import Report, Rewrite, functions, rule


@rule(
    query=functions(containing=("no_mangle", "export_name")),
    category="type_safety",
    cwe=(686,),
    confidence=0.8,
    suggestion="Declare the function 'extern \"C\"'.",
    severity="medium",
    fixable=True,
)
def no_mangle_without_extern_c(function: Function) -> Iterator[Report]:
    named = [a for a in attributes(function.node) if "no_mangle" in a or "export_name" in a]
    if not named or named[0].startswith("cfg_attr") or function.name_node is None:
        return
    if "extern" in modifiers(function.node) or function.name == "main":
        return
    if any("panic_handler" in a or "lang" in a for a in attributes(function.node)):
        return
    keyword = next((c for c in function.node.children if c.type == "fn"), None)
    yield Report(
        function.name_node,
        "Exported function '{function}' uses the Rust calling convention.",
        pattern="no_mangle",
        fix=Rewrite(
            'Declare it extern "C"',
            [((keyword.start_byte, keyword.start_byte), 'extern "C" ')],
            safe=False,
        )
        if keyword is not None
        else None,
        function=function.name,
    )
