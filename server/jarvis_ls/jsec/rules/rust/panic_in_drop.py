"""Panic in a Drop implementation.

## What it does
Finds `unwrap`, `expect`, `panic!` and assertions in `Drop::drop`.

## Why is this bad?
Destructors also run while a panic unwinds. A second panic then aborts the process, and the
remaining fields and guards are not dropped.

## Example
```rust
impl Drop for Log {
    fn drop(&mut self) { self.file.flush().unwrap(); }
}
```

Use instead:
```rust
impl Drop for Log {
    fn drop(&mut self) {
        if let Err(error) = self.file.flush() { eprintln!("log not written: {error}"); }
    }
}
```

## References
- CWE-248: Uncaught Exception
- CWE-755: Improper Handling of Exceptional Conditions
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.rust.panics import PANIC_MACROS, unwrap_at
from jarvis_ls.jsec.local.rust.shapes import impl_of, macro_name


@rule(
    query=functions(containing=("Drop",)),
    category="error_handling",
    cwe=(248, 755),
    confidence=0.55,
    suggestion="Handle the error without a panic, and provide a 'close' method that returns it.",
    severity="medium",
)
def panic_in_drop(function: Function) -> Iterator[Report]:
    if function.name != "drop" or function.item.in_test:
        return
    around = impl_of(function.node)
    if around is None or text(field(around, "trait")).rpartition("::")[2] != "Drop":
        return
    if any(call.name == "panicking" for call in function.calls):
        return
    for call in function.calls:
        if call.is_method and call.name in ("unwrap", "expect"):
            name = field(field(call.node, "function"), "field")
            if name is None:
                continue
            unwrap = unwrap_at(name, function, function.unit, "external", "plain")
            if unwrap is not None:
                yield Report(
                    call.node,
                    _MESSAGE,
                    confidence=_rate(unwrap.kind),
                    pattern=call.name,
                    what=call.name,
                )
    for node in function.nodes("macro"):
        name_ = macro_name(node)
        if name_ in PANIC_MACROS:
            confidence = 0.5 if name_ in ("panic", "todo", "unimplemented") else 0.35
            yield Report(
                node, _MESSAGE, confidence=confidence, pattern=f"{name_}!", what=f"{name_}!"
            )


_MESSAGE = "'{what}' in 'drop' may panic, which aborts the process during unwinding."


def _rate(kind: str) -> float:
    return 0.55 if kind == "external" else 0.4
