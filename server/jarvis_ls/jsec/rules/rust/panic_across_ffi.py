"""Panic across an FFI boundary.

## What it does
Finds `unwrap`, `expect`, `panic!`, assertions and indexing in `extern "C"` functions that do not
catch panics.

## Why is this bad?
A panic cannot unwind through C frames: since Rust 1.81 the process aborts, before it was
undefined behaviour. An attacker who triggers the panic crashes the host program.

## Example
```rust
#[no_mangle]
pub extern "C" fn count(text: *const c_char) -> u32 { parse(text).unwrap() }
```

Use instead:
```rust
#[no_mangle]
pub extern "C" fn count(text: *const c_char) -> u32 {
    std::panic::catch_unwind(|| parse(text).unwrap_or(0)).unwrap_or(0)
}
```

## References
- CWE-248: Uncaught Exception
- The Rustonomicon: FFI and unwinding
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import in_test, modifiers
from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.rust.guards import is_tested
from jarvis_ls.jsec.local.rust.panics import PANIC_MACROS
from jarvis_ls.jsec.local.rust.shapes import is_exported, macro_name
from jarvis_ls.jsec.local.rust.values import words_in

_CATCHES = frozenset(
    {
        "catch_unwind",
        "abort_on_panic",
        "catch_panic",
        "panic_wrapper",
        "wrap",
        "ffi_wrap",
        "catch",
        "ffi_guard",
    }
)


@rule(
    query=functions(containing=("extern",)),
    category="error_handling",
    cwe=(248,),
    confidence=0.55,
    suggestion="Wrap the body in 'std::panic::catch_unwind' and return an error code, or "
    "avoid the panic.",
)
def panic_across_ffi(function: Function) -> Iterator[Report]:
    if not is_exported(function) or function.body is None or in_test(function.node):
        return
    if "unwind" in modifiers(function.node):
        return
    if any(call.name in _CATCHES for call in function.calls):
        return
    if any(macro_name(node) in _CATCHES for node in function.nodes("macro")):
        return
    place = _first_panic(function)
    if place is not None:
        node, what, confidence = place
        yield Report(
            node,
            "'{what}' may panic in '{function}', which is called from C.",
            confidence=confidence,
            pattern=what,
            function=function.name,
            what=what,
        )


def _first_panic(function: Function) -> tuple[Node, str, float] | None:
    for call in function.calls:
        if call.is_method and call.name in ("unwrap", "expect"):
            return call.node, call.name, 0.55 if call.name == "unwrap" else 0.5
    for node in function.nodes("macro"):
        name = macro_name(node)
        if name in PANIC_MACROS:
            return node, f"{name}!", 0.5 if name.startswith("assert") else 0.65
    for node in function.nodes("index"):
        index = node.named_children[-1]
        if index.type == "integer_literal" or text(index) == "..":
            continue
        if words_in(index) and not is_tested(function, index, node.start_byte):
            return node, f"[{text(index)[:40]}]", 0.5
    return None
