"""Result that may be negative is used as an index.

## What it does
Finds calls of functions of the file that return -1 for failure and an index otherwise, when the
result is an index with nothing in between that could test it.

## Why is this bad?
For what the function does not find, the access is before the start of the array.

## Example
```c
count[position_of(name)]++;
```

Use instead:
```c
int position = position_of(name);
if (position >= 0)
    count[position]++;
```

## References
- CWE-129: Improper Validation of Array Index
- CWE-124: Buffer Underwrite ('Buffer Underflow')
- CWE-127: Buffer Under-read
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text, use_of
from jarvis_ls.jsec.base.match_site import WholeUnit
from jarvis_ls.jsec.base.rule import Report, rule, whole_file
from jarvis_ls.jsec.local.c.buffer_sizes import index_of
from jarvis_ls.jsec.local.c.own_results import calls_of, negative_on_failure


@rule(
    query=whole_file("return -1", "return (-1)"),
    category="buffer_overflow",
    cwe=(129, 124, 127),
    confidence=0.55,
    severity="medium",
    suggestion="Test the result of {function}() before it is used as an index.",
)
def failure_result_as_index(whole: WholeUnit) -> Iterator[Report]:
    failing = negative_on_failure(whole)
    for call in calls_of(whole, failing) if failing else ():
        if _is_index(call):
            yield Report(
                call.node,
                "'{call}' may be -1, and is used as an index.",
                pattern=call.name,
                call=text(call.node)[:60],
                function=call.name,
            ).with_related([(failing[call.name], "-1 is returned here.")])


def _is_index(call: Call) -> bool:
    """Return whether the result itself is the index of an access."""
    user = use_of(call.node)
    if user is not None and user.type == "subscript_argument_list":
        user = user.parent
    if user is None or user.type != "subscript_expression":
        return False
    index = index_of(user)
    return index is not None and index.start_byte <= call.node.start_byte < index.end_byte
