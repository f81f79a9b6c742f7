"""Data race on a shared variable.

## What it does
Finds global variables that a thread function modifies without holding a lock, when several
threads run it, or other code of the file uses the variable while it runs. The same applies to the
target of the thread argument when several threads receive the same pointer. Atomic and
thread-local variables are left out.

## Why is this bad?
A data race is undefined behaviour: updates get lost (`count++` is a read, an addition and a
write), and readers see partial writes.

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
from operator import attrgetter

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import WholeUnit
from jarvis_ls.jsec.base.rule import Report, rule, whole_file
from jarvis_ls.jsec.local.c.threads import (
    JOINS,
    WORDS,
    Started,
    is_guarded,
    shared_variables,
    started_functions,
    writes,
    writes_through_parameter,
)
from jarvis_ls.jsec.local.guards import same_path

STARTED = "Thread that runs this function is created here."
_start = attrgetter("start_byte")
MAX_STARTS = 4
"""Limit of thread creations shown as related locations."""
_STORED = 0.55
"""Confidence where one thread stores a whole value: others see the old or the new one, on the
machines there are."""
MAX_WRITES = 60
"""Limit of writes examined in each thread."""


@rule(
    query=whole_file(*WORDS, "(void *", "(void*"),
    category="concurrency",
    cwe=(366, 362),
    confidence=0.65,
    severity="medium",
    suggestion="Protect every access to '{variable}' with one lock, or make it atomic.",
)
def unlocked_shared_variable(whole: WholeUnit) -> Iterator[Report]:
    threads = started_functions(whole)
    if not threads:
        return
    for thread in threads:
        yield from _through_argument(thread)
    shared = {n: t for n, t in shared_variables(whole).items() if "volatile" not in t}
    for thread in threads:
        seen: set[tuple[str, str]] = set()
        for name, node in writes(thread.function, shared)[:MAX_WRITES]:
            member = _member(node)
            if {(name, member), (name, "")} & seen or is_guarded(thread.function, node):
                continue
            seen.add((name, member))
            other = _used_elsewhere(name, member, thread, threads, whole)
            if not thread.several and other is None:
                continue
            seen.add((name, ""))
            yield Report(
                node,
                "Data race: '{variable}' is modified in a thread without a lock.",
                confidence=_STORED if not thread.several and _is_plain_store(node) else None,
                pattern=thread.function.name,
                variable=name,
                causes=[(made, STARTED) for _, made in thread.creations[:MAX_STARTS]],
            ).with_related([(other, "Used concurrently here.")] if other is not None else ())


def _through_argument(thread: Started) -> Iterator[Report]:
    """Report writes through the argument that several threads share."""
    given = thread.shared_argument
    for node in writes_through_parameter(thread.function)[:MAX_WRITES] if given else ():
        if is_guarded(thread.function, node):
            continue
        yield Report(
            node,
            "Data race: '{variable}' is modified in a thread without a lock.",
            pattern=thread.function.name,
            variable=given,
            causes=[
                (made, "Passed to a thread here.") for _, made in thread.creations[:MAX_STARTS]
            ],
        )
        return


def _is_plain_store(write: Node) -> bool:
    """Return whether a write sets a variable, not a part of one, to a value that does not rest on
    what it was."""
    target = field(write, "left")
    return (
        write.type == "assignment_expression"
        and operator_of(write) == "="
        and target is not None
        and target.type == "identifier"
        and text(target) not in text(field(write, "right"))
    )


def _member(write: Node) -> str:
    """Return the member of a variable that a write sets; empty when it is all of it."""
    target = field(write, "left") or field(write, "argument")
    while target is not None and target.type in ("subscript_expression", "field_expression"):
        inner = field(target, "argument")
        if target.type == "field_expression" and inner is not None and inner.type == "identifier":
            return text(field(target, "field"))
        target = inner
    return ""


def _is_of_member(use: Node, member: str) -> bool:
    """Return whether a use of a variable may concern the member: it names that, or none."""
    outer = use.parent
    if not member or outer is None or outer.type != "field_expression":
        return True
    return text(field(outer, "field")) == member


def _runs_instead(thread: Started, other: Started) -> bool:
    """Return whether two threads are alternatives: branches of one function create them."""
    return all(
        function is another and not same_path(function, *sorted((created, again), key=_start))
        for function, created in thread.creations
        for another, again in other.creations
    )


def _used_elsewhere(
    name: str, member: str, thread: Started, threads: list[Started], whole: WholeUnit
) -> Node | None:
    """Return a use of the variable, or its member, that may happen while the thread runs."""
    names = {other.function.name for other in threads}
    instead = {other.function.name for other in threads if _runs_instead(thread, other)}
    for function in whole.functions:
        if function.name in (thread.function.name, *instead) or name.encode() not in (
            function.node.text or b""
        ):
            continue
        uses = [
            use
            for use in function.uses(name)
            if function.variable(name, use.start_byte) is None and _is_of_member(use, member)
        ]
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
    """Return the range of a function in which the thread runs: from its creation to the first join
    after it.
    """
    begins = [node.end_byte for where, node in thread.creations if where is function]
    if not begins:
        return 0, 0
    ends = [
        call.node.start_byte
        for call in function.calls
        if call.name in JOINS and call.node.start_byte > begins[0]
    ]
    return begins[0], min(ends, default=function.end)
