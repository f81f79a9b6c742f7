"""A vector is lengthened over memory that was never written.

## What it does
Finds `set_len` right after `Vec::with_capacity`, `Vec::new` or `reserve`, with nothing written
in between.

## Why is this bad?
The new elements are whatever lay in memory: reading them leaks secrets, and for types with a
destructor the program frees garbage. A reader that gets the vector as its buffer sees them.

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

from jarvis_ls.codeintel.code import Call, Function, Variable, called_name, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, methods, rule
from jarvis_ls.jsec.rust.values import integer

_HARMLESS = frozenset({"reserve", "reserve_exact", "capacity", "len", "is_empty", "try_reserve",
                       "clear", "set_len"})  # fmt: skip


@rule(
    query=flow("length-unwritten", "length-beyond", guess=methods("set_len")),
    category="memory_mgmt",
    cwe=(908, 457),
    confidence=0.85,
    suggestion="Use 'vec![0; n]', 'resize' or 'spare_capacity_mut', and set the length after "
    "writing.",
    cleared="length",
)
def set_len_of_unwritten_vec(call: Call | Fault) -> Iterator[Report]:
    if isinstance(call, Fault):
        yield Report(call, "The new length takes in memory that was never written.")
        return
    function, receiver = call.function, call.receiver
    if function is None or receiver is None or receiver.type != "identifier":
        return
    if integer(call.arg(0), function, call.unit) == 0:
        return
    variable = function.variable(text(receiver), receiver.start_byte)
    if variable is None:
        return
    made = _made_without_elements(variable)
    reserved = _reserved(function, variable, call)
    start = made or reserved
    if start is None or _written(function, variable, start, call.node):
        return
    yield Report(
        call.node,
        "'{vector}' is lengthened over memory that was never written.",
        confidence=0.85 if made else 0.7,
        pattern="set_len",
        causes=[(start, "Memory is reserved here.")],
        vector=variable.name,
    )


def _made_without_elements(variable: Variable) -> Node | None:
    initial = variable.initial
    if initial is None or initial.type != "call_expression":
        return None
    made = text(field(initial, "function"))
    if called_name(initial) in ("with_capacity", "new") and ("Vec" in made or "String" in made):
        return initial
    return None


def _reserved(function: Function, variable: Variable, call: Call) -> Node | None:
    """The last `reserve` of the vector before `set_len`."""
    found = None
    for use in function.uses(variable.name, variable.scope[0], call.node.start_byte)[-64:]:
        member = use.parent
        if member is not None and text(field(member, "field")).startswith("reserve"):
            found = member.parent
    return found


def _written(function: Function, variable: Variable, start: Node, end: Node) -> bool:
    for use in function.uses(variable.name, start.end_byte, end.start_byte)[:64]:
        parent = use.parent
        if parent is None or use == variable.node:
            continue
        if parent.type != "field_expression" or text(field(parent, "field")) not in _HARMLESS:
            return True
    return False
