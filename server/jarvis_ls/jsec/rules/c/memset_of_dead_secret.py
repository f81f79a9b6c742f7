"""Compiler removal of code to clear a buffer.

## What it does
Finds `memset` and `bzero` of a local buffer, or of memory that is freed next, that is not read
afterwards. Confidence is higher where names or calls suggest secrets.

## Why is this bad?
Such a `memset` is a dead store, which optimising compilers remove. The password stays in memory,
in swap and in core dumps.

## Example
```c
char password[64];
read_password(password);
log_in(password);
memset(password, 0, sizeof password);
```

Use instead:
```c
explicit_bzero(password, sizeof password);
```

## References
- CWE-14: Compiler Removal of Code to Clear Buffers
- CWE-226: Sensitive Information in Resource Not Removed Before Reuse
- SEI CERT C MSC06-C: Beware of compiler optimizations
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, rule
from jarvis_ls.jsec.local.c.allocation import RELEASES
from jarvis_ls.jsec.local.c.credentials import secret_argument
from jarvis_ls.jsec.local.c.identifier_words import names_key
from jarvis_ls.jsec.local.c.statement_effects import MANY, identifiers_named
from jarvis_ls.jsec.local.constants import constant
from jarvis_ls.jsec.local.guards import enclosing_loop

SETTERS = frozenset({"memset", "wmemset"})
_MOST_LATER = 8
"""Uses after the call that are checked."""


@rule(
    query=calls("memset", "wmemset", "bzero", "ZeroMemory", "RtlZeroMemory"),
    category="secrets",
    cwe=(14, 226),
    confidence=0.8,
    severity="medium",
    suggestion="Use 'explicit_bzero', 'memset_s' or 'SecureZeroMemory', which are never removed.",
    fixable=True,
)
def memset_of_dead_secret(call: Call) -> Iterator[Report]:
    function, target = call.function, call.arg(0)
    if function is None or target is None or call.statement is None:
        return
    node = bare(target)
    if node.type != "identifier" or enclosing_loop(call.node, function) is not None:
        return
    if call.name in SETTERS and _value(call) != 0:
        return
    name = text(node)
    variable = function.variable(name, node.start_byte)
    if variable is None or variable.is_static or not (variable.is_array or variable.is_pointer):
        return
    later = list(
        islice(identifiers_named(function, name, MANY, call.node.end_byte), _MOST_LATER + 1)
    )
    freed = _is_freed_next(function, later, name)
    if (later and not freed) or not (variable.is_array or freed):
        return
    if not function.uses(name, variable.node.end_byte, call.node.start_byte):
        return  # cleared before its first use: initialisation
    secret = names_key(name) or _is_secret(function, call, name)
    if not secret and not variable.is_array:
        return
    yield Report(
        call.node,
        "'{name}' of '{buffer}' is a dead store that the compiler may remove.",
        confidence=0.8 if secret else 0.45,
        pattern=call.name,
        buffer=name,
        name=call.written,
        fix=_explicit(call, name),
    )


def _value(call: Call) -> int | None:
    argument = call.arg(1)
    return 0 if text(argument).lstrip("L") == "'\\0'" else constant(argument, call.function)


def _is_freed_next(function: Function, later: list[Node], name: str) -> bool:
    """Return whether a pointer is only freed, or assigned, afterwards."""
    if not later or len(later) > _MOST_LATER:
        return False
    ends = _frees(function).get(name, set())
    freed = any(use.start_byte in ends for use in later)
    return freed and all(use.start_byte in ends or _is_set(use) for use in later)


@once_per_function
def _frees(function: Function) -> dict[str, set[int]]:
    """Return by pointer the offsets at which it is passed to a function that releases it."""
    found: dict[str, set[int]] = {}
    for call in function.calls:
        argument = call.arg(0)
        if call.name in RELEASES and argument is not None:
            found.setdefault(text(bare(argument)), set()).add(bare(argument).start_byte)
    return found


def _is_set(use: Node) -> bool:
    parent = use.parent
    return (
        parent is not None
        and parent.type == "assignment_expression"
        and field(parent, "left") == use
    )


def _is_secret(function: Function, call: Call, name: str) -> bool:
    """Return whether the buffer is passed to a function that takes a password or key."""
    return _secrets(function).get(name, call.node.start_byte) < call.node.start_byte


@once_per_function
def _secrets(function: Function) -> dict[str, int]:
    """Return by buffer the offset at which it is first passed as a password or key."""
    found: dict[str, int] = {}
    for call in function.calls:
        argument = secret_argument(call)
        if argument is not None:
            found.setdefault(text(bare(argument)).lstrip("&"), call.node.start_byte)
    return found


def _explicit(call: Call, name: str) -> Rewrite | None:
    size = call.arg(2 if call.name in SETTERS else 1)
    if size is None or call.name in ("ZeroMemory", "RtlZeroMemory", "wmemset"):
        return None
    return Rewrite(
        "Replace with explicit_bzero",
        [(call.node, f"explicit_bzero({name}, {text(size)})")],
        safe=False,
    )
