"""FFI-unsafe type in an extern "C" signature.

## What it does
Finds parameters and results of `extern "C"` functions and declarations that are `String`, `Vec`,
`&str`, slices, tuples, `Option` of such, trait objects, or structs of the file without
`#[repr(C)]` or `#[repr(transparent)]`, by value.

## Why is this bad?
The layout of these types is unspecified and may change between builds. C may read a length where
the pointer is, and corrupt the memory after it.

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

from jarvis_ls.codeintel.extract.rust import attributes, modifiers
from jarvis_ls.codeintel.functions import Unit
from jarvis_ls.codeintel.nodes import ancestors, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule

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
    suggestion="Pass pointers with lengths, integers, or types with '#[repr(C)]'.",
)
def ffi_type_without_c_layout(site: Site) -> Iterator[Report]:
    words = modifiers(site.node)
    if '"Rust"' in words or '"rust-intrinsic"' in words or site.item.in_test:
        return
    parameters = field(site.node, "parameters")
    places = [
        field(p, "type") for p in (parameters.named_children if parameters is not None else ())
    ]
    places.append(field(site.node, "return_type"))
    if _is_of_bridge(site.node):
        return
    exported = any("no_mangle" in a or "export_name" in a for a in attributes(site.node))
    for place in places:
        if place is None:
            continue
        written = " ".join(text(place).split())
        lacks_repr = _loose_struct(written, site.unit)
        if not lacks_repr and not _UNKNOWN.match(written):
            continue
        yield Report(
            place,
            "Type '{type}' is not FFI-safe: its layout is unspecified.",
            confidence=(0.85 if exported or site.node.type != "function_item" else 0.7)
            if not lacks_repr
            else 0.8,
            pattern=written[:60],
            type=written[:60],
        )


def _is_of_bridge(node: Node) -> bool:
    """Return whether a signature is of a block of `cxx::bridge`, which converts its types."""
    around = next((n for n in ancestors(node) if n.type == "foreign_mod_item"), None)
    if around is None:
        return False
    abi = next((n for n in around.named_children if n.type == "extern_modifier"), None)
    return text(abi).endswith(('"C++"', '"Rust"'))


def _loose_struct(written: str, unit: Unit) -> bool:
    declared = unit.facts.types.get(written.split("<")[0]) if written.isidentifier() else None
    return declared is not None and declared.type in ("struct", "union")
