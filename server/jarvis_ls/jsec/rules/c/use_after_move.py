"""Use after move.

## What it does
Examines the statements that always follow `std::move` of a local variable, and reports a use
before it is assigned again (`=`, `clear`, `reset`, `assign`, …). A move in a loop without a new
value uses the moved-from object in the second iteration.

## Why is this bad?
A moved-from object is valid but unspecified: a string may be empty or not, and a `unique_ptr` is
null, so that dereferencing it crashes.

## Example
```cpp
queue.push_back(std::move(request));
log(request.path);
```

Use instead:
```cpp
log(request.path);
queue.push_back(std::move(request));
```

## References
- CWE-476: NULL Pointer Dereference
- CWE-672: Operation on a Resource after Expiration or Release
- CWE-825: Expired Pointer Dereference
- SEI CERT C++ EXP63-CPP: Do not rely on the value of a moved-from object
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.c.next_use import declared_at, next_mention
from jarvis_ls.jsec.local.c.statement_effects import USING, Mention
from jarvis_ls.jsec.local.guards import enclosing_loop, written_between

_REFILLING = frozenset(
    {"clear", "reset", "assign", "swap", "emplace", "resize", "str", "open", "use_count", "valid"}
)
_ASKING = frozenset({"empty", "size", "length"})
"""Queries valid on a moved-from object, although the result is unspecified."""


@rule(
    query=calls("move"),
    category="memory_mgmt",
    cwe=(672, 825, 476),
    confidence=0.75,
    only="cpp",
    suggestion="Use '{variable}' before the move, or assign it a new value first.",
)
def use_after_move(call: Call) -> Iterator[Report]:
    moved = call.arg(0)
    if call.written not in ("std::move", "move") or moved is None or call.function is None:
        return
    name = text(moved)
    declared = declared_at(call.function, name) if moved.type == "identifier" else None
    if declared is None or len(call.arguments) != 1:
        return
    variable = call.function.variable(name, moved.start_byte)
    smart = variable is not None and "_ptr" in variable.type
    cwe = (476, 672, 825) if smart else (672, 825)
    use = next_mention(call.unit, call.item, call.node, name)
    if use is not None and _member(use) and _moves_base_only(call.node):
        return
    if use is not None and use.does in USING and _member(use) not in _REFILLING:
        yield Report(
            use.node,
            "'{variable}' is used after it was moved.",
            confidence=0.5 if _member(use) in _ASKING else 0.75 if use.certain else 0.5,
            variable=name,
            cwe=cwe,
            causes=[(call.node, "Moved here.")],
        )
    elif use is None and _moves_each_iteration(call.function, call.node, declared, name):
        yield Report(
            moved,
            "'{variable}' is used after it was moved.",
            confidence=0.5,
            variable=name,
            cwe=cwe,
        )


def _moves_base_only(move: Node) -> bool:
    """Return whether what is moved is given to the assignment of a base class, which leaves the
    members of the derived class as they are."""
    outer = move.parent.parent if move.parent is not None else None
    called = field(outer, "function") if outer is not None else None
    return called is not None and text(called).replace(" ", "").endswith("::operator=")


def _member(use: Mention) -> str:
    parent = use.node.parent
    return text(field(parent, "field")) if parent is not None else ""


def _moves_each_iteration(function: Function, move: Node, declared: Node, name: str) -> bool:
    """Return whether a loop moves a variable declared before it and never assigns it."""
    loop = enclosing_loop(move, function)
    if loop is None or declared.start_byte >= loop.start_byte:
        return False
    return not written_between(function, name, loop.start_byte, loop.end_byte)
