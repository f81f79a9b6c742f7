"""Memory that a signal handler uses is given back while the handler is installed.

## What it does
Finds `free` of a pointer of file scope, in a function that has installed a signal handler which
uses the same pointer. It is left alone where the signal is ignored, reset or blocked before, and
where the memory was first taken out of the pointer (`old = shared; shared = NULL; free(old);`).
A new allocation put into such a pointer is told with less confidence: the handler may see it
before it is filled.

## Why is this bad?
The signal can arrive just after `free`: the handler then finds a pointer that is not null, and
writes to memory that belongs to nobody.

## Example
```c
signal(SIGINT, on_interrupt);   /* writes to shared->count */
free(shared);
shared = NULL;
```

Use instead:
```c
signal(SIGINT, SIG_DFL);
free(shared);
shared = NULL;
```

## References
- CWE-364: Signal Handler Race Condition
- SEI CERT C SIG31-C: Do not access shared objects in signal handlers
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, Function, bare, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.threads import INSTALLERS, handlers
from jarvis_ls.jsec.guards import same_path
from jarvis_ls.jsec.rule import Report, rule, whole_file
from jarvis_ls.jsec.site import WholeUnit

RELEASES = frozenset({"free", "cfree", "g_free"})
ALLOCATES = frozenset({"malloc", "calloc", "realloc", "strdup"})
MASKS = frozenset({"sigprocmask", "pthread_sigmask"})
MAX_CALLS = 400
"""Calls looked at in one function."""


@rule(
    query=whole_file("signal(", "signal (", "sigaction", "sigset("),
    category="concurrency",
    cwe=(364,),
    confidence=0.75,
    severity="medium",
    suggestion="Reset or block the signal before '{pointer}' changes.",
)
def object_freed_behind_signal_handler(whole: WholeUnit) -> Iterator[Report]:
    shared = {handler.name: _pointers(handler, whole) for handler, _ in handlers(whole)}
    if not any(shared.values()):
        return
    for function in whole.mentioning(b"sig"):
        if function.name not in shared:
            yield from _changes(function, shared)


def _pointers(handler: Function, whole: WholeUnit) -> set[str]:
    """Pointers of file scope that a handler uses."""
    declared = whole.unit.facts.variables
    return {
        text(node)
        for node in handler.nodes("id")
        if text(node) in declared
        and declared[text(node)].pointers
        and handler.variable(text(node), node.start_byte) is None
    }


def _changes(function: Function, shared: dict[str, set[str]]) -> Iterator[Report]:
    installed: list[tuple[Call, str]] = []
    for call in function.calls[:MAX_CALLS]:
        if call.name in INSTALLERS:
            installed.append((call, text(call.arg(1)).lstrip("& ").rpartition(")")[2]))
        elif call.name in MASKS:
            installed.append((call, "" if "UNBLOCK" in text(call.arg(0)) else "SIG_BLOCK"))
        else:
            place = _changed(call)
            active = _active(function, installed, call.node)
            if place is None or active is None or text(place) not in shared.get(active[1], ()):
                continue
            if function.variable(text(place), place.start_byte) is not None:
                continue
            yield Report(
                call.node,
                "'{pointer}' is released while '{handler}' may run and use it."
                if call.name in RELEASES
                else "'{pointer}' is set while '{handler}' may run and use what is not filled yet.",
                confidence=0.75 if call.name in RELEASES else 0.5,
                pattern=call.name,
                pointer=text(place),
                handler=active[1],
                causes=[(active[0].node, "Installed here.")],
            )


def _changed(call: Call) -> Node | None:
    """The pointer that a call releases, or that takes what it allocates."""
    place = call.arg(0) if call.name in RELEASES else None
    if call.name in ALLOCATES:
        place = call.target
    place = None if place is None else bare(place)
    return place if place is not None and place.type == "identifier" else None


def _active(
    function: Function, installed: list[tuple[Call, str]], place: Node
) -> tuple[Call, str] | None:
    """What was last said about signals on the way to a place."""
    for call, handler in reversed(installed):
        if same_path(function, call.node, place):
            return call, handler
    return None
