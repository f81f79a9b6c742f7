"""Ownership is given to a raw pointer that nothing in the file takes back.

## What it does
Finds `Box::into_raw`, `CString::into_raw`, `Arc::into_raw` and `Rc::into_raw` in files without the
matching `from_raw`.

## Why is this bad?
Nobody frees the memory. C code cannot: it has another allocator.

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

from jarvis_ls.jsec.rule import Report, rule, whole_file
from jarvis_ls.jsec.site import WholeUnit


@rule(
    query=whole_file("into_raw("),
    category="resource_leak",
    cwe=(401,),
    confidence=0.5,
    suggestion="Offer a function that gives the pointer back with 'from_raw'.",
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
                if owner not in ("Box", "CString", "Arc", "Rc", "the owner"):
                    continue
                yield Report(
                    call.node,
                    "'{owner}' gives its memory to a raw pointer, and nothing in this file takes "
                    "it back.",
                    pattern="into_raw",
                    owner=owner,
                )
