"""A pointer is reinterpreted as one to an unrelated type.

## What it does
Reports `reinterpret_cast` to a pointer or reference to another object type. Views as bytes
(`char`, `unsigned char`, `std::byte`, `void`), numbers that hold an address, socket addresses
and function pointers are left out.

## Why is this bad?
Reading an object through an unrelated type breaks alignment and aliasing rules; what the bytes
mean is up to whoever produced them. When they come from outside, they choose fields and lengths.

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

from jarvis_ls.codeintel.code import field, text
from jarvis_ls.jsec.engine import Site
from jarvis_ls.jsec.rule import Report, nodes, rule

_BYTES = re.compile(
    r"\b(?:char|byte|void|uint8_t|int8_t|u8|BYTE|uchar|sockaddr\w*|FARPROC|LPARAM|WPARAM)\b"
)


@rule(
    query=nodes(cpp="(call_expression function: (template_function) @site)"),
    category="type_safety",
    cwe=(843, 704),
    confidence=0.45,
    only="cpp",
    severity="medium",
    suggestion="Copy the bytes into an object of type '{type}' with memcpy, after a test of size.",
)
def reinterpreted_pointer(site: Site) -> Iterator[Report]:
    if text(field(site.node, "name")) != "reinterpret_cast":
        return
    target = text(field(site.node, "arguments"))[1:-1].strip()
    if not target.endswith(("*", "&")) or _BYTES.search(target[:200]) or "(" in target:
        return
    call = site.node.parent
    if call is None:
        return
    yield Report(
        call,
        "reinterpret_cast reads the object as '{type}'.",
        pattern="reinterpret_cast",
        type=target.rstrip("*& ").removeprefix("const ").strip(),
    )
