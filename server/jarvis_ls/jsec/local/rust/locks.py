"""Lock guards: where each lock is acquired and how long it is held."""

from __future__ import annotations

from dataclasses import dataclass

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.local.rust.shapes import arguments, receiver_of

_LOCKS = frozenset({"lock", "read", "write", "borrow_mut"})
_RESULTS = frozenset({"unwrap", "expect", "unwrap_or_else"})


@dataclass(frozen=True, slots=True)
class Guard:
    """A local variable that holds a lock."""

    name: str
    """The variable."""
    lock: Node
    """The call that acquires the lock."""
    method: str
    """`lock`, `read`, `write` or `borrow_mut`."""
    locked: str
    """What is locked, as written."""
    start: int
    """Byte from which the lock is held."""
    end: int
    """Byte to which it is held: the end of the block, or a `drop` of the guard."""
    certain: bool
    """Whether poisoning is handled, so that it is a blocking lock of `std`."""


def guards(function: Function) -> list[Guard]:
    """Return the guards of blocking locks that a function holds in variables, in order.

    `x.lock()` without `unwrap` counts only for `lock` and `borrow_mut` (`parking_lot`, `RefCell`);
    `x.lock().await` is no blocking lock.
    """
    found = []
    for variables in function.variables.values():
        for variable in variables:
            initial = variable.initial
            if initial is None or initial.type not in ("call_expression", "try_expression"):
                continue
            lock = _lock_in(initial)
            if lock is None or variable.name == "_":
                continue
            method = called_name(lock)
            certain = lock != initial
            if not certain and method not in ("lock", "borrow_mut"):
                continue
            end = _guard_end(function, variable.name, variable.scope)
            found.append(
                Guard(
                    variable.name,
                    lock,
                    method,
                    text(receiver_of(lock)),
                    variable.scope[0],
                    end,
                    certain,
                )
            )
    return sorted(found, key=lambda guard: guard.start)


def _lock_in(initial: Node) -> Node | None:
    """Return the call of `lock` whose guard is the value of `initial`, or None."""
    node: Node | None = initial
    for _ in range(4):
        if node is None:
            return None
        if node.type == "try_expression":
            node = node.named_children[0]
            continue
        if node.type != "call_expression":
            return None
        name = called_name(node)
        if name in _LOCKS and not arguments(node):
            return node
        if name not in _RESULTS and name != "map_err":
            return None
        node = receiver_of(node)
    return None


def _guard_end(function: Function, name: str, scope: tuple[int, int]) -> int:
    """Return the byte where the guard is dropped or moved: `drop(g)`, `g = …`, a call with it."""
    for use in function.uses(name, *scope)[:64]:
        parent = use.parent
        if parent is None:
            continue
        if parent.type == "arguments":
            return use.start_byte
        if parent.type == "assignment_expression" and field(parent, "left") == use:
            return use.start_byte
    return scope[1]
