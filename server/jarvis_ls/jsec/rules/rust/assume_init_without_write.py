"""assume_init() on uninitialised memory.

## What it does
Finds `MaybeUninit::uninit().assume_init()`, and `assume_init` on a local that was neither written
nor mutably borrowed since `uninit()`.

## Why is this bad?
The value is what the memory held before: secrets, dangling pointers. Reading it is undefined
behaviour, even for integers.

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

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.rule import Report, flow, flow_verdicts, methods, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.rust.shapes import return_type
from jarvis_ls.jsec.local.rust.transmute import expected_type

_ASSUMES = ("assume_init", "assume_init_ref", "assume_init_mut", "assume_init_read")
_WRITES = frozenset(
    {
        "write",
        "as_mut_ptr",
        "as_bytes_mut",
        "write_slice",
        "fill",
        "as_mut",
        "iter_mut",
        "assume_init_mut",
        "as_uninit_mut",
    }
)


@rule(
    query=flow("uninitialized-assumed", guess=methods(*_ASSUMES)),
    category="memory_mgmt",
    cwe=(457, 908),
    confidence=0.9,
    suggestion=(
        "Initialise the value first ('write', 'ptr::write'), or start from a zeroed "
        "or default value."
    ),
)
@flow_verdicts(sound="init")
def assume_init_without_write(call: Call) -> Iterator[Report]:
    receiver = call.receiver
    if receiver is None:
        return
    if receiver.type == "call_expression":
        if _is_uninit(receiver) and not _holds_maybe_uninit(call, receiver):
            yield Report(
                call.node,
                "'assume_init' on uninitialised memory.",
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
            "'assume_init' on '{value}', which is uninitialised.",
            pattern=call.name,
            causes=[(variable.initial, "Declared without initialisation here.")],
            value=variable.name,
        )


@on_fault(assume_init_without_write)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(fault, confidence=0.55, message="'assume_init' on uninitialised memory.")


def _is_uninit(node: Node) -> bool:
    return (
        node.type == "call_expression"
        and called_name(node) == "uninit"
        and "MaybeUninit" in text(field(node, "function"))
    )


def _holds_maybe_uninit(call: Call, receiver: Node) -> bool:
    """Return whether the value is an array of `MaybeUninit`, which needs no initial value."""
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
        "assignment_expression",
        "arguments",
        "token_tree",
        "index_expression",
        "let_declaration",
        "for_expression",
        "unary_expression",
    )
