"""Condition wait outside a loop.

## What it does
Finds `pthread_cond_wait`, `cnd_wait`, `SleepConditionVariableCS` and
`std::condition_variable::wait` without a predicate that are not in a loop.

## Why is this bad?
Spurious wakeups happen without a signal, and another thread may already have consumed the
resource. Code after the wait then works on an empty queue.

## Example
```c
if (queue_is_empty())
    pthread_cond_wait(&filled, &lock);
```

Use instead:
```c
while (queue_is_empty())
    pthread_cond_wait(&filled, &lock);
```

## References
- CWE-667: Improper Locking
- SEI CERT C CON36-C: Wrap functions that can spuriously wake up in a loop
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import ancestors, field, text
from jarvis_ls.jsec.base.rule import Report, Rewrite, functions, rule
from jarvis_ls.jsec.local.constants import declaration
from jarvis_ls.jsec.local.guards import enclosing_loop

WAITS = frozenset(
    "pthread_cond_wait pthread_cond_timedwait cnd_wait cnd_timedwait "
    "SleepConditionVariableCS SleepConditionVariableSRW g_cond_wait uv_cond_wait "
    "SDL_CondWait pthread_cond_clockwait".split()
)
_NAMES = re.compile(r"[A-Za-z_]\w*")
METHODS = {"wait": 1, "wait_for": 2, "wait_until": 2}


@rule(
    query=functions(calling=(*WAITS, *METHODS)),
    category="concurrency",
    cwe=(667,),
    confidence=0.8,
    severity="medium",
    suggestion="Wait in a loop that checks the condition again.",
    fixable=True,
)
def condition_wait_without_loop(function: Function) -> Iterator[Report]:
    for call in function.calls:
        if not _is_wait(call) or enclosing_loop(call.node, function) is not None:
            continue
        if _is_wrapper(function) and not _is_guarded(call, function):
            continue
        yield Report(
            call.node,
            "Spurious wakeup: '{name}' is not in a loop.",
            pattern=call.name,
            name=call.written,
            fix=_while_for_if(call),
        )


def _is_wrapper(function: Function) -> bool:
    """Return whether the function only wraps a wait: its callers hold the loop."""
    short = function.body is None or function.body.named_child_count <= 1
    return short or "wait" in function.name.rpartition("::")[2].lower()


def _is_guarded(call: Call, function: Function) -> bool:
    """Return whether an `if` checks the condition before the wait. One that tests the result of
    the wait, or a parameter such as a timeout, does not.
    """
    parameters = {parameter.name for parameter in function.parameters}
    return any(
        outer.type == "if_statement"
        and (condition := field(outer, "condition")) is not None
        and call.node.start_byte >= condition.end_byte
        and not set(_NAMES.findall(text(condition)[:200])) <= parameters
        for outer in ancestors(call.node, function.node)
    )


def _is_wait(call: Call) -> bool:
    if not call.is_method:
        return call.name in WAITS
    if METHODS.get(call.name) != len(call.arguments):
        return False
    declared = declaration(call.receiver, call.function)
    if declared is not None:
        return "condition_variable" in declared.type
    name = text(call.receiver).rpartition(">")[2].rpartition(".")[2]
    fields = call.unit.facts.fields.get(name, ())
    return any("condition_variable" in f.type for f in fields)


def _while_for_if(call: Call) -> Rewrite | None:
    """Turn `if (empty()) wait();` into `while (empty()) wait();`."""
    statement = call.statement
    outer = statement.parent if statement is not None else None
    if outer is not None and outer.type == "compound_statement" and outer.named_child_count == 1:
        outer = outer.parent
    if outer is None or outer.type != "if_statement" or field(outer, "alternative") is not None:
        return None
    keyword = outer.children[0]
    return (
        Rewrite("Replace 'if' with 'while'", [(keyword, "while")]) if keyword.type == "if" else None
    )
