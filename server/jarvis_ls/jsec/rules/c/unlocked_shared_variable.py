"""Threads change a variable that others use, without a lock.

## What it does
Finds variables of file scope that a function running in threads changes with no lock held, when
several threads run it, or other code of the file uses the variable while it runs. The same for
what the argument of the threads points to, when several of them get the same. Atomic and
thread-local variables are fine.

## Why is this bad?
It is a data race: updates get lost (`count++` is three steps), readers see half of a change, and
the compiler may assume that nothing of this happens.

## Example
```c
static int count;

void *worker(void *unused) {
    count++;
    return NULL;
}
```

Use instead:
```c
static _Atomic int count;

void *worker(void *unused) {
    count++;
    return NULL;
}
```

## References
- CWE-366: Race Condition within a Thread
- CWE-362: Concurrent Execution using Shared Resource with Improper Synchronization
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Function
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.threads import (
    JOINS,
    WORDS,
    Started,
    is_guarded,
    shared_variables,
    started,
    writes,
    writes_through_parameter,
)
from jarvis_ls.jsec.rule import Report, rule, whole_file
from jarvis_ls.jsec.site import WholeUnit

STARTED = "A thread that runs it is started here."
MAX_STARTS = 4
"""Places shown at which threads are made."""
MAX_WRITES = 60
"""Writes looked at in one thread."""


@rule(
    query=whole_file(*WORDS, "(void *", "(void*"),
    category="concurrency",
    cwe=(366, 362),
    confidence=0.7,
    severity="medium",
    suggestion="Protect '{variable}' by one lock wherever it is used, or make it atomic.",
)
def unlocked_shared_variable(whole: WholeUnit) -> Iterator[Report]:
    threads = started(whole)
    if not threads:
        return
    for thread in threads:
        yield from _through_argument(thread)
    shared = {n: t for n, t in shared_variables(whole).items() if "volatile" not in t}
    for thread in threads:
        seen: set[str] = set()
        for name, node in writes(thread.function, shared)[:MAX_WRITES]:
            if name in seen or is_guarded(thread.function, node):
                continue
            seen.add(name)
            other = _used_elsewhere(name, thread, threads, whole)
            if not thread.several and other is None:
                continue
            yield Report(
                node,
                "'{variable}' is changed in a thread without a lock.",
                pattern=thread.function.name,
                variable=name,
                causes=[(made, STARTED) for _, made in thread.creations[:MAX_STARTS]],
                related=[(other, "Used here meanwhile.")] if other is not None else (),
            )


def _through_argument(thread: Started) -> Iterator[Report]:
    """Writes through the argument that several threads share."""
    given = thread.shared_argument
    for node in writes_through_parameter(thread.function)[:MAX_WRITES] if given else ():
        if is_guarded(thread.function, node):
            continue
        yield Report(
            node,
            "'{variable}' is changed in a thread without a lock.",
            pattern=thread.function.name,
            variable=given,
            causes=[(made, "Given to a thread here.") for _, made in thread.creations[:MAX_STARTS]],
        )
        return


def _used_elsewhere(
    name: str, thread: Started, threads: list[Started], whole: WholeUnit
) -> Node | None:
    """A use of the variable that may happen while the thread runs."""
    names = {other.function.name for other in threads}
    for function in whole.functions:
        if function.name == thread.function.name or name.encode() not in (
            function.node.text or b""
        ):
            continue
        uses = [u for u in function.uses(name) if function.variable(name, u.start_byte) is None]
        if not uses:
            continue
        if function.name in names:
            return uses[0]
        begin, end = _running(function, thread)
        found = next((u for u in uses if begin <= u.start_byte < end), None)
        if found is not None and not is_guarded(function, found):
            return found
    return None


def _running(function: Function, thread: Started) -> tuple[int, int]:
    """The bytes of a function in which the thread surely runs: from where it is started to the
    first join after it."""
    begins = [node.end_byte for where, node in thread.creations if where is function]
    if not begins:
        return 0, 0
    ends = [call.node.start_byte for call in function.calls
            if call.name in JOINS and call.node.start_byte > begins[0]]  # fmt: skip
    return begins[0], min(ends, default=function.end)
