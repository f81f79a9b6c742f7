"""A pointer outlives the temporary value it points into.

## What it does
Finds `CString::new(…).unwrap().as_ptr()` and `as_ptr()` of other values made in the same
expression, when the pointer is stored or returned. Passing it on within one call is fine.

## Why is this bad?
The temporary is freed at the end of the statement. The pointer is used afterwards: use after
free in code that reads as if all were well.

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

from jarvis_ls.codeintel.code import Call, ancestors, called_name, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.rule import Report, Rewrite, methods, rule
from jarvis_ls.jsec.rust.shapes import arguments, chain, is_last, macro_name, path_of

_OWNERS = frozenset({"CString", "String", "Vec", "Box", "OsString", "Arc", "Rc", "Cell", "RefCell",
                     "VecDeque", "BString", "Bytes", "BytesMut"})  # fmt: skip
_OWNING = frozenset({"to_string", "to_owned", "to_vec", "into_bytes", "into_boxed_slice", "clone",
                     "to_lowercase", "to_uppercase", "into_boxed_str", "collect"})  # fmt: skip
_PASSING = frozenset({"unwrap", "expect", "unwrap_or_default", "as_c_str", "as_bytes", "as_str",
                      "as_ref", "as_bytes_with_nul", "as_slice", "as_mut_slice", "cast", "as_mut",
                      "unwrap_unchecked", "into_bytes_with_nul"})  # fmt: skip


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
    kept = _kept_in(call.node)
    if kept is None:
        return
    yield Report(
        call.node,
        "'{pointer}' points into a temporary value that is freed at the end of the statement.",
        confidence=0.95 if kept.type == "let_declaration" else 0.85,
        pattern=call.name,
        causes=[(owner, "The temporary value is made here.")],
        fix=_bound(call, kept),
        pointer=text(call.node)[:60],
    )


def _temporary(call: Call) -> Node | None:
    """The expression that makes an owned value which nothing keeps; None when there is none."""
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


def _kept_in(node: Node) -> Node | None:
    """What keeps the pointer beyond its statement: a `let`, an assignment, a field, a return."""
    below = node
    for outer in ancestors(node):
        kind = outer.type
        if kind == "let_declaration":
            return outer
        if kind in ("assignment_expression", "field_initializer", "return_expression"):
            if kind == "field_initializer" and _is_argument(outer):
                return None
            return outer
        if kind == "block":
            holder = outer.parent
            tail = is_last(below) and holder is not None and holder.type == "function_item"
            return outer if tail else None
        if kind not in ("type_cast_expression", "parenthesized_expression", "call_expression",
                        "field_expression", "unsafe_block", "reference_expression"):  # fmt: skip
            return None
        if kind == "call_expression" and called_name(outer) not in ("cast", "cast_mut", "add"):
            return None
        below = outer
    return None


def _is_argument(initializer: Node) -> bool:
    """Whether the struct that gets the pointer is itself only an argument of a call."""
    for outer in ancestors(initializer):
        if outer.type in ("arguments", "reference_expression"):
            return True
        if outer.type not in ("field_initializer_list", "struct_expression"):
            return False
    return False


def _bound(call: Call, kept: Node) -> Rewrite | None:
    """Bind the owner first, with a name made from the pointer's."""
    pattern = kept.child_by_field_name("pattern")
    value = kept.child_by_field_name("value")
    if kept.type != "let_declaration" or pattern is None or call.receiver is None:
        return None
    name = text(pattern)
    if not name.isidentifier() or value != call.node:
        return None
    mutable = "mut " if call.name == "as_mut_ptr" else ""
    return Rewrite(
        "Keep the owner in '{owner}'",
        [
            ((kept.start_byte, kept.start_byte), f"let {mutable}{name}_owner = "
             f"{text(call.receiver)};\n"),
            (call.receiver, f"{name}_owner"),
        ],
        owner=f"{name}_owner",
    )  # fmt: skip
