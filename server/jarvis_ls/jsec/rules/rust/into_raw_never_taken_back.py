"""into_raw() without a matching from_raw().

## What it does
Finds `Box::into_raw`, `CString::into_raw`, `Arc::into_raw` and `Rc::into_raw` in files without
the matching `from_raw`.

## Why is this bad?
The memory leaks. C code cannot free it either, because it uses another allocator.

## Example
```rust
pub extern "C" fn version() -> *mut c_char {
    CString::new(VERSION).unwrap_or_default().into_raw()
}
```

Use instead:
```rust
pub extern "C" fn version() -> *mut c_char {
    CString::new(VERSION).unwrap_or_default().into_raw()
}
pub unsafe extern "C" fn version_free(p: *mut c_char) {
    if !p.is_null() { drop(CString::from_raw(p)); }
}
```

## References
- CWE-401: Missing Release of Memory after Effective Lifetime
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.match_site import WholeUnit
from jarvis_ls.jsec.base.rule import Report, rule, whole_file


@rule(
    query=whole_file("into_raw("),
    category="resource_leak",
    cwe=(401,),
    confidence=0.5,
    suggestion="Provide a function that reclaims the pointer with 'from_raw'.",
    severity="medium",
)
def into_raw_never_taken_back(whole: WholeUnit) -> Iterator[Report]:
    data = whole.unit.source.data
    if b"from_raw" in data or b"strong_count" in data or b"drop_in_place" in data:
        return
    for function in whole.functions:
        if function.item.in_test:
            continue
        for call in function.calls:
            if call.name == "into_raw" and (not call.is_method or not call.arguments):
                owner = call.written.rpartition("::")[0].rpartition("::")[2] or "the owner"
                if owner == "the owner" and not _is_owner(call):
                    continue
                if owner not in ("Box", "CString", "Arc", "Rc", "the owner"):
                    continue
                yield Report(
                    call.node,
                    "Memory from '{owner}' leaks: 'into_raw' has no matching 'from_raw' in this "
                    "file.",
                    pattern="into_raw",
                    owner=owner,
                )


def _is_owner(call: Call) -> bool:
    """Return whether a method is called on what the standard library gives away as a pointer, as
    far as the function says, and not on a type of the program."""
    name = text(call.receiver)
    variable = call.function.variable(name, call.node.start_byte) if call.function else None
    said = name if variable is None else f"{variable.type} {text(variable.initial)[:200]}"
    return any(word in said for word in ("CString", "CStr", "Box", "Arc", "Rc"))
