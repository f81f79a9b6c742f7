"""Deletion of a void pointer.

## What it does
Reports `delete` of a variable declared `void *`, or of a cast to it.

## Why is this bad?
The compiler cannot know which destructor to call, so none is called: resources of the object leak,
and the behaviour is undefined.

## Example
```cpp
void destroy(void *session)
{
    delete session;
}
```

Use instead:
```cpp
void destroy(void *session)
{
    delete static_cast<Session *>(session);
}
```

## References
- CWE-762: Mismatched Memory Management Routines
- CWE-404: Improper Resource Shutdown or Release
- SEI CERT C++ EXP57-CPP: Do not cast or delete pointers to incomplete classes
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.constants import declaration


@rule(
    query=nodes(cpp="(delete_expression) @site"),
    category="memory_mgmt",
    cwe=(762, 404),
    confidence=0.88,
    only="cpp",
    suggestion="Cast '{pointer}' to its original type before deleting it.",
)
def delete_of_void_pointer(site: Site) -> Iterator[Report]:
    if not site.node.named_child_count or site.node.has_error:
        return  # a cast right behind `delete[]` looks like a lambda
    value = site.node.named_children[-1]
    if value.type == "cast_expression":
        kind = text(field(value, "type"))
        void = "void" in kind.split("*")[0].split() and kind.count("*") == 1
    else:
        declared = declaration(value, site.function)
        void = declared is not None and declared.pointers == 1 and "void" in declared.type.split()
    if void:
        yield Report(
            site.node,
            "Deleting the void pointer '{pointer}' is undefined and calls no destructor.",
            pattern="delete",
            pointer=text(value)[:60],
        )
