"""Length of new[] controlled by untrusted input.

## What it does
Finds `new T[n]` where `n` is untrusted input in the same function (`std::cin >> n`, `atoi`,
`recv`, ...) and has no upper bound check.

## Why is this bad?
A single request can exhaust the memory of the machine, or end the program with an uncaught
`std::bad_alloc`. A negative length throws too.

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

from jarvis_ls.codeintel.nodes import bare, field, text
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, flow_verdicts, nodes, rule
from jarvis_ls.jsec.local.c.inputs import number_source
from jarvis_ls.jsec.local.c.range_tests import bounds


@rule(
    query=nodes(cpp="(new_expression) @site"),
    category="input_validation",
    cwe=(789, 770),
    confidence=0.8,
    suggestion="Check the length against an upper limit before allocating.",
    only="cpp",
)
@flow_verdicts(faults=("excessive-allocation",))
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
        "Length '{size}' of 'new[]' is untrusted input from '{source}' without an upper bound "
        "check.",
        confidence=source.weigh(0.8),
        pattern="new",
        size=text(length),
        source=source.name,
        causes=[(source.node, "Untrusted input enters here.")],
    )
