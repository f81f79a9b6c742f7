"""Signal handler uses memory that is freed while it is installed.

## What it does
Finds `free` of a global pointer in a function that has installed a signal handler which uses the
same pointer. Not reported where the signal was ignored, reset or blocked before, or where the
global was cleared first (`old = shared; shared = NULL; free(old);`). A new allocation stored in
such a pointer is reported with lower confidence: the handler may see it before it is initialised.

## Why is this bad?
The signal can arrive right after `free`. The handler then finds a pointer that is not NULL and
uses freed memory.

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

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import WholeUnit
from jarvis_ls.jsec.base.rule import Report, rule, whole_file
from jarvis_ls.jsec.local.c.threads import INSTALLERS, handlers
from jarvis_ls.jsec.local.guards import same_path

RELEASES = frozenset({"free", "cfree", "g_free"})
ALLOCATES = frozenset({"malloc", "calloc", "realloc", "strdup"})
MASKS = frozenset({"sigprocmask", "pthread_sigmask"})
MAX_CALLS = 400
"""Limit of calls examined in each function."""


@rule(
    query=whole_file("signal(", "signal (", "sigaction", "sigset("),
    category="concurrency",
    cwe=(364,),
    confidence=0.75,
    severity="medium",
    suggestion="Reset or block the signal before '{pointer}' is changed.",
)
def object_freed_behind_signal_handler(whole: WholeUnit) -> Iterator[Report]:
    shared = {handler.name: _pointers(handler, whole) for handler, _ in handlers(whole)}
    if not any(shared.values()):
        return
    for function in whole.mentioning(b"sig"):
        if function.name not in shared:
            yield from _changes(function, shared)


def _pointers(handler: Function, whole: WholeUnit) -> set[str]:
    """Return the global pointers that a handler uses."""
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
            place = _changed_pointer(call)
            active = _active(function, installed, call.node)
            if place is None or active is None or text(place) not in shared.get(active[1], ()):
                continue
            if function.variable(text(place), place.start_byte) is not None:
                continue
            yield Report(
                call.node,
                "'{pointer}' is freed while the signal handler '{handler}' may still use it."
                if call.name in RELEASES
                else "'{pointer}' is assigned while the signal handler '{handler}' may use the "
                "uninitialised memory.",
                confidence=0.75 if call.name in RELEASES else 0.5,
                pattern=call.name,
                pointer=text(place),
                handler=active[1],
                causes=[(active[0].node, "Signal handler installed here.")],
            )


def _changed_pointer(call: Call) -> Node | None:
    """Return the pointer that a call frees, or the one its allocation is stored in."""
    place = call.arg(0) if call.name in RELEASES else None
    if call.name in ALLOCATES:
        place = call.target
    place = None if place is None else bare(place)
    return place if place is not None and place.type == "identifier" else None


def _active(
    function: Function, installed: list[tuple[Call, str]], place: Node
) -> tuple[Call, str] | None:
    """Return the last installation or masking of a handler on the path to a place."""
    for call, handler in reversed(installed):
        if same_path(function, call.node, place):
            return call, handler
    return None
