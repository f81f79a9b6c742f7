"""Memory is declared initialised although nothing was written to it.

## What it does
Finds `MaybeUninit::uninit().assume_init()`, and `assume_init` on a local that was neither
written nor lent out since `uninit()`.

## Why is this bad?
The value is whatever lay in memory before: secrets of others, dangling pointers. Reading it is
undefined behaviour even for integers.

## Example
```rust
let header: Header = unsafe { MaybeUninit::uninit().assume_init() };
```

Use instead:
```rust
let mut header = MaybeUninit::<Header>::uninit();
header.write(Header::default());
// SAFETY: written above.
let header = unsafe { header.assume_init() };
```

## References
- CWE-457: Use of Uninitialized Variable
- CWE-908: Use of Uninitialized Resource
- Clippy: uninit_assumed_init
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, Variable, called_name, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, methods, rule
from jarvis_ls.jsec.rust.shapes import return_type
from jarvis_ls.jsec.rust.transmute import expected_type

_ASSUMES = ("assume_init", "assume_init_ref", "assume_init_mut", "assume_init_read")
_WRITES = frozenset({"write", "as_mut_ptr", "as_bytes_mut", "write_slice", "fill", "as_mut",
                     "iter_mut", "assume_init_mut", "as_uninit_mut"})  # fmt: skip


@rule(
    query=flow("uninitialized-assumed", guess=methods(*_ASSUMES)),
    category="memory_mgmt",
    cwe=(457, 908),
    confidence=0.9,
    suggestion="Write the value first ('write', 'ptr::write'), or start from a zeroed or default "
    "value.",
    cleared="init",
)
def assume_init_without_write(call: Call | Fault) -> Iterator[Report]:
    if isinstance(call, Fault):
        yield Report(call, "Memory that was never written is declared initialised.")
        return
    receiver = call.receiver
    if receiver is None:
        return
    if receiver.type == "call_expression":
        if _is_uninit(receiver) and not _holds_maybe_uninit(call, receiver):
            yield Report(
                call.node,
                "Memory that was never written is declared initialised.",
                confidence=0.95,
                pattern=call.name,
            )
        return
    function = call.function
    if function is None or receiver.type != "identifier":
        return
    variable = function.variable(text(receiver), receiver.start_byte)
    if variable is None or variable.initial is None or not _is_uninit(variable.initial):
        return
    if "MaybeUninit" in variable.type.removeprefix("MaybeUninit"):
        return
    uses = function.uses(variable.name, variable.scope[0], call.node.start_byte)[:64]
    if not any(_may_write(use, variable) for use in uses):
        yield Report(
            call.node,
            "'{value}' is declared initialised but nothing was written to it.",
            pattern=call.name,
            causes=[(variable.initial, "Left uninitialised here.")],
            value=variable.name,
        )


def _is_uninit(node: Node) -> bool:
    return (
        node.type == "call_expression"
        and called_name(node) == "uninit"
        and "MaybeUninit" in text(field(node, "function"))
    )


def _holds_maybe_uninit(call: Call, receiver: Node) -> bool:
    """An array of `MaybeUninit` needs no initial value."""
    written = text(field(receiver, "function"))
    if written.count("MaybeUninit") > 1:
        return True
    expected = expected_type(call.node, call.function) or return_type(call.function)
    return "MaybeUninit" in expected


def _may_write(use: Node, variable: Variable) -> bool:
    parent = use.parent
    if parent is None or use == variable.node:
        return False
    if parent.type == "field_expression":
        return text(field(parent, "field")) in _WRITES or text(field(parent, "field")).isdigit()
    if parent.type == "reference_expression":
        return any(c.type == "mutable_specifier" for c in parent.children)
    return parent.type in (
        "assignment_expression", "arguments", "token_tree", "index_expression", "let_declaration",
        "for_expression", "unary_expression",
    )  # fmt: skip
