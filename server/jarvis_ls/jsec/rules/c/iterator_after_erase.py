"""Iterator is used after erase().

## What it does
Finds `it->…` and `*it` that follow `container.erase(it)` on the same line of execution, with no new
value in between.

## Why is this bad?
erase() destroys the element and invalidates the iterator: the access reads memory that was freed.

## Example
```cpp
tasks.erase(it);
return it->second;
```

Use instead:
```cpp
auto task = it->second;
tasks.erase(it);
return task;
```

## References
- CWE-416: Use After Free
- CWE-672: Operation on a Resource after Expiration or Release
- SEI CERT C++ CTR51-CPP
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, methods, rule
from jarvis_ls.jsec.local.c.next_use import next_mention


@rule(
    query=methods("erase"),
    category="memory_mgmt",
    cwe=(416, 672),
    confidence=0.85,
    only="cpp",
    suggestion="Copy what is needed before erase(), or continue with the iterator it returns.",
)
def iterator_after_erase(call: Call) -> Iterator[Report]:
    iterator = call.arg(0)
    if iterator is None or iterator.type != "identifier" or len(call.arguments) > 1:
        return
    user = call.node.parent
    if user is None or user.type != "expression_statement":
        return
    use = next_mention(call.unit, call.item, call.node, text(iterator))
    if use is None or use.does != "dereference":
        return
    yield Report(
        use.node,
        "'{iterator}' is used after erase() invalidated it.",
        confidence=None if use.certain else 0.6,
        pattern="erase",
        iterator=text(iterator),
        causes=[(call.node, "Erased here.")],
    )
