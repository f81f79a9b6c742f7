"""Null pointer dereference through a raw pointer.

## What it does
Finds `*p` without a null check where `p` is a raw pointer parameter of a function called from C,
or of an `unsafe fn` without documented requirements; and `*p` of a pointer that was just set to
null.

## Why is this bad?
C code often passes null. Dereferencing it is undefined behaviour in Rust, not only a crash: the
compiler may assume that it does not happen.

## Example
```rust
pub unsafe extern "C" fn length(list: *const List) -> usize {
    (*list).len
}
```

Use instead:
```rust
pub unsafe extern "C" fn length(list: *const List) -> usize {
    match list.as_ref() { Some(list) => list.len, None => 0 }
}
```

## References
- CWE-476: NULL Pointer Dereference
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import SAFETY, documentation, modifiers
from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.rule import Report, flow, flow_verdicts, functions, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.rust.guards import is_changed_between, is_null_tested
from jarvis_ls.jsec.local.rust.shapes import is_dereferenced, is_entry, is_exported, peel

_NULLS = ("null()", "null_mut()", "0 as *", "0usize as *", "null::<", "null_mut::<")


@rule(
    query=flow("null-dereference", guess=functions(containing=("*const", "*mut", "null"))),
    category="memory_mgmt",
    cwe=(476,),
    confidence=0.7,
    suggestion="Check the pointer with 'is_null()', or use 'as_ref()' and handle None.",
)
@flow_verdicts(sound="null")
def raw_pointer_deref_without_null_check(function: Function) -> Iterator[Report]:
    seen: set[int] = set()
    for node in [*function.nodes("unary"), *_among_tokens(function)]:
        variable = _pointer_variable(function, node)
        if variable is None or id(variable) in seen:
            continue
        seen.add(id(variable))
        if is_null_tested(function, variable.name, node.start_byte):
            continue
        confidence = _confidence(function, variable, node)
        if confidence:
            yield Report(
                node,
                "'{pointer}' is dereferenced without a null check.",
                confidence=confidence,
                pattern="*" + variable.name,
                pointer=variable.name,
            )


@on_fault(raw_pointer_deref_without_null_check)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(fault, "Dereference of a possibly null pointer.", cwe=(476,))


def _pointer_variable(function: Function, node: Node) -> Variable | None:
    if node.type == "identifier":
        return function.variable(text(node), node.start_byte)
    if node.children[0].type != "*":
        return None
    operand = peel(node.named_children[0]) if node.named_child_count else None
    if operand is None or operand.type != "identifier":
        return None
    return function.variable(text(operand), node.start_byte)


def _among_tokens(function: Function) -> Iterator[Node]:
    """Yield the names of pointers that are dereferenced inside macros."""
    for name, variables in function.variables.items():
        if any(v.type.startswith("*") or "null" in text(v.initial)[:80] for v in variables[:8]):
            for use in function.uses(name)[:64]:
                if (
                    is_dereferenced(use)
                    and use.parent is not None
                    and use.parent.type == "token_tree"
                ):
                    yield use


def _confidence(function: Function, variable: Variable, node: Node) -> float:
    if variable.is_parameter:
        if not variable.type.startswith("*"):
            return 0.0
        if is_exported(function):
            if SAFETY.search(documentation(function.node)) or not is_entry(function):
                return 0.35  # a callback gets back the pointer that was registered with it
            return 0.6
        if "unsafe" not in modifiers(function.node):
            return 0.0  # raw-pointer-deref-in-safe-fn
        return 0.0 if "afety" in documentation(function.node) else 0.4
    written = text(variable.initial)
    if not written.endswith(_NULLS[:2]) and not any(word in written for word in _NULLS[2:]):
        return 0.0
    if len(written) > 80 or is_changed_between(
        function, variable.name, variable.node.end_byte, node.start_byte
    ):
        return 0.0
    is_borrowed = any(
        use.parent is not None and use.parent.type == "reference_expression"
        for use in function.uses(variable.name, variable.node.end_byte, node.start_byte)
    )
    return 0.0 if is_borrowed else 0.65 if _is_plain(function, variable, node) else 0.5


def _is_plain(function: Function, variable: Variable, node: Node) -> bool:
    """Return whether no later assignment may reach the place through a loop."""
    return all(
        not (
            use.parent is not None
            and use.parent.type == "assignment_expression"
            and use.parent.child_by_field_name("left") == use
        )
        for use in function.uses(variable.name, node.end_byte)
    )
