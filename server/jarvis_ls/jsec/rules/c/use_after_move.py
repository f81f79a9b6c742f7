"""An object is used after it was moved away.

## What it does
Follows each local that is given to `std::move` through its function and reports a later use that
can be reached before the variable gets a new value (`=`, `clear`, `reset`, `assign`, …). A move
in a loop is a use of its own result in the second round.

## Why is this bad?
What is left in a moved-from object is not specified: strings may be empty or not, a
`unique_ptr` is null and dereferencing it crashes.

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
- CWE-672: Operation on a Resource after Expiration or Release
- CWE-825: Expired Pointer Dereference
- SEI CERT C++ EXP63-CPP: Do not rely on the value of a moved-from object
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Function, Variable, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.control import control_of
from jarvis_ls.jsec.c.happenings import happenings
from jarvis_ls.jsec.c.lifecycle import Scopes
from jarvis_ls.jsec.c.paths import Event, Exhausted, Walker
from jarvis_ls.jsec.rule import Report, functions, rule

_FULL, _MOVED = 1, 2
_REFILLING = frozenset({"clear", "reset", "assign", "swap", "emplace", "resize", "str", "open",
                        "use_count", "valid", "empty", "size"})  # fmt: skip
_USES = frozenset({"read", "dereference", "member", "handed", "pass", "alias"})


@rule(
    query=functions(calling=("move",)),
    category="memory_mgmt",
    cwe=(672, 825),
    confidence=0.82,
    only="cpp",
    suggestion="Use '{variable}' before it is moved, or give it a new value first.",
)
def use_after_move(function: Function) -> Iterator[Report]:
    moved: dict[str, Variable] = {}
    for call in function.calls:
        argument = call.arg(0)
        if call.name != "move" or call.written not in ("std::move", "move") or argument is None:
            continue
        variable = function.variable(text(argument), argument.start_byte)
        if variable is not None and len(call.arguments) == 1 and len(moved) < 32:
            moved[text(argument)] = variable
    root = control_of(function) if moved else None
    if root is None:
        return
    scopes = Scopes(root)
    for variable in moved.values():
        walk = _Move(variable, _events(function, variable), scopes.size)
        block = None if variable.is_parameter else scopes.of(variable)
        if block is not None:
            block.prepare()
        region = block.regions[0] if block is not None and block.kind == "block" else root
        yield from walk.found(region)


def _events(function: Function, variable: Variable) -> list[Event]:
    """Its events, with `std::move(x)` told apart from other uses."""
    told: list[Event] = []
    for event in happenings(function, variable):
        if event.kind in ("read", "handed", "pass") and event.extra == "move":
            if event.kind != "pass":
                told.append(Event(event.at, event.order, "moves", event.node))
        else:
            told.append(event)
    return told


class _Move(Walker):
    """Follows one variable; `_MOVED` while its value is elsewhere."""

    def __init__(self, variable: Variable, events: list[Event], size: int) -> None:
        super().__init__(variable.name, events, size)
        self._reports: dict[int, Report] = {}
        self._moved_at: Node | None = None

    def found(self, region: object) -> Iterator[Report]:
        """The uses after a move, in order of discovery."""
        try:
            self.run(region, _FULL)  # type: ignore[arg-type]
        except Exhausted:
            return
        yield from self._reports.values()

    def step(self, mask: int, event: Event) -> int:
        """Full or moved, after an event."""
        if event.kind == "moves":
            if mask & _MOVED:
                self._note(event, mask)
            self._moved_at = event.node
            return _MOVED
        if event.kind in ("set", "declared", "shared", "address", "checked", "move"):
            return _FULL
        if not mask & _MOVED or event.kind not in _USES:
            return mask
        if event.kind == "member" and _member_name(event.node) in _REFILLING:
            return _FULL
        self._note(event, mask)
        return _FULL

    def _note(self, event: Event, mask: int) -> None:
        self._reports.setdefault(event.node.start_byte, Report(
            event.node,
            "'{variable}' is used after its value was moved away.",
            confidence=0.82 if mask == _MOVED else 0.62,
            variable=self.name,
            related=[(self._moved_at, "Moved here.")] if self._moved_at is not None else (),
        ))  # fmt: skip


def _member_name(use: Node) -> str:
    parent = use.parent
    return text(field(parent, "field")) if parent is not None else ""
