"""Sensitive data not cleared before release.

## What it does
Finds `free` and `realloc` of a pointer that holds a password or key, judged by its name or an
earlier call, without a call that clears it; and local buffers with a login password that are not
cleared when the function returns.

## Why is this bad?
`free` leaves the contents in place; `realloc` may copy them and leave the old block as it was.
The next owner of the memory, a core dump or a bug such as Heartbleed discloses them.

## Example
```c
log_in(user, password);
free(password);
```

Use instead:
```c
log_in(user, password);
explicit_bzero(password, strlen(password));
free(password);
```

## References
- CWE-226: Sensitive Information in Resource Not Removed Before Reuse
- CWE-244: Improper Clearing of Heap Memory Before Release ('Heap Inspection')
- SEI CERT C MEM03-C: Clear sensitive information stored in reusable resources
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import bare, text
from jarvis_ls.codeintel.variables import Variable
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.flow.library.c_functions import PASSWORDS
from jarvis_ls.jsec.local.c.credentials import secret_argument
from jarvis_ls.jsec.local.c.identifier_words import names_secret
from jarvis_ls.jsec.local.c.string_lengths import names_of

RELEASING = frozenset(
    {"free", "realloc", "g_free", "HeapFree", "LocalFree", "OPENSSL_free", "delete"}
)
CLEARING = ("memset", "bzero", "zero", "cleanse", "clear", "wipe", "memzero", "scrub", "burn")


@rule(
    query=functions(calling=(*RELEASING, *PASSWORDS)),
    category="secrets",
    cwe=(226, 244),
    confidence=0.55,
    severity="medium",
    suggestion="Clear the memory with 'explicit_bzero', 'OPENSSL_cleanse' or "
    "'SecureZeroMemory' first.",
)
def secret_released_uncleared(function: Function) -> Iterator[Report]:
    secrets: set[str] = set()
    cleared: set[str] = set()
    for call in function.calls:
        if (given := secret_argument(call)) is not None and call.name in PASSWORDS:
            secrets.add(text(bare(given)))
        if any(word in call.name.lower() for word in CLEARING):
            cleared.update(text(bare(a)) for a in call.arguments)
        name = _pointer_released_by(call)
        if not name or name in cleared:
            continue
        if name in secrets or names_secret(name.rpartition(">")[2].rpartition(".")[2]):
            yield Report(
                call.node,
                "'{secret}' is released without clearing the secret it holds.",
                confidence=0.55 if name in secrets else 0.4,
                pattern=call.name,
                secret=name,
            )
    for call, name in _left_on_stack(function, cleared):
        yield Report(
            call.node,
            "'{secret}' is not cleared before the function returns.",
            confidence=0.4,
            pattern=call.name,
            secret=name,
        )


def _left_on_stack(function: Function, cleared: set[str]) -> Iterator[tuple[Call, str]]:
    """Yield logins with a password from a local array that is never cleared."""
    for call in function.calls:
        given = secret_argument(call) if call.name in PASSWORDS else None
        if given is None or cleared:
            continue
        for name in names_of(given, function):
            variable = function.variable(name, call.node.start_byte)
            if variable is not None and _on_stack(variable) and len(function.uses(name)) > 2:
                yield call, name
                break


def _on_stack(variable: Variable) -> bool:
    if variable.is_parameter or variable.is_static:
        return False
    return variable.is_array or "lloca" in text(variable.initial).lower().replace("malloc", "")


def _pointer_released_by(call: Call) -> str:
    if call.name not in RELEASING or call.is_method:
        return ""
    argument = call.arg(2 if call.name == "HeapFree" else 0)
    return "" if argument is None else text(bare(argument))
