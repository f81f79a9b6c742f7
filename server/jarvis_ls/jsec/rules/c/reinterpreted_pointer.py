"""Pointer cast to an unrelated type.

## What it does
Reports `reinterpret_cast` of raw bytes (`char *`, `uint8_t *`, `data()`) or of an integer to a
pointer or reference to another type. Casts to bytes, to integers that hold an address, to socket
addresses and between classes and handles are left out.

## Why is this bad?
Accessing an object through an unrelated type violates alignment and strict aliasing rules. When
the bytes are untrusted input, the sender controls every field and length.

## Example
```cpp
const Header *h = reinterpret_cast<const Header *>(packet.data());
use(h->length);
```

Use instead:
```cpp
Header h;
if (packet.size() < sizeof h)
    return false;
std::memcpy(&h, packet.data(), sizeof h);
use(h.length);
```

## References
- CWE-843: Access of Resource Using Incompatible Type ('Type Confusion')
- CWE-704: Incorrect Type Conversion or Cast
- SEI CERT C++ EXP62-CPP: Do not access the bits of an object representation that are not part of
  the object's value representation
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.nodes import bare, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.constants import declaration

_BYTES = re.compile(
    r"\b(?:char|byte|void|uint8_t|int8_t|u8|BYTE|uchar|sockaddr\w*|FARPROC|LPARAM|WPARAM)\b"
)

_RAW = frozenset({"char", "uint8_t", "std::uint8_t", "u8", "BYTE", "std::byte", "uchar"})
_NUMBERS = frozenset(
    "int float double long short unsigned uint32_t int32_t uint64_t int64_t".split()
)


@rule(
    query=nodes(cpp="(template_function) @site"),
    category="type_safety",
    cwe=(843, 704),
    confidence=0.5,
    only="cpp",
    severity="medium",
    suggestion="Check the size and copy the bytes into an object of type '{type}' with memcpy.",
)
def reinterpreted_pointer(site: Site) -> Iterator[Report]:
    if text(field(site.node, "name")) != "reinterpret_cast":
        return
    target = text(field(site.node, "arguments"))[1:-1].strip()
    if not target.endswith(("*", "&")) or _BYTES.search(target[:200]) or "(" in target:
        return
    call = site.node.parent
    if call is None or call.type != "call_expression" or not _is_raw(call, site):
        return
    yield Report(
        call,
        "reinterpret_cast accesses the object as the unrelated type '{type}'.",
        pattern="reinterpret_cast",
        type=target.rstrip("*& ").removeprefix("const ").strip(),
    )


def _is_raw(call: Node, site: Site) -> bool:
    """Return whether the operand is raw bytes or an integer."""
    arguments = field(call, "arguments")
    if arguments is None or arguments.named_child_count != 1:
        return False
    value = bare(arguments.named_children[0])
    if value.type == "call_expression":
        return text(field(field(value, "function"), "field")) in ("data", "c_str", "constData")
    if value.type == "binary_expression":
        value = bare(field(value, "left") or value)
    address = value.type == "pointer_expression" and text(value.children[0]) == "&"
    if address or value.type == "subscript_expression":
        value = bare(field(value, "argument") or value)
        if value.type == "subscript_expression":
            value = bare(field(value, "argument") or value)
    declared = declaration(value, site.function)
    if declared is None:
        return False
    words = set(declared.type.split())
    if declared.pointers + len(declared.arrays) == 0:
        return bool(words & _NUMBERS)
    return bool(words & _RAW) and declared.pointers + len(declared.arrays) == 1
