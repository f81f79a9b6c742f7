"""A buffer is cleared in a way the compiler may leave out.

## What it does
Finds `memset` and `bzero` of a local buffer, or of memory that is freed next, that nothing reads
afterwards; where names or calls speak of secrets with more confidence.

## Why is this bad?
Nobody can see the effect of such a `memset`, so optimising compilers remove it. The password stays
in memory, in swap and in core dumps.

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

from jarvis_ls.codeintel.code import Call, Function, bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.c.allocation import RELEASES
from jarvis_ls.jsec.c.credentials import secret_argument
from jarvis_ls.jsec.c.mentions import MANY, named
from jarvis_ls.jsec.c.words import names_key
from jarvis_ls.jsec.constants import constant
from jarvis_ls.jsec.guards import enclosing_loop
from jarvis_ls.jsec.memo import once_per_function
from jarvis_ls.jsec.rule import Report, Rewrite, calls, rule

SETTERS = frozenset({"memset", "wmemset"})
_MOST_LATER = 8
"""Places behind the call that are looked at."""


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
    later = list(islice(named(function, name, MANY, call.node.end_byte), _MOST_LATER + 1))
    freed = _is_freed_next(function, later, name)
    if (later and not freed) or not (variable.is_array or freed):
        return
    if not function.uses(name, variable.node.end_byte, call.node.start_byte):
        return  # cleared before first use: not about secrets
    secret = names_key(name) or _is_secret(function, call, name)
    if not secret and not variable.is_array:
        return
    yield Report(
        call.node,
        "Nobody reads '{buffer}' after '{name}': the compiler may leave the call out.",
        confidence=0.8 if secret else 0.45,
        pattern=call.name,
        buffer=name,
        name=call.written,
        fix=_explicit(call, name),
    )


def _value(call: Call) -> int | None:
    given = call.arg(1)
    return 0 if text(given).lstrip("L") == "'\\0'" else constant(given, call.function)


def _is_freed_next(function: Function, later: list[Node], name: str) -> bool:
    """Whether all that happens to a pointer afterwards is that it is freed, or set."""
    if not later or len(later) > _MOST_LATER:
        return False
    ends = _frees(function).get(name, set())
    freed = any(use.start_byte in ends for use in later)
    return freed and all(use.start_byte in ends or _is_set(use) for use in later)


@once_per_function
def _frees(function: Function) -> dict[str, set[int]]:
    """By pointer, where it is written as the argument of a function that releases it."""
    found: dict[str, set[int]] = {}
    for call in function.calls:
        given = call.arg(0)
        if call.name in RELEASES and given is not None:
            found.setdefault(text(bare(given)), set()).add(bare(given).start_byte)
    return found


def _is_set(use: Node) -> bool:
    parent = use.parent
    return (
        parent is not None
        and parent.type == "assignment_expression"
        and field(parent, "left") == use
    )


def _is_secret(function: Function, call: Call, name: str) -> bool:
    """Whether the buffer is given to a function that takes a password or key."""
    return _secrets(function).get(name, call.node.start_byte) < call.node.start_byte


@once_per_function
def _secrets(function: Function) -> dict[str, int]:
    """By buffer, where it is first given to a function that takes a password or key."""
    found: dict[str, int] = {}
    for call in function.calls:
        given = secret_argument(call)
        if given is not None:
            found.setdefault(text(bare(given)).lstrip("&"), call.node.start_byte)
    return found


def _explicit(call: Call, name: str) -> Rewrite | None:
    size = call.arg(2 if call.name in SETTERS else 1)
    if size is None or call.name in ("ZeroMemory", "RtlZeroMemory", "wmemset"):
        return None
    return Rewrite("Use explicit_bzero", [(call.node, f"explicit_bzero({name}, {text(size)})")],
                   safe=False)  # fmt: skip
