"""Thread exits while holding a lock.

## What it does
Examines functions that run in threads started through wrapper functions of the program. Where one
of them acquires a lock with a call and releases it with another, a function that makes the first
call and returns without the second is reported.

## Why is this bad?
The lock is never released: the next thread that acquires it blocks forever.

## Example
```c
void count(void *unused) {
    gate_close(gate);
    if (total > LIMIT)
        return;
    total++;
    gate_open(gate);
}
```

Use instead:
```c
void count(void *unused) {
    gate_close(gate);
    if (total <= LIMIT)
        total++;
    gate_open(gate);
}
```

## References
- CWE-667: Improper Locking
- CWE-772: Missing Release of Resource after Effective Lifetime
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import WholeUnit
from jarvis_ls.jsec.base.rule import Report, rule, whole_file
from jarvis_ls.jsec.local.c.lock_wrappers import MAX_CALLS, starts_wrapped
from jarvis_ls.jsec.local.guards import same_path


@rule(
    query=whole_file("(void *", "(void*"),
    category="concurrency",
    cwe=(667, 772),
    confidence=0.65,
    suggestion="Call '{giver}' on every path out of the function.",
)
def thread_keeps_lock(whole: WholeUnit) -> Iterator[Report]:
    names = {name for name, _, _ in starts_wrapped(whole)}
    if not names:
        return
    threads = [function for function in whole.functions if function.name in names]
    pairs = dict(pair for function in threads for pair in _pairs(function))
    for function in threads:
        for call in _takings(function, pairs):
            node = _exit_with_lock(function, call, pairs[call.name])
            if node is not None:
                yield Report(
                    node,
                    "Function returns without releasing the lock '{lock}'.",
                    pattern=call.name,
                    lock=_lock(call),
                    giver=pairs[call.name],
                    causes=[(call.node, "Lock acquired here.")],
                )


def _pairs(function: Function) -> Iterator[tuple[str, str]]:
    """Yield the names of calls that acquire a global lock, with those that release it last."""
    locks: dict[str, list[str]] = {}
    for call in function.calls[:MAX_CALLS]:
        if lock := _lock(call):
            locks.setdefault(lock, []).append(call.name)
    for called in locks.values():
        if called[0] != called[-1]:
            yield called[0], called[-1]


def _takings(function: Function, pairs: dict[str, str]) -> Iterator[Call]:
    for call in function.calls[:MAX_CALLS]:
        if call.name in pairs and call.name not in pairs.values() and _lock(call):
            yield call


def _exit_with_lock(function: Function, taken: Call, giver: str) -> Node | None:
    """Return an exit after the acquiring call on whose path the lock is not released."""
    given = [
        call.node
        for call in function.calls[:MAX_CALLS]
        if call.name == giver
        and _lock(call) == _lock(taken)
        and call.node.start_byte > taken.node.end_byte
    ]
    if not given:
        return taken.node
    for way_out in function.nodes("return"):
        if way_out.start_byte > taken.node.end_byte and same_path(function, taken.node, way_out):
            before = [n for n in given if n.end_byte <= way_out.start_byte]
            if not any(same_path(function, node, way_out) for node in before):
                return way_out
    return None


def _lock(call: Call) -> str:
    """Return the global variable that is the only argument of a call, else an empty string."""
    if len(call.arguments) != 1 or call.statement is None or call.is_method:
        return ""
    name = text(call.arguments[0]).lstrip("& ")
    declared = None if call.function is None else call.function.unit.facts.variables.get(name)
    return name if declared is not None else ""
