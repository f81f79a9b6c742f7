"""A type that C does not know is passed across the border to C.

## What it does
Finds parameters and results of `extern "C"` functions and declarations that are `String`, `Vec`,
`&str`, slices, tuples, `Option` of such, trait objects, or structs of the file without
`#[repr(C)]` or `#[repr(transparent)]`, by value.

## Why is this bad?
The layout of these types is the compiler's choice and changes between builds. C reads a length
where the pointer is, and writes back over whatever follows.

## Example
```rust
#[no_mangle]
pub extern "C" fn greet(name: String) {}
```

Use instead:
```rust
#[no_mangle]
pub unsafe extern "C" fn greet(name: *const c_char) {}
```

## References
- CWE-686: Function Call With Incorrect Argument Type
- CWE-843: Access of Resource Using Incompatible Type ('Type Confusion')
- rustc: improper_ctypes_definitions
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.code import Unit, field, text
from jarvis_ls.codeintel.extract.rust import attributes, modifiers
from jarvis_ls.jsec.rule import Report, nodes, rule
from jarvis_ls.jsec.site import Site

_UNKNOWN = re.compile(
    r"(?:std::string::)?String$|Vec<|&(?:'\w+ )?(?:mut )?str$|&(?:'\w+ )?(?:mut )?\[[^;]*$|\(\w"
    r"|Box<dyn |&(?:'\w+ )?(?:mut )?dyn |Result<|HashMap<|BTreeMap<|Rc<|Arc<|PathBuf$|OsString$"
    r"|&(?:'\w+ )?Path$|Option<(?:[uif]\d|[ui]size|String|Vec|&(?:'\w+ )?str|bool|char)"
)


@rule(
    query=nodes(
        "(function_item (function_modifiers (extern_modifier))) @site"
        "(foreign_mod_item body: (declaration_list (function_signature_item) @site))"
    ),
    category="type_safety",
    cwe=(686, 843),
    confidence=0.85,
    suggestion="Pass pointers with lengths, numbers, and types with '#[repr(C)]'.",
)
def ffi_type_without_c_layout(site: Site) -> Iterator[Report]:
    words = modifiers(site.node)
    if '"Rust"' in words or '"rust-intrinsic"' in words or site.item.in_test:
        return
    held = field(site.node, "parameters")
    places = [field(p, "type") for p in (held.named_children if held is not None else ())]
    places.append(field(site.node, "return_type"))
    exported = any("no_mangle" in a or "export_name" in a for a in attributes(site.node))
    for place in places:
        if place is None:
            continue
        written = " ".join(text(place).split())
        loose = _loose_struct(written, site.unit)
        if not loose and not _UNKNOWN.match(written):
            continue
        yield Report(
            place,
            "C does not know how '{type}' is laid out.",
            confidence=(0.85 if exported or site.node.type != "function_item" else 0.7)
            if not loose
            else 0.8,
            pattern=written[:60],
            type=written[:60],
        )


def _loose_struct(written: str, unit: Unit) -> bool:
    declared = unit.facts.types.get(written.split("<")[0]) if written.isidentifier() else None
    return declared is not None and declared.type in ("struct", "union")
