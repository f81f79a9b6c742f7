"""set_len() over uninitialised memory.

## What it does
Finds `set_len` right after `Vec::with_capacity`, `Vec::new` or `reserve`, without writes in
between.

## Why is this bad?
The new elements are uninitialised: reading them leaks old data, and dropping a type with a
destructor frees garbage. This includes a reader that receives the vector as its buffer.

## Example
```rust
let mut buffer = Vec::with_capacity(n);
unsafe { buffer.set_len(n) };
file.read(&mut buffer)?;
```

Use instead:
```rust
let mut buffer = vec![0; n];
file.read(&mut buffer)?;
```

## References
- CWE-908: Use of Uninitialized Resource
- CWE-457: Use of Uninitialized Variable
- Clippy: uninit_vec
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.rule import Report, flow, flow_verdicts, methods, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.rust.values import integer

_HARMLESS = frozenset(
    {"reserve", "reserve_exact", "capacity", "len", "is_empty", "try_reserve", "clear", "set_len"}
)


@rule(
    query=flow("length-unwritten", "length-beyond", guess=methods("set_len")),
    category="memory_mgmt",
    cwe=(908, 457),
    confidence=0.85,
    suggestion="Use 'vec![0; n]' or 'resize', or write through 'spare_capacity_mut' before "
    "'set_len'.",
)
@flow_verdicts(sound="length")
def set_len_of_unwritten_vec(call: Call) -> Iterator[Report]:
    function, receiver = call.function, call.receiver
    if function is None or receiver is None or receiver.type != "identifier":
        return
    if integer(call.arg(0), function, call.unit) == 0:
        return
    variable = function.variable(text(receiver), receiver.start_byte)
    if variable is None:
        return
    constructor = _empty_constructor(variable)
    reserve = _reserving_call(function, variable, call)
    start = constructor or reserve
    if start is None or _is_written(function, variable, start, call.node):
        return
    yield Report(
        call.node,
        "'set_len' exposes uninitialised elements of '{vector}'.",
        confidence=0.85 if constructor else 0.7,
        pattern="set_len",
        causes=[(start, "Allocated without initialisation here.")],
        vector=variable.name,
    )


@on_fault(set_len_of_unwritten_vec)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(fault, "'set_len' exposes uninitialised elements.")


def _empty_constructor(variable: Variable) -> Node | None:
    initial = variable.initial
    if initial is None or initial.type != "call_expression":
        return None
    constructor = text(field(initial, "function"))
    if called_name(initial) in ("with_capacity", "new") and (
        "Vec" in constructor or "String" in constructor
    ):
        return initial
    return None


def _reserving_call(function: Function, variable: Variable, call: Call) -> Node | None:
    """Return the last `reserve` of the vector before `set_len`."""
    reserve = None
    for use in function.uses(variable.name, variable.scope[0], call.node.start_byte)[-64:]:
        member = use.parent
        if member is not None and text(field(member, "field")).startswith("reserve"):
            reserve = member.parent
    return reserve


def _is_written(function: Function, variable: Variable, start: Node, end: Node) -> bool:
    for use in function.uses(variable.name, start.end_byte, end.start_byte)[:64]:
        parent = use.parent
        if parent is None or use == variable.node:
            continue
        if parent.type != "field_expression" or text(field(parent, "field")) not in _HARMLESS:
            return True
    return False
