"""Non-reentrant time or error function.

## What it does
Finds `localtime`, `gmtime`, `ctime`, `asctime` and `strerror`, with higher confidence in files
that use threads. The `_r` variants write to a buffer of the caller.

## Why is this bad?
The result is in static storage. The next call, also from another thread or inside a library,
overwrites it while it is still in use: wrong times in logs, corrupted text, in the worst case an
out-of-bounds read.

## Example
```c
struct tm *parts = localtime(&now);
```

Use instead:
```c
struct tm buffer;
struct tm *parts = localtime_r(&now, &buffer);
```

## References
- CWE-663: Use of a Non-reentrant Function in a Concurrent Context
- SEI CERT C CON33-C: Avoid race conditions when using library functions
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.jsec.base.rule import Report, Rewrite, functions, rule
from jarvis_ls.jsec.local.c.layout import add_before

BUFFERS = {
    "localtime": "struct tm {name}",
    "gmtime": "struct tm {name}",
    "ctime": "char {name}[26]",
    "asctime": "char {name}[26]",
    "strerror": "",
}
THREADS = frozenset(
    {
        "pthread.h",
        "threads.h",
        "thread",
        "mutex",
        "future",
        "QThread",
        "boost/thread.hpp",
    }
)


@rule(
    query=functions(calling=BUFFERS),
    category="thread_safety",
    cwe=(663,),
    confidence=0.5,
    severity="medium",
    suggestion="Use '{name}_r' with a buffer of the caller.",
    fixable=True,
)
def shared_time_buffer(function: Function) -> Iterator[Report]:
    threads = not THREADS.isdisjoint(function.unit.facts.includes)
    texts = 0
    for call in function.calls:
        if call.name not in BUFFERS or call.is_method or call.name in function.unit.facts.defined:
            continue
        if call.name == "strerror":
            texts += 1
            if not threads or texts > 1:
                continue
        yield Report(
            call.node,
            "'{name}' is not reentrant: another thread may overwrite its static result.",
            confidence=0.5 if threads and call.name != "strerror" else 0.3,
            pattern=call.name,
            name=call.name,
            fix=_with_own_buffer(call),
        )


def _with_own_buffer(call: Call) -> Rewrite | None:
    """Return the fix of `type *p = localtime(t);` in a block: a buffer declared before it."""
    target, declaration = call.target, call.node.parent
    if declaration is not None and declaration.type == "init_declarator":
        declaration = declaration.parent
    if (
        target is None
        or declaration is None
        or declaration.type != "declaration"
        or declaration.parent is None
        or declaration.parent.type != "compound_statement"
        or "windows.h" in call.unit.facts.includes
        or not BUFFERS[call.name]
        or call.written != call.name
        or len(call.arguments) != 1
        or "static" in text(declaration).split("=")[0]
    ):
        return None
    callee = field(call.node, "function")
    assert callee is not None
    buffer = f"{text(target)}_buffer"
    if call.function is None or call.function.uses(buffer):
        return None
    address = buffer if call.name in ("ctime", "asctime") else f"&{buffer}"
    end = call.arguments[0].end_byte
    declared = BUFFERS[call.name].format(name=buffer) + ";"
    return Rewrite(
        "Use '{name}_r' with a local buffer",
        [
            *add_before(call.function, declaration, [declared]),
            (callee, f"{call.name}_r"),
            ((end, end), f", {address}"),
        ],
        name=call.name,
    )
