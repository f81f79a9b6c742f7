"""Elements of an array are freed, the array is not.

## What it does
Finds functions that free what is in each element of `object->array` and then `object` itself, but
never the array.

## Why is this bad?
Nothing leads to the array any more: its memory is lost each time.

## Example
```c
for (i = 0; i < list->count; i++)
    free(list->names[i].text);
free(list);
```

Use instead:
```c
for (i = 0; i < list->count; i++)
    free(list->names[i].text);
free(list->names);
free(list);
```

## References
- CWE-401: Missing Release of Memory after Effective Lifetime
- SEI CERT C MEM31-C: Free dynamically allocated memory when no longer needed
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.lengths import holds
from jarvis_ls.jsec.local.guards import enclosing_loop

_RELEASES = re.compile(r"(?i)free\w*$|_(?:unref|destroy|delete|release)$")
_ELEMENT = re.compile(r"\(?&?\(?((\w+)->(\w+))\s*\[")


def _frees_elements(function: Function) -> bool:
    return holds(function, b"->") and holds(function, b"[")


@rule(
    query=functions(containing=("ree",), when=_frees_elements),
    category="memory_mgmt",
    cwe=(401,),
    confidence=0.55,
    severity="low",
    suggestion="Free '{array}' before '{owner}'.",
)
def member_array_never_freed(function: Function) -> Iterator[Report]:
    releases = [call for call in function.calls if _RELEASES.search(call.written)]
    whole = {text(call.arg(0)): call for call in releases if len(call.arguments) == 1}
    seen: set[str] = set()
    for call in releases:
        match = _ELEMENT.match(text(call.arg(0)))
        if match is None or match[2] not in whole or enclosing_loop(call.node, function) is None:
            continue
        array, owner, member = match.groups()
        release = whole[owner]
        if array in seen or release.node.start_byte < call.node.start_byte:
            continue
        seen.add(array)
        if _is_pointer(function, member) and not _is_passed_on(function, array, owner, release):
            yield Report(
                release.node,
                "'{array}' is not freed: only its elements and '{owner}' are.",
                pattern=release.name,
                array=array,
                owner=owner,
                causes=[(call.node, "Its elements are freed here.")],
            )


def _is_pointer(function: Function, member: str) -> bool:
    """Return whether a member is a pointer wherever one has this name."""
    declared = function.unit.facts.fields.get(member, ())
    return bool(declared) and all(each.pointers and not each.arrays for each in declared)


def _is_passed_on(function: Function, array: str, owner: str, release: Call) -> bool:
    """Return whether the array itself is given to something, or its owner to another function."""
    for call in function.calls:
        for argument in call.arguments:
            written = text(argument).replace(" ", "")
            if written in (array, f"&{array}", f"*{array}") or written == f"&{owner}":
                return True
            if written == owner and call.node != release.node:
                return True
    return any(
        text(node).replace(" ", "").endswith(f"={array}") for node in function.nodes("assign")
    )
