"""A destructor may panic.

## What it does
Finds `unwrap`, `expect`, `panic!` and assertions in `Drop::drop`.

## Why is this bad?
Destructors run while a panic unwinds. A second panic there aborts the whole process, and the
remaining fields and guards are not released.

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

from jarvis_ls.codeintel.code import Function, field, text
from jarvis_ls.jsec.rule import Report, functions, rule
from jarvis_ls.jsec.rust.panics import PANIC_MACROS, unwrap_at
from jarvis_ls.jsec.rust.shapes import impl_of, macro_name


@rule(
    query=functions(),
    category="error_handling",
    cwe=(248, 755),
    confidence=0.55,
    suggestion="Handle the error without panicking; offer a 'close' method for those who must "
    "know.",
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
            found = unwrap_at(name, function, function.unit) if name is not None else None
            if found is not None and found.kind != "lock":
                yield Report(call.node, _MESSAGE, confidence=_rate(found.kind), pattern=call.name,
                             what=call.name)  # fmt: skip
    for node in function.nodes("macro"):
        name_ = macro_name(node)
        if name_ in PANIC_MACROS:
            confidence = 0.55 if name_ in ("panic", "todo", "unimplemented") else 0.4
            yield Report(node, _MESSAGE, confidence=confidence, pattern=f"{name_}!",
                         what=f"{name_}!")  # fmt: skip


_MESSAGE = "'{what}' in a destructor aborts the process when it runs during a panic."


def _rate(kind: str) -> float:
    return 0.7 if kind == "external" else 0.55
