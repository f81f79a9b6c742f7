"""Object deletes itself (delete this).

## What it does
Reports `delete this`.

## Why is this bad?
It is only valid for objects that are always created with `new`, are never members or locals, and
are not used afterwards, not even in the rest of the function. Nothing enforces this.

## Example
```cpp
void Session::close()
{
    socket.shutdown();
    delete this;
}
```

Use instead:
```cpp
void Server::close(Session &session)
{
    session.socket.shutdown();
    sessions.erase(session.id);  // holds std::unique_ptr<Session>
}
```

## References
- CWE-416: Use After Free
- CWE-590: Free of Memory not on the Heap
- ISO C++ FAQ: Is it legal (and moral) for a member function to say delete this?
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule

_COUNTING = ("release", "unref", "deref", "decref", "destroy")


@rule(
    query=nodes(cpp="(delete_expression) @site"),
    category="memory_mgmt",
    cwe=(416, 590),
    confidence=0.45,
    only="cpp",
    severity="medium",
    suggestion="Let an owner, such as a std::unique_ptr, delete the object.",
)
def delete_this(site: Site) -> Iterator[Report]:
    if not any(child.type == "this" for child in site.node.named_children):
        return
    function = site.function
    used_after = False
    if function is not None:
        if any(word in function.name.lower() for word in _COUNTING):
            return
        following = site.node.parent.next_named_sibling if site.node.parent is not None else None
        used_after = following is not None and (
            re.search(r"\bthis\b", text(following)) is not None or _calls_plainly(following)
        )
    yield Report(
        site.node,
        "'this' is used after 'delete this'."
        if used_after
        else "'delete this' is undefined for objects on the stack or in a container.",
        confidence=0.65 if used_after else 0.45,
        pattern="delete this",
    )


def _calls_plainly(statement: Node) -> bool:
    """Return whether a statement is a call without receiver, which may be that of a method."""
    call = statement.named_children[0] if statement.named_child_count else None
    callee = field(call, "function") if call is not None else None
    return callee is not None and callee.type == "identifier"
