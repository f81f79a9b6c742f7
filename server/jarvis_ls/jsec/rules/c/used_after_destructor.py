"""Object is used after a function that is named as its destructor.

## What it does
Finds calls such as `uri_free(uri)`, of functions that are not in the file, behind which `uri` is
given on or dereferenced without a new value.

## Why is this bad?
What was freed may hold other data by then: reading it gives anything, and writing it changes
something else.

## Example
```c
ret = session_open(&session, uri);
uri_free(uri);
if (ret == 0)
    ret = session_login(&session, uri);
```

Use instead:
```c
ret = session_open(&session, uri);
if (ret == 0)
    ret = session_login(&session, uri);
uri_free(uri);
```

## References
- CWE-416: Use After Free
- SEI CERT C MEM30-C: Do not access freed memory
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import ancestors, field, operator_of, text, use_of
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.allocation import RELEASES
from jarvis_ls.jsec.local.guards import same_path, written_between

_DESTROYS = re.compile(r"[a-z]\w*_(?:free|destroy|dispose)|[a-z]\w*[a-z]Free|[A-Z]\w+_free")
_MOST = 40
_LOOPS = frozenset({"for_statement", "while_statement", "do_statement"})


@rule(
    query=functions(containing=("free(", "free (", "destroy", "dispose", "Free")),
    category="memory_mgmt",
    cwe=(416, 825),
    confidence=0.5,
    severity="medium",
    suggestion="Call '{call}' after the last use of '{pointer}'.",
)
def used_after_destructor(function: Function) -> Iterator[Report]:
    for release in function.calls[: 10 * _MOST]:
        pointer = release.arg(0)
        if pointer is None or pointer.type != "identifier" or len(release.arguments) != 1:
            continue
        if not _DESTROYS.fullmatch(release.written) or release.name in RELEASES:
            continue
        if release.name in function.unit.facts.defined:  # what it does is known
            continue
        variable = function.variable(text(pointer), pointer.start_byte)
        if variable is None or not variable.is_pointer:
            continue
        use = _use_behind(function, release, text(pointer))
        if use is not None:
            yield Report(
                use,
                "'{pointer}' is used after '{call}' destroyed it.",
                pattern=release.name,
                pointer=text(pointer),
                call=release.written,
                causes=[(release.node, "Destroyed here.")],
            )


def _use_behind(function: Function, release: Call, pointer: str) -> Node | None:
    """Return the first use behind a call, on a way from it, of a pointer that got no other value
    between."""
    end = release.node.end_byte
    for use in function.uses(pointer, end)[:_MOST]:
        if _ends_way(function, pointer, end, use.start_byte):
            return None
        if _is_use(use) and same_path(function, release.node, use):
            return use if not _may_repeat(release.node, use) else None
    return None


def _ends_way(function: Function, pointer: str, start: int, end: int) -> bool:
    """Return whether a pointer gets another value, or a label is passed, between two bytes."""
    if written_between(function, pointer, start, end + len(pointer)):
        return True
    return any(start < label.start_byte < end for label in function.nodes("label"))


def _is_use(node: Node) -> bool:
    """Return whether a name is dereferenced or given to a function."""
    above = node.parent
    if above is None:
        return False
    if above.type in ("field_expression", "subscript_expression"):
        return field(above, "argument") == node
    if above.type == "pointer_expression":
        return operator_of(above) == "*"
    user = use_of(node)
    if user is None or user.type != "argument_list" or user.parent is None:
        return False
    return "%p" not in text(user)


def _may_repeat(release: Node, use: Node) -> bool:
    """Return whether a release is in a loop that the use is not in."""
    for above in ancestors(release):
        if above.type in _LOOPS:
            return not above.start_byte <= use.start_byte < above.end_byte
    return False
