"""A function leaves while it still holds a lock.

## What it does
Finds `return`s (and ends of functions) that are reached with a lock held which the function gives
back on other ways. Functions that only take a lock are left alone: their callers release it.

## Why is this bad?
Nobody will ever release the lock: the next thread that wants it waits forever.

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

from jarvis_ls.codeintel.code import Call, Function, text
from jarvis_ls.jsec.c.locks import PAIRS, TAKING, LockFault, locks
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, Rewrite, flow, functions, rule

_TAKERS = ("lock", "acquire", "enter", "begin", "hold", "grab", "get", "pause", "stop",
           "disable", "suspend", "block", "freeze", "init", "fork")  # fmt: skip


_LEAVES = "The function leaves here with '{lock}' held."


@rule(
    query=flow("lock-left", guess=functions(calling=TAKING)),
    category="concurrency",
    cwe=(667, 772),
    confidence=0.8,
    suggestion="Release '{lock}' on every way out; in C++ let std::lock_guard do it.",
    fixable=True,
    unasked=(_LEAVES,),  # of locks that flow cannot tell apart, or in code that it cannot follow
)
def missing_unlock(function: Function | Fault) -> Iterator[Report]:
    if isinstance(function, Fault):
        said = dict(function.args)
        yield Report(
            function,
            _LEAVES if "lock" in said else "The function leaves here with a lock held.",
            suggestion="" if "lock" in said else "Release the lock on every way out.",
            pattern=said.get("taking", ""),
        )
        return
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
            causes=[(fault.origin, "Taken here.")] if fault.origin else (),
            fix=_release(fault),
        )


def _confidence(function: Function, fault: LockFault) -> float:
    if not fault.gives_back or fault.partly or _hands_out(function, fault):
        return 0.45
    last = function.body.named_children[-1] if function.body is not None else None
    ends = fault.node.type == "}" or (last is not None and fault.node == last)
    return 0.5 if ends else 0.8  # giving it back on failure only may be a contract


def _hands_out(function: Function, fault: LockFault) -> bool:
    """Whether a function gives back what it found with the lock held, and null without."""
    returned = {text(node)[len("return") :].strip(" ;()") for node in function.nodes("return")}
    empty = returned & {"NULL", "nullptr"}
    return bool(empty) and fault.node.type == "return_statement" and not any(
        word in text(fault.node) for word in empty
    )  # fmt: skip


def _must_release(function: Function, fault: LockFault) -> bool:
    """Whether a function that never gives the lock back should: its own name and those of the
    functions it calls do not speak of taking or releasing locks."""
    name = function.name.lower()
    if any(word in name for word in _TAKERS) or "." in fault.lock or ">" in fault.lock:
        return False
    if any(_through_pointer(function, call, fault.lock) for call in function.calls):
        return False
    called = " ".join(call.name.lower() for call in function.calls)
    return not any(word in called for word in ("unlock", "release", "leave", "cleanup"))


def _through_pointer(function: Function, call: Call, lock: str) -> bool:
    """Whether a function that is not known by its name is given the lock."""
    known = function.unit.facts.variables.get(call.name) or function.variable(
        call.name, call.node.start_byte
    )
    return bool(known) and text(call.arg(0)).lstrip("&") == lock


def _release(fault: LockFault) -> Rewrite | None:
    """The missing call before a `return` that stands in a block and returns something plain."""
    node, giver = fault.node, PAIRS.get(fault.taken_by, "")
    parent = node.parent
    if node.type != "return_statement" or parent is None or not fault.gives_back or not giver:
        return None
    value = text(node)[len("return") :].rstrip(";").strip()
    plain = value.lstrip("-").replace("_", "").isalnum() or not value
    if not plain:
        return None
    call = f"{fault.lock}.{giver}()" if giver in ("unlock", "unlock_shared") else (
        f"{giver}({_argument(fault)})"
    )  # fmt: skip
    at, end = node.start_byte, node.end_byte
    if parent.type == "compound_statement":
        edits = [((at, at), f"{call}; ")]
    else:
        edits = [((at, at), f"{{ {call}; "), ((end, end), " }")]
    return Rewrite("Release '{lock}' before the return", edits, lock=fault.lock)


def _argument(fault: LockFault) -> str:
    if fault.origin is None:
        return fault.lock
    given = fault.origin.child_by_field_name("arguments")
    return text(given)[1:-1].strip() if given is not None else fault.lock
