"""How many elements `new T[n]` makes is up to whoever gives the input.

## What it does
Finds `new T[n]` where `n` comes from input in the same function (`std::cin >> n`, `atoi`,
`recv`, ...) and has no upper limit compared before.

## Why is this bad?
A single request can take all memory of the machine, and the exception that follows ends the
program. A negative number is as large as any.

## Example
```cpp
std::cin >> n;
char *line = new char[n];
```

Use instead:
```cpp
std::cin >> n;
if (n > max_length)
    return false;
std::vector<char> line(n);
```

## References
- CWE-789: Memory Allocation with Excessive Size Value
- CWE-770: Allocation of Resources Without Limits or Throttling
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import bare, field, text
from jarvis_ls.jsec.c.bounds import bounds
from jarvis_ls.jsec.c.inputs import number_source
from jarvis_ls.jsec.rule import Report, nodes, rule
from jarvis_ls.jsec.site import Site


@rule(
    query=nodes(cpp="(new_expression) @site"),
    category="input_validation",
    cwe=(789, 770),
    confidence=0.8,
    suggestion="Compare the number with the most that makes sense before allocating.",
    only="cpp",
    answered=("excessive-allocation",),
)
def array_new_size_from_input(site: Site) -> Iterator[Report]:
    length, function = field(field(site.node, "declarator"), "length"), site.function
    if length is None or function is None:
        return
    length = bare(length)
    if length.type == "binary_expression":
        left = field(length, "left")
        length = bare(left) if left is not None else length
    source = number_source(length, function)
    if source is None or bounds(function, text(length), site.node.start_byte).upper:
        return
    yield Report(
        site.node,
        "'{size}' decides how much is allocated, and comes from '{source}'.",
        confidence=source.weigh(0.8),
        pattern="new",
        size=text(length),
        source=source.name,
        causes=[(source.node, "The number comes from here.")],
    )
