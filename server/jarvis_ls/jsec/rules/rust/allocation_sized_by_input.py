"""Allocation size controlled by untrusted input in Rust.

## What it does
Finds `Vec::with_capacity(n)`, `vec![0; n]`, `reserve(n)` and `resize(n, …)` where `n` is parsed
or decoded from input and not checked before.

## Why is this bad?
A length field of four bytes can request four gigabytes. A few such messages exhaust the memory
and abort the process.

## Example
```rust
let length = reader.read_u32::<BigEndian>()? as usize;
let mut body = vec![0; length];
```

Use instead:
```rust
let length = reader.read_u32::<BigEndian>()? as usize;
if length > MAX_BODY { return Err(Error::TooLong); }
let mut body = vec![0; length];
```

## References
- CWE-789: Memory Allocation with Excessive Size Value
- CWE-770: Allocation of Resources Without Limits or Throttling
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.rust.guards import is_tested
from jarvis_ls.jsec.local.rust.shapes import arguments, is_qualified, macro_tokens
from jarvis_ls.jsec.local.rust.values import number_origin

_SHORT = re.compile(r"\b(?:read|get)_[ui](?:8|16)\b|\b[ui](?:8|16)::from_|parse::<[ui](?:8|16)>")
"""A number of at most 16 bits allocates 64 kB at most."""


@rule(
    query=nodes(
        "(call_expression) @site (macro_invocation) @site",
        names=(
            "with_capacity",
            "reserve",
            "reserve_exact",
            "resize",
            "resize_with",
            "malloc",
            "set_len",
            "vec",
        ),
        when=is_qualified,
    ),
    category="input_validation",
    cwe=(789, 770),
    confidence=0.55,
    suggestion=(
        "Compare the size with a limit before allocating, or read incrementally with 'take'."
    ),
)
def allocation_sized_by_input(site: Site) -> Iterator[Report]:
    if site.item.in_test or site.function is None:
        return
    size = _size(site.node)
    if size is None or size.type.endswith("_literal"):
        return
    written = text(size)[:300]
    if ".min(" in written or ".clamp(" in written or not _is_outside(size, site):
        return
    if is_tested(site.function, size, site.node.start_byte) or _is_capped(size, site):
        return
    yield Report(
        site.node,
        "Allocation size '{size}' is controlled by untrusted input.",
        pattern=called_name(site.node) or "vec!",
        size=" ".join(written[:60].split()),
    )


def _size(node: Node) -> Node | None:
    if node.type == "call_expression":
        return next(iter(arguments(node)), None)
    tokens = macro_tokens(node)
    after = False
    for child in tokens.children if tokens is not None else ():
        if after and child.is_named:
            return child
        after = after or child.type == ";"
    return None


def _is_outside(size: Node, site: Site) -> bool:
    if size.next_sibling is not None and size.next_sibling.type == ".":
        return False
    return bool(number_origin(size, site.function))


def _is_capped(size: Node, site: Site) -> bool:
    """Return whether the initialiser keeps the number small or limits it by `min` or `clamp`."""
    function = site.function
    variable = function.variable(text(size), size.start_byte) if function is not None else None
    initial = text(variable.initial)[:400] if variable is not None else ""
    return ".min(" in initial or ".clamp(" in initial or _SHORT.search(initial) is not None
