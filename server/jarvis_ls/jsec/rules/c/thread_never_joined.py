"""Thread neither joined nor detached.

## What it does
Finds `pthread_create` and `thrd_create` whose thread is neither joined nor detached, and whose
identifier is not passed or stored elsewhere, and local `std::thread` objects that are destroyed
while joinable.

## Why is this bad?
The stack and the result of a finished thread are not released until it is joined or detached: a
server that starts a thread for each request runs out of memory. The destructor of a joinable
`std::thread` calls `std::terminate`.

## Example
```c
pthread_t worker;
pthread_create(&worker, NULL, serve, request);
```

Use instead:
```c
pthread_t worker;
if (pthread_create(&worker, NULL, serve, request) == 0)
    pthread_detach(worker);
```

## References
- CWE-772: Missing Release of Resource after Effective Lifetime
- CWE-404: Improper Resource Shutdown or Release
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, field, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.match_site import WholeUnit
from jarvis_ls.jsec.base.rule import Report, rule, whole_file

MAX_USES = 40
CREATING = {"pthread_create": 2, "thrd_create": 1}
_DETACHES_ITSELF = re.compile(
    rb"(?:pthread_detach|thrd_detach)\s{0,8}\(\s{0,8}(?:pthread_self|thrd_current)"
)


@rule(
    query=whole_file("pthread_create", "thrd_create", "std::thread", "boost::thread"),
    category="resource_leak",
    cwe=(772, 404),
    confidence=0.5,
    severity="medium",
    suggestion="Join the thread before its result is needed, or detach it after its creation.",
)
def thread_never_joined(whole: WholeUnit) -> Iterator[Report]:
    detaching = {
        function.name
        for function in whole.mentioning(b"detach")
        if _DETACHES_ITSELF.search(function.node.text or b"")
    }
    for function in whole.mentioning(b"_create", b"thread"):
        source = function.node.text or b""
        if b"_create" in source:
            for call in function.calls:
                if call.name in CREATING and _is_lost(function, call, detaching):
                    yield Report(
                        call.node,
                        "Thread '{thread}' is neither joined nor detached.",
                        pattern=call.name,
                        thread=text(call.arg(0)).lstrip("& "),
                        confidence=0.4 if function.name == "main" else 0.5,
                    )
        if function.unit.language == "cpp" and b"thread" in source:
            for variable in _lost_objects(function):
                yield Report(
                    variable.node,
                    "'{thread}' is destroyed while joinable, which calls std::terminate.",
                    pattern="std::thread",
                    thread=variable.name,
                    confidence=0.65,
                ).with_severity("high")


def _is_lost(function: Function, call: Call, detaching: set[str]) -> bool:
    attributes = text(call.arg(1)) if call.name == "pthread_create" else "NULL"
    if attributes not in ("NULL", "0", "nullptr"):
        return False
    target = bare(call.arg(0) or call.node)
    if target.type != "pointer_expression":
        return False
    name = field(target, "argument")
    if name is None or name.type != "identifier":
        return False
    variable = function.variable(text(name), name.start_byte)
    if variable is None or variable.is_parameter or variable.is_static or variable.pointers:
        return False
    uses = function.uses(variable.name)
    if len(uses) > MAX_USES or any(
        use.id not in (name.id, variable.node.id) and not _is_creation(use) for use in uses
    ):
        return False
    started = text(call.arg(CREATING[call.name])).lstrip("& ").rpartition(")")[2]
    return started not in detaching


def _is_creation(use: Node) -> bool:
    """Return whether this is `&t` as the first argument of another creation."""
    address = use.parent
    outer = use_of(address) if address is not None else None
    called = outer.parent if outer is not None and outer.type == "argument_list" else None
    return text(field(called, "function")) in CREATING


def _lost_objects(function: Function) -> Iterator[Variable]:
    for variables in function.variables.values():
        for variable in variables:
            if variable.type not in ("std::thread", "thread", "boost::thread"):
                continue
            if variable.pointers or variable.arrays or variable.is_parameter or variable.is_static:
                continue
            declarator = variable.node.parent
            if declarator is None or declarator.type not in (
                "init_declarator",
                "function_declarator",
            ):
                continue
            if len(function.uses(variable.name)) == 1:
                yield variable
