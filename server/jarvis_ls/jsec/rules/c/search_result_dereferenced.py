"""Result of a search function is dereferenced without a null check.

## What it does
Finds functions of the file that return an element from inside of a loop and NULL behind it, and
calls of them whose result is dereferenced before anything tests it.

## Why is this bad?
What is looked for need not be there, and its name often comes from outside. The program crashes, or
accesses memory at a small address that an attacker may choose.

## Example
```c
return find(list, key)->value;
```

Use instead:
```c
struct node *found = find(list, key);
return found != NULL ? found->value : -1;
```

## References
- CWE-690: Unchecked Return Value to NULL Pointer Dereference
- CWE-476: NULL Pointer Dereference
- SEI CERT C EXP34-C: Do not dereference null pointers
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import field, operator_of, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import WholeUnit
from jarvis_ls.jsec.base.rule import Report, rule, whole_file
from jarvis_ls.jsec.local.c.next_use import use_before_test
from jarvis_ls.jsec.local.c.own_results import calls_of, is_result_tested, null_on_failure

_MOST = 400
"""Calls examined in a file."""


@rule(
    query=whole_file("return NULL", "return nullptr"),
    category="error_handling",
    cwe=(690, 476),
    confidence=0.5,
    severity="medium",
    suggestion="Check the return value of {function}() for NULL before using it.",
)
def search_result_dereferenced(whole: WholeUnit) -> Iterator[Report]:
    searches = null_on_failure(whole)
    if not searches:
        return
    tested: Counter[str] = Counter()
    unseen: list[tuple[Call, Node]] = []
    for call in islice(calls_of(whole, searches), _MOST):
        use = call.node if _is_followed(call) else use_before_test(call)
        if use is not None:
            unseen.append((call, use))
        elif is_result_tested(call):
            tested[call.name] += 1
    untested = Counter(call.name for call, _ in unseen)
    for call, use in unseen:
        habit = tested[call.name] - untested[call.name]
        yield Report(
            use,
            "'{value}' is dereferenced without a null check although {function}() may return NULL.",
            confidence=0.6 if habit > 0 else 0.5 if untested[call.name] == 1 else 0.35,
            pattern=call.name,
            value=text(call.target) or text(call.node)[:60],
            function=call.name,
            causes=[(call.node, "Returned here, possibly NULL.")] if use != call.node else (),
        )


def _is_followed(call: Call) -> bool:
    """Return whether the result is dereferenced in the same expression."""
    user = use_of(call.node)
    if user is None:
        return False
    if user.type == "field_expression":
        return operator_of(user) == "->"
    if user.type == "subscript_expression":
        return field(user, "argument") == call.node
    return user.type == "pointer_expression" and operator_of(user) == "*"
