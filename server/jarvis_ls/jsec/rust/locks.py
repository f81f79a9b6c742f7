"""Guards of locks: where each is taken and how long it is held."""

from __future__ import annotations

from dataclasses import dataclass

from jarvis_ls.codeintel.code import Function, called_name, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.rust.shapes import arguments, receiver_of

_LOCKS = frozenset({"lock", "read", "write", "borrow_mut"})
_RESULTS = frozenset({"unwrap", "expect", "unwrap_or_else"})


@dataclass(frozen=True, slots=True)
class Guard:
    """A local variable that holds a lock."""

    name: str
    """The variable."""
    lock: Node
    """The call that takes the lock."""
    method: str
    """`lock`, `read`, `write` or `borrow_mut`."""
    locked: str
    """What is locked, as written."""
    start: int
    """Byte from which the lock is held."""
    end: int
    """Byte to which it is held: the end of the block, or a `drop` of the guard."""
    certain: bool
    """Poisoning was handled, so it is a blocking lock of `std`."""


def guards(function: Function) -> list[Guard]:
    """Locks of blocking kinds that a function holds in variables, in order.

    `x.lock()` without `unwrap` counts only for `lock` and `borrow_mut` (`parking_lot`, `RefCell`);
    `x.lock().await` is no blocking lock.
    """
    found = []
    for variables in function.variables.values():
        for variable in variables:
            made = variable.initial
            if made is None or made.type not in ("call_expression", "try_expression"):
                continue
            lock = _lock_in(made)
            if lock is None or variable.name == "_":
                continue
            method = called_name(lock)
            certain = lock != made
            if not certain and method not in ("lock", "borrow_mut"):
                continue
            end = _dropped(function, variable.name, variable.scope)
            found.append(
                Guard(variable.name, lock, method, text(receiver_of(lock)), variable.scope[0],
                      end, certain)
            )  # fmt: skip
    return sorted(found, key=lambda guard: guard.start)


def _lock_in(made: Node) -> Node | None:
    """The call of `lock` whose guard is the value of `made`; None when it is something else."""
    node: Node | None = made
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


def _dropped(function: Function, name: str, scope: tuple[int, int]) -> int:
    """Where the guard is dropped or moved away: `drop(g)`, `g = …`, a call that takes it."""
    for use in function.uses(name, *scope)[:64]:
        parent = use.parent
        if parent is None:
            continue
        if parent.type == "arguments":
            return use.start_byte
        if parent.type == "assignment_expression" and field(parent, "left") == use:
            return use.start_byte
    return scope[1]
