"""Dangling pointer to a dropped temporary.

## What it does
Finds `CString::new(…).unwrap().as_ptr()` and `as_ptr()` of other temporaries when the pointer is
stored or returned. Passing it on within one call is fine.

## Why is this bad?
The temporary is dropped at the end of the statement, so the pointer dangles and every later use
is a use after free.

## Example
```rust
let name = CString::new("eth0").unwrap().as_ptr();
unsafe { if_nametoindex(name) };
```

Use instead:
```rust
let name = CString::new("eth0").unwrap();
unsafe { if_nametoindex(name.as_ptr()) };
```

## References
- CWE-416: Use After Free
- CWE-825: Expired Pointer Dereference
- rustc: dangling_pointers_from_temporaries
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, Rewrite, methods, rule
from jarvis_ls.jsec.local.rust.shapes import arguments, chain, macro_name, path_of
from jarvis_ls.jsec.local.rust.temporaries import storage_of

_OWNERS = frozenset(
    "CString String Vec Box OsString Arc Rc Cell RefCell VecDeque BString Bytes BytesMut".split()
)
_OWNING = frozenset(
    "to_string to_owned to_vec into_bytes into_boxed_slice clone to_lowercase "
    "to_uppercase into_boxed_str collect".split()
)
_PASSING = frozenset(
    "unwrap expect unwrap_or_default as_c_str as_bytes as_str as_ref as_bytes_with_nul "
    "as_slice as_mut_slice cast as_mut unwrap_unchecked into_bytes_with_nul".split()
)


@rule(
    query=methods("as_ptr", "as_mut_ptr"),
    category="memory_mgmt",
    cwe=(416, 825),
    confidence=0.9,
    suggestion="Bind the owner to a variable that lives as long as the pointer.",
    fixable=True,
)
def pointer_to_dropped_temporary(call: Call) -> Iterator[Report]:
    owner = _temporary(call)
    if owner is None:
        return
    storage = storage_of(call.node)
    if storage is None:
        return
    yield Report(
        call.node,
        "'{pointer}' dangles: its temporary is dropped at the end of the statement.",
        confidence=0.95 if storage.type == "let_declaration" else 0.85,
        pattern=call.name,
        causes=[(owner, "The temporary is created here.")],
        fix=_binding_fix(call, storage),
        pointer=text(call.node)[:60],
    )


def _temporary(call: Call) -> Node | None:
    """Return the expression that creates the owned temporary; None when there is none."""
    for node in chain(call.receiver):
        if node.type == "macro_invocation":
            return node if macro_name(node) in ("format", "vec") else None
        if node.type != "call_expression":
            return None
        name = called_name(node)
        if name in _OWNING and name != "clone":
            return node
        if name in _PASSING:
            continue
        function = node.child_by_field_name("function")
        if function is None or function.type not in ("scoped_identifier", "generic_function"):
            return None
        owner = path_of(text(function), call.unit).rpartition("::")[0].rpartition("::")[2]
        if owner not in _OWNERS or name.startswith(("from_raw", "leak", "into_raw")):
            return None
        made_of = arguments(node)
        return node if made_of or owner in ("Vec", "String", "CString") else None
    return None


def _binding_fix(call: Call, storage: Node) -> Rewrite | None:
    """Return the rewrite that binds the owner first, named after the pointer."""
    pattern = storage.child_by_field_name("pattern")
    value = storage.child_by_field_name("value")
    if storage.type != "let_declaration" or pattern is None or call.receiver is None:
        return None
    name = text(pattern)
    if not name.isidentifier() or value != call.node:
        return None
    mutable = "mut " if call.name == "as_mut_ptr" else ""
    return Rewrite(
        "Keep the owner in '{owner}'",
        [
            (
                (storage.start_byte, storage.start_byte),
                f"let {mutable}{name}_owner = {text(call.receiver)};\n",
            ),
            (call.receiver, f"{name}_owner"),
        ],
        owner=f"{name}_owner",
    )
