"""Unchecked constructor of a type with an invariant.

## What it does
Finds `new_unchecked` of `NonZero…`, `NonNull` and `Pin`, `char::from_u32_unchecked`,
`from_size_align_unchecked`, `unwrap_unchecked`, `unreachable_unchecked` and the like without a
nearby check or SAFETY comment.

## Why is this bad?
The compiler relies on the invariants of these types. A null `NonNull` or an invalid `char` is
undefined behaviour even before it is used.

## Example
```rust
let node = unsafe { NonNull::new_unchecked(p) };
```

Use instead:
```rust
let node = NonNull::new(p).ok_or(Error::NoNode)?;
```

## References
- CWE-754: Improper Check for Unusual or Exceptional Conditions
- CWE-476: NULL Pointer Dereference
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.extract.rust import has_safety_comment, in_test
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.rust.guards import is_null_tested, is_tested
from jarvis_ls.jsec.local.rust.shapes import arguments, path_of, receiver_of
from jarvis_ls.jsec.local.rust.values import is_literal, origin

_NAMES = tuple(
    "new_unchecked from_u32_unchecked from_size_align_unchecked unwrap_unchecked "
    "unwrap_err_unchecked unreachable_unchecked from_digit_unchecked "
    "from_bytes_with_nul_unchecked from_vec_unchecked assert_unchecked "
    "from_bits_unchecked downcast_ref_unchecked downcast_unchecked".split()
)
_FROM_VALID = re.compile(r"^&|Box::into_raw|as_(?:mut_)?ptr\(\)|\.get\(\)|\bas_ref\(\)|addr_of")


@rule(
    query=nodes("(call_expression) @site", names=_NAMES),
    category="unsafe_usage",
    cwe=(754, 476),
    confidence=0.55,
    suggestion="Use the checked constructor, and handle its None or error.",
)
def unchecked_constructor(site: Site) -> Iterator[Report]:
    node = site.node
    name = called_name(node)
    if site.item.in_test or in_test(node) or has_safety_comment(node):
        return
    if site.function is not None and "unchecked" in site.function.name:
        return
    value = next(iter(arguments(node)), None) or receiver_of(node)
    path = path_of(text(node.child_by_field_name("function")), site.unit)
    if path.startswith("Self::"):
        return
    if value is not None and _is_known(value, name, path, site):
        return
    yield Report(
        node,
        "Precondition of '{called}' is neither checked nor justified here.",
        confidence=_rate(name, path, value, site),
        pattern=name,
        called=path.rpartition("::")[2] if "::" not in path else "::".join(path.split("::")[-2:]),
    )


def _is_known(value: Node, name: str, path: str, site: Site) -> bool:
    if is_literal(value, site.function, site.unit) or "Pin::" in path:
        return True
    if name == "new_unchecked" and _FROM_VALID.search(text(value)[:300]):
        return True
    if is_tested(site.function, value, value.start_byte):
        return True
    return site.function is not None and is_null_tested(
        site.function, text(value), value.start_byte
    )


def _rate(name: str, path: str, value: Node | None, site: Site) -> float:
    if value is not None and origin(value, site.function):
        return 0.75
    if name in ("unreachable_unchecked", "assert_unchecked"):
        return 0.55
    if "NonNull" in path or name.startswith("unwrap"):
        return 0.5
    return 0.55
