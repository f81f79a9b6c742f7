"""A container is indexed with a number nobody compared with its size.

## What it does
Reports `v[i]` on a local or parameter `std::vector`, `deque`, `array` or `string` when `i` is a
parameter of the function that no condition bounds.

## Why is this bad?
`[]` does not check. An index from a message or a file reads or overwrites memory at a distance
of the sender's choice.

## Example
```cpp
int pick(const std::vector<int> &items, size_t index)
{
    return items[index];
}
```

Use instead:
```cpp
int pick(const std::vector<int> &items, size_t index)
{
    return items.at(index);
}
```

## References
- CWE-129: Improper Validation of Array Index
- CWE-125: Out-of-bounds Read
- SEI CERT C++ CTR50-CPP: Guarantee that container indices and iterators are within the valid range
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Function, bare, field, text
from jarvis_ls.jsec.c.containers import is_indexed
from jarvis_ls.jsec.guards import bounded, written_between
from jarvis_ls.jsec.memo import once_per_function
from jarvis_ls.jsec.rule import Report, Rewrite, nodes, rule
from jarvis_ls.jsec.site import Site


@rule(
    query=nodes(cpp="(subscript_expression) @site"),
    category="buffer_overflow",
    cwe=(129, 125),
    confidence=0.45,
    only="cpp",
    severity="medium",
    suggestion="Compare '{index}' with {container}.size(), or use {container}.at({index}).",
    fixable=True,
)
def unchecked_container_index(site: Site) -> Iterator[Report]:
    function, argument = site.function, field(site.node, "argument")
    indices = field(site.node, "indices")
    if argument is None or argument.type != "identifier" or function is None:
        return
    if indices is None or indices.named_child_count != 1:
        return
    container = function.variable(text(argument), site.node.start_byte)
    if container is None or container.pointers or not is_indexed(container.type):
        return
    index = bare(indices.named_children[0])
    if index.type != "identifier":
        return
    number = function.variable(text(index), index.start_byte)
    if number is None or not number.is_parameter or number.pointers:
        return
    known = _known(function)
    if number.name not in known:
        known[number.name] = _is_handled(function, number.name)
    if known[number.name]:
        return
    yield Report(
        site.node,
        "'{index}' indexes '{container}' and nothing compares it with the size.",
        pattern="[]",
        index=number.name,
        container=container.name,
        fix=Rewrite("Use {container}.at({index})",
                    [(indices, f".at({text(indices)[1:-1].strip()})")],
                    container=container.name, index=number.name),
    )  # fmt: skip


@once_per_function
def _known(_function: Function) -> dict[str, bool]:
    """What `_is_handled` said of the numbers of a function."""
    return {}


def _is_handled(function: Function, name: str) -> bool:
    """Whether the function compares or changes the number anywhere."""
    return bounded(function, name) or written_between(function, name, 0, function.end)
