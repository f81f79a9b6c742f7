"""A type is declared safe to share between threads by hand.

## What it does
Finds `unsafe impl Send` and `unsafe impl Sync` with no SAFETY comment, and those whose type
parameters are not bounded by `Send` or `Sync`.

## Why is this bad?
The compiler refused to share the type because of what is inside it. A wrong `unsafe impl` lets
safe code race on that inside. Unbounded parameters are the classic mistake: they make a wrapper
of `Rc` or `Cell` sendable.

## Example
```rust
unsafe impl<T> Send for Queue<T> {}
```

Use instead:
```rust
// SAFETY: the queue owns its elements and hands each to one thread only.
unsafe impl<T: Send> Send for Queue<T> {}
```

## References
- CWE-362: Concurrent Execution using Shared Resource with Improper Synchronization
- CWE-366: Race Condition within a Thread
- RustSec: RUSTSEC-2020-0112 and the other advisories of unbounded Send and Sync
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.code import field, text
from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.rule import Report, nodes, rule
from jarvis_ls.jsec.site import Site


@rule(
    query=nodes('(impl_item "unsafe" trait: (_)) @site'),
    category="thread_safety",
    cwe=(362, 366),
    confidence=0.55,
    suggestion="Bound every type parameter by Send or Sync, and say in a SAFETY comment why "
    "sharing is sound.",
)
def unsafe_send_sync(site: Site) -> Iterator[Report]:
    trait = text(field(site.node, "trait")).rpartition("::")[2]
    if trait not in ("Send", "Sync"):
        return
    argued = has_safety_comment(site.node, site.item.prefix)
    loose = _unbounded(site.node)
    kind = text(field(site.node, "type"))
    place = (site.node.start_byte, (field(site.node, "type") or site.node).end_byte)
    if loose:
        yield Report(
            place,
            "'{type}' is {trait} whatever '{parameter}' is.",
            confidence=0.45 if argued else 0.58,
            pattern=f"unsafe impl {trait}",
            type=kind,
            trait=trait,
            parameter=loose,
        )
    elif not argued:
        yield Report(
            place,
            "'{type}' is declared {trait} by hand, and nothing says why that is sound.",
            pattern=f"unsafe impl {trait}",
            confidence=0.45 if field(site.node, "type_parameters") is not None else 0.55,
            type=kind,
            trait=trait,
        )


def _unbounded(node: Node) -> str:
    """The first type parameter that no bound makes `Send` or `Sync`; empty when all are."""
    parameters = field(node, "type_parameters")
    where = next((c for c in node.named_children if c.type == "where_clause"), None)
    implemented = set(re.findall(r"\w+", text(field(node, "type"))))
    bounds_of: dict[str, str] = {}
    for predicate in where.named_children if where is not None else ():
        for word in re.findall(r"\w+", text(field(predicate, "left"))[:200]):
            known = bounds_of.get(word, "")
            if len(known) < 2000:
                bounds_of[word] = known + text(field(predicate, "bounds"))[:200]
    for parameter in parameters.named_children if parameters is not None else ():
        if parameter.type != "type_parameter":
            continue
        name = text(field(parameter, "name"))
        bounds = text(field(parameter, "bounds"))
        bounds += bounds_of.get(name, "")
        if name in implemented and not re.search(r"\b(?:Send|Sync)\b", bounds) and (
            bounds.strip(": ?") in ("", "Sized")
        ):  # fmt: skip
            return name
    return ""
