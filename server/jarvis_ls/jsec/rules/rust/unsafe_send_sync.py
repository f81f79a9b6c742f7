"""Unsound manual Send or Sync implementation.

## What it does
Finds `unsafe impl Send` and `unsafe impl Sync` without a SAFETY comment, and those whose type
parameters are not bounded by `Send` or `Sync`.

## Why is this bad?
The type is not `Send` or `Sync` because of its fields. A wrong `unsafe impl` allows data races in
safe code. Missing bounds on type parameters are the common mistake: they make a wrapper of `Rc`
or `Cell` thread-safe in name only.

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

from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule


@rule(
    query=nodes('(impl_item "unsafe" trait: (_)) @site'),
    category="thread_safety",
    cwe=(362, 366),
    confidence=0.55,
    suggestion="Bound every type parameter by 'Send' or 'Sync', and justify the impl in a "
    "SAFETY comment.",
)
def unsafe_send_sync(site: Site) -> Iterator[Report]:
    trait = text(field(site.node, "trait")).rpartition("::")[2]
    if trait not in ("Send", "Sync"):
        return
    has_comment = has_safety_comment(site.node, site.item.prefix)
    unbounded = _unbounded_parameter(site.node)
    kind = text(field(site.node, "type"))
    place = (site.node.start_byte, (field(site.node, "type") or site.node).end_byte)
    if unbounded:
        yield Report(
            place,
            "Type parameter '{parameter}' of '{type}' is not bounded by '{trait}' (unsound).",
            confidence=0.4 if has_comment else 0.55,
            pattern=f"unsafe impl {trait}",
            type=kind,
            trait=trait,
            parameter=unbounded,
        )
    elif not has_comment:
        yield Report(
            place,
            "Manual '{trait}' implementation for '{type}' has no SAFETY comment.",
            pattern=f"unsafe impl {trait}",
            confidence=0.25,
            type=kind,
            trait=trait,
        )


def _unbounded_parameter(node: Node) -> str:
    """Return the first type parameter without a `Send` or `Sync` bound; empty for none."""
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
        if (
            name in implemented
            and not re.search(r"\b(?:Send|Sync)\b", bounds)
            and (bounds.strip(": ?") in ("", "Sized"))
        ):
            return name
    return ""
