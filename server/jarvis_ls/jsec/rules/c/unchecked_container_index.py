"""Container index without a bounds check.

## What it does
Reports `v[i]` on a local or parameter `std::vector`, `deque`, `array` or `string` when `i` is a
parameter of the function that no condition bounds.

## Why is this bad?
`operator[]` does not check bounds. An index from a message or a file reads or writes memory at an
attacker-controlled offset.

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

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, text
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, nodes, rule
from jarvis_ls.jsec.local.c.containers import is_indexed
from jarvis_ls.jsec.local.guards import is_bounded, written_between


@rule(
    query=nodes(cpp="(subscript_expression) @site"),
    category="buffer_overflow",
    cwe=(129, 125),
    confidence=0.45,
    only="cpp",
    severity="medium",
    suggestion="Check '{index}' against {container}.size(), or use {container}.at({index}).",
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
    known = _handled_cache(function)
    if number.name not in known:
        known[number.name] = _is_handled(function, number.name)
    if known[number.name]:
        return
    yield Report(
        site.node,
        "'{index}' is used as an index of '{container}' without a bounds check.",
        pattern="[]",
        index=number.name,
        container=container.name,
        fix=Rewrite(
            "Use {container}.at({index})",
            [(indices, f".at({text(indices)[1:-1].strip()})")],
            container=container.name,
            index=number.name,
        ),
    )


@once_per_function
def _handled_cache(_function: Function) -> dict[str, bool]:
    """Return the results of `_is_handled` in a function, by name."""
    return {}


def _is_handled(function: Function, name: str) -> bool:
    """Return whether the function compares or assigns the index anywhere."""
    return is_bounded(function, name) or written_between(function, name, 0, function.end)
