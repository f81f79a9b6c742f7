"""Unchecked type conversion with mem::transmute().

## What it does
Finds `mem::transmute` that no more specific rule covers, and suggests the safe function where the
standard library has one (`f32::from_bits`, `to_bits`, `to_ne_bytes`, `from_ne_bytes`).

## Why is this bad?
`transmute` bypasses the type system: it compares only sizes. A value that is not valid for the
new type is immediate undefined behaviour.

## Example
```rust
let bits: u32 = unsafe { std::mem::transmute::<f32, u32>(ratio) };
```

Use instead:
```rust
let bits = f32::to_bits(ratio);
```

## References
- CWE-843: Access of Resource Using Incompatible Type ('Type Confusion')
- The Rustonomicon: Transmutes
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import has_safety_comment
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, rule
from jarvis_ls.jsec.local.rust.transmute import is_restricted, transmute_types, without_lifetimes

_INT = re.compile(r"[iu](8|16|32|64|128|size)")
_BYTES = re.compile(r"\[u8;\s*\d+\]")


@rule(
    query=calls("transmute"),
    category="type_safety",
    cwe=(843,),
    confidence=0.55,
    suggestion="Use a safe conversion ('From', 'TryFrom', 'from_bits', 'from_ne_bytes', a "
    "pointer cast).",
    fixable=True,
)
def transmute_between_types(call: Call) -> Iterator[Report]:
    source, target = transmute_types(call.node, call.function, call.unit)
    if is_restricted(target, call.unit) or _has_own_rule(source, target):
        return
    if source and without_lifetimes(source) == without_lifetimes(target):
        return
    better = _safe_function(source, target)
    if not better and has_safety_comment(call.node):
        return
    value = call.arg(0)
    fix = (
        Rewrite(
            "Use '{better}'",
            [(call.node, f"{better}({text(value)})")],
            better=better,
        )
        if better and value is not None
        else None
    )
    yield Report(
        call.node,
        "'transmute' reinterprets a value and checks only its size.",
        confidence=0.3 if "fn" in target.split("(")[0] or better else 0.45,
        pattern="transmute",
        fix=fix,
    )


def _has_own_rule(source: str, target: str) -> bool:
    """Return whether the result is a reference or made mutable, which other rules report."""
    if not target.startswith("&"):
        return False
    return not source.startswith("&") or ("mut " in target and "mut " not in source)


def _safe_function(source: str, target: str) -> str:
    """Return the function that does the same without `unsafe`; empty when there is none."""
    if source in ("f32", "f64") and target in ("u32", "u64") and source[1:] == target[1:]:
        return f"{source}::to_bits"
    if target in ("f32", "f64") and source in ("u32", "u64") and source[1:] == target[1:]:
        return f"{target}::from_bits"
    if _BYTES.fullmatch(source) and (_INT.fullmatch(target) or target in ("f32", "f64")):
        return f"{target}::from_ne_bytes"
    if _BYTES.fullmatch(target) and (_INT.fullmatch(source) or source in ("f32", "f64")):
        return f"{source}::to_ne_bytes"
    if source == "char" and target == "u32":
        return "u32::from"
    return ""
