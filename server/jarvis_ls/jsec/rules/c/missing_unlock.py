"""Missing unlock on a return path.

## What it does
Finds `return`s (and ends of functions) that are reached while holding a lock which the function
releases on other paths. Functions that only lock are not reported: their callers unlock.

## Why is this bad?
The lock is never released: the next thread that acquires it blocks forever.

## Example
```c
pthread_mutex_lock(&lock);
if (queue_is_full())
    return -1;
put(item);
pthread_mutex_unlock(&lock);
```

Use instead:
```c
pthread_mutex_lock(&lock);
if (queue_is_full()) {
    pthread_mutex_unlock(&lock);
    return -1;
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
from jarvis_ls.jsec.base.rule import Report, Rewrite, flow, flow_verdicts, functions, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.c.layout import add_before
from jarvis_ls.jsec.local.c.locks import PAIRS, TAKING, LockFault, locks

_TAKERS = tuple(
    "lock acquire enter begin hold grab get pause stop disable suspend block freeze init "
    "fork".split()
)


_SURE = 0.8
_LEAVES = "Function returns without releasing '{lock}'."


@rule(
    query=flow("lock-left", guess=functions(calling=TAKING)),
    category="concurrency",
    cwe=(667, 772),
    confidence=0.8,
    suggestion="Release '{lock}' on every path, or use std::lock_guard in C++.",
    fixable=True,
)
# locks that flow cannot distinguish, or code that it cannot follow
@flow_verdicts(exempt=(_LEAVES,))
def missing_unlock(function: Function) -> Iterator[Report]:
    for fault in locks(function).faults:
        if fault.kind != "kept":
            continue
        if not fault.gives_back and not _must_release(function, fault):
            continue
        yield Report(
            fault.node,
            _LEAVES,
            confidence=_confidence(function, fault),
            pattern=fault.taken_by,
            lock=fault.lock,
            causes=[(fault.origin, "Locked here.")] if fault.origin else (),
            fix=_release(function, fault),
        )


@on_fault(missing_unlock)
def _report_fault(fault: Fault) -> Iterator[Report]:
    args = dict(fault.args)
    yield Report(
        fault,
        _LEAVES if "lock" in args else "Function returns without releasing the lock.",
        suggestion="" if "lock" in args else "Release the lock on every path.",
        pattern=args.get("taking", ""),
    )


def _confidence(function: Function, fault: LockFault) -> float:
    if not fault.gives_back or fault.partly or _returns_locked(function, fault):
        return 0.45
    last = function.body.named_children[-1] if function.body is not None else None
    ends = fault.node.type == "}" or (last is not None and fault.node == last)
    return 0.5 if ends else _SURE  # releasing it only on failure may be a contract


def _returns_locked(function: Function, fault: LockFault) -> bool:
    """Return whether a function returns its result with the lock held, and null without."""
    returned = {text(node)[len("return") :].strip(" ;()") for node in function.nodes("return")}
    empty = returned & {"NULL", "nullptr"}
    return (
        bool(empty)
        and fault.node.type == "return_statement"
        and not any(word in text(fault.node) for word in empty)
    )


def _must_release(function: Function, fault: LockFault) -> bool:
    """Return whether a function that never releases the lock should: neither its name nor those
    of the functions it calls suggest locking or unlocking.
    """
    name = function.name.lower()
    if any(word in name for word in _TAKERS) or "." in fault.lock or ">" in fault.lock:
        return False
    if any(_through_pointer(function, call, fault.lock) for call in function.calls):
        return False
    called = " ".join(call.name.lower() for call in function.calls)
    return not any(word in called for word in ("unlock", "release", "leave", "cleanup"))


def _through_pointer(function: Function, call: Call, lock: str) -> bool:
    """Return whether the lock is passed to a function called through a pointer."""
    known = function.unit.facts.variables.get(call.name) or function.variable(
        call.name, call.node.start_byte
    )
    return bool(known) and text(call.arg(0)).lstrip("&") == lock


def _release(function: Function, fault: LockFault) -> Rewrite | None:
    """Return the missing call before a `return` of a constant or variable. Where confidence is low,
    a caller may rely on a lock that is kept."""
    node, giver = fault.node, PAIRS.get(fault.taken_by, "")
    if node.type != "return_statement" or not fault.gives_back or not giver or fault.partly:
        return None
    value = text(node)[len("return") :].rstrip(";").strip()
    plain = value.lstrip("-").replace("_", "").isalnum() or not value
    if not plain:
        return None
    call = (
        f"{fault.lock}.{giver}();"
        if giver in ("unlock", "unlock_shared")
        else f"{giver}({_argument(fault)});"
    )
    return Rewrite(
        "Release '{lock}' before the return",
        add_before(function, node, [call]),
        safe=_confidence(function, fault) >= _SURE,
        lock=fault.lock,
    )


def _argument(fault: LockFault) -> str:
    if fault.origin is None:
        return fault.lock
    given = fault.origin.child_by_field_name("arguments")
    return text(given)[1:-1].strip() if given is not None else fault.lock
