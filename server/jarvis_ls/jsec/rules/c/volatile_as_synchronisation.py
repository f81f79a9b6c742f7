"""volatile used for thread synchronisation.

## What it does
Finds `volatile` global variables that a thread function uses without holding a lock, and that
other functions of the file use as well.

In a file without threads, it reports a busy-wait loop on such a variable, and a loop in a method of
C++ on a volatile member that another method sets.

## Why is this bad?
`volatile` is for hardware and signal handlers. It neither makes accesses atomic nor orders other
memory accesses: a reader may see the flag set before the data it announces, and `count++` still
loses updates.

## Example
```c
static volatile int done;

void *worker(void *unused) {
    while (!done)
        work();
    return NULL;
}
```

Use instead:
```c
static atomic_int done;

void *worker(void *unused) {
    while (!atomic_load(&done))
        work();
    return NULL;
}
```

## References
- CWE-662: Improper Synchronization
- CWE-366: Race Condition within a Thread
- SEI CERT C CON02-C: Do not use volatile as a synchronization primitive
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import ancestors, field
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import WholeUnit
from jarvis_ls.jsec.base.rule import Report, rule, whole_file
from jarvis_ls.jsec.local.c.guarded import own_name, uses_of
from jarvis_ls.jsec.local.c.threads import handlers, is_guarded, shared_variables, started_functions

MAX_VARIABLES = 40
"""Limit of variables examined in each file."""


@rule(
    query=whole_file("volatile"),
    category="concurrency",
    cwe=(662, 366),
    confidence=0.55,
    severity="medium",
    suggestion="Make '{variable}' atomic, or protect it with a lock.",
)
def volatile_as_synchronisation(whole: WholeUnit) -> Iterator[Report]:
    if whole.unit.language == "cpp":
        yield from _polled_members(whole)
    volatile = [
        n for n, t in shared_variables(whole).items() if "volatile" in t and "sig_atomic_t" not in t
    ][:MAX_VARIABLES]
    if not volatile:
        return
    threads = started_functions(whole)
    in_handlers = {f.name for f, _ in handlers(whole)}
    if not threads:
        yield from _busy_waits(whole, volatile, in_handlers)
        return
    seen: set[str] = set()
    for thread in threads:
        for name in volatile:
            uses = thread.function.uses(name)
            if name in seen or not uses or is_guarded(thread.function, uses[0]):
                continue
            others = [
                f
                for f in whole.functions
                if f.name != thread.function.name and f.name not in in_handlers and f.uses(name)
            ]
            if not others and not thread.several:
                continue
            seen.add(name)
            yield _report(uses[0], name, thread.function.name)


def _report(use: Node, name: str, pattern: str, confidence: float | None = None) -> Report:
    return Report(
        use,
        "'{variable}' is shared between threads, but volatile does not synchronise them.",
        confidence=confidence,
        pattern=pattern,
        variable=name,
    )


def _busy_waits(whole: WholeUnit, volatile: list[str], in_handlers: set[str]) -> Iterator[Report]:
    """Report variables that an empty loop waits for and that no signal handler sets, so that
    another thread must.
    """
    for name in volatile:
        if any(f.name in in_handlers and f.uses(name) for f in whole.functions):
            continue
        waiting = (use for f in whole.functions for use in f.uses(name) if _waits(use))
        use = next(waiting, None)
        if use is not None:
            yield _report(use, name, name, 0.55)


def _polled_members(whole: WholeUnit) -> Iterator[Report]:
    """Report volatile members that a loop of one method tests and that another method sets."""
    facts = whole.unit.facts
    names = [
        name
        for name, members in facts.fields.items()
        if name not in facts.variables
        and all(
            "volatile" in m.type
            and not m.pointers
            and not m.arrays
            and "sig_atomic_t" not in m.type
            for m in members
        )
    ][:MAX_VARIABLES]
    for name in names:
        functions = whole.mentioning(name.encode())
        polls = next(
            ((f, use) for f in functions for use in uses_of(f, name, 0, f.end) if _polls(use)), None
        )
        if polls is not None and any(f is not polls[0] and _sets(f, name) for f in functions):
            yield _report(polls[1], name, name, 0.5)


def _polls(use: Node) -> bool:
    """Return whether a use is in the condition of a loop."""
    loop = next((n for n in ancestors(use) if n.type in ("while_statement", "do_statement")), None)
    condition = field(loop, "condition")
    return condition is not None and condition.start_byte <= use.start_byte < condition.end_byte


def _sets(function: Function, name: str) -> bool:
    return any(own_name(field(node, "left")) == name for node in function.nodes("assign"))


def _waits(use: Node) -> bool:
    """Return whether a use is in the condition of an empty loop."""
    loop = next((n for n in ancestors(use) if n.type in ("while_statement", "do_statement")), None)
    condition, body = field(loop, "condition"), field(loop, "body")
    if (
        condition is None
        or body is None
        or not condition.start_byte <= use.start_byte < condition.end_byte
    ):
        return False
    return body.type in ("compound_statement", "expression_statement") and not any(
        child.type != "comment" for child in body.named_children
    )
