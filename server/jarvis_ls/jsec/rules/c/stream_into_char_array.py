"""Unbounded stream extraction into a character array.

## What it does
Finds `std::cin >> buffer` (and `>>` from file streams) where `buffer` is an array of `char` or
`wchar_t` and neither `std::setw` nor `width()` limits the length.

## Why is this bad?
Before C++20 the operator writes the whole word, however long it is: a buffer overflow.

## Example
```cpp
char word[20];
std::cin >> word;
```

Use instead:
```cpp
std::string word;
std::cin >> word;
```

## References
- CWE-120: Buffer Copy without Checking Size of Input
- CWE-242: Use of Inherently Dangerous Function
- SEI CERT C++ STR50-CPP: Guarantee that storage for strings has sufficient space
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, nodes, rule
from jarvis_ls.jsec.local.c.buffer_sizes import Extent, extent
from jarvis_ls.jsec.local.constants import declaration


def _has_name(node: Node) -> bool:
    right = field(node, "right")
    return right is not None and right.type == "identifier"


@rule(
    query=nodes(cpp="(binary_expression) @site", operators=(">>",), when=_has_name),
    category="unsafe_api",
    cwe=(120, 242, 676),
    confidence=0.85,
    suggestion="Read into a std::string, or limit the length with std::setw.",
    only="cpp",
    fixable=True,
)
def stream_into_char_array(site: Site) -> Iterator[Report]:
    target, stream, function = field(site.node, "right"), field(site.node, "left"), site.function
    if target is None or stream is None or function is None or not _is_stream(stream, function):
        return
    memory = extent(target, function)
    declared = declaration(target, function)
    if memory is None or declared is None or "char" not in declared.type:
        return
    if "setw" in text(stream) or _has_width(function, site.node):
        return
    yield Report(
        site.node,
        "'{stream}' writes to '{target}' ({room} bytes) without a length limit.",
        pattern=">>",
        stream=text(stream),
        target=text(target),
        room=str(memory.size.count),
        fix=_rewrite(target, memory),
    )


def _is_stream(left: Node, function: Function) -> bool:
    while left.type == "binary_expression" and operator_of(left) == ">>":
        inner = field(left, "left")
        if inner is None:
            return False
        left = inner
    name = text(bare(left))
    declared = declaration(left, function)
    return name.rpartition("::")[2] in ("cin", "wcin") or (
        declared is not None and "stream" in declared.type
    )


def _has_width(function: Function, at: Node) -> bool:
    """Return whether `width(n)` is called on a stream directly before."""
    calls = [c for c in function.calls[:512] if c.node.start_byte < at.start_byte]
    return any(c.is_method and c.name == "width" for c in calls[-2:])


def _rewrite(target: Node, memory: Extent) -> Rewrite | None:
    if memory.kind != "array" or text(memory.node) != text(target):
        return None
    at = target.start_byte
    return Rewrite(
        "Limit the length with std::setw", [((at, at), f"std::setw(sizeof({text(target)})) >> ")]
    )
