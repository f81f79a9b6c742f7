"""Truncating cast of an integer.

## What it does
Finds `n as u8`, `as u16`, `as u32`, `as i32` where `n` is parsed or decoded from input, or
declared with a wider type, and not checked before.

## Why is this bad?
`as` keeps only the low bits. An attacker picks a number whose low bits pass the checks that
follow: 4,294,967,297 as `u32` is 1.

## Example
```rust
let id = text.parse::<u64>()?;
allow(id as u32);
```

Use instead:
```rust
let id = u32::try_from(text.parse::<u64>()?)?;
allow(id);
```

## References
- CWE-197: Numeric Truncation Error
- CWE-681: Incorrect Conversion between Numeric Types
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function, Unit
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, flow, flow_verdicts, nodes, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.rust.errors import converted
from jarvis_ls.jsec.local.rust.guards import is_tested
from jarvis_ls.jsec.local.rust.values import WIDTHS, number_origin, type_of

_NARROW = frozenset({"u8", "i8", "u16", "i16", "u32", "i32", "c_int", "c_uint"})

_SHIFT = re.compile(r"\b(\w{1,80})[ \t]{0,8}>>=")
CHECKED = "Return an error when it does not fit in '{target}'"


@rule(
    query=flow(
        "truncation",
        guess=nodes("(type_cast_expression value: [(identifier) (field_expression)]) @site"),
    ),
    category="integer_overflow",
    cwe=(197, 681),
    confidence=0.65,
    suggestion="Convert with 'try_from' and handle the error.",
    severity="medium",
    fixable=True,
)
@flow_verdicts(sound="cast")
def as_truncates_number(site: Site) -> Iterator[Report]:
    function = site.function
    value = field(site.node, "value")
    target = text(field(site.node, "type")).rpartition("::")[2]
    if function is None or value is None or target not in _NARROW or site.item.in_test:
        return
    declared = _declared_type(value, function, site.unit)
    wide = WIDTHS.get(declared.rpartition("::")[2], 0)
    if wide <= WIDTHS[target] or _is_handled(function, value, site.node.start_byte):
        return
    source = number_origin(value, function)
    checked = "" if target.startswith("c_") else converted(function, site.node, target, text(value))
    fix = Rewrite(CHECKED, [(site.node, checked)], safe=False, target=target) if checked else None
    yield Report(
        site.node,
        "Cast of '{value}' from '{type}' to '{target}' may truncate the value.",
        confidence=0.7 if source else 0.35,
        pattern=f"as {target}",
        fix=fix,
        value=text(value)[:60],
        type=declared,
        target=target,
    ).with_severity(None if source else "low")


@on_fault(as_truncates_number)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        "Cast to '{type}' truncates: the value may be {low} to {high}.",
        confidence=0.75 if fault.certain else None,
    )


def _declared_type(value: Node, function: Function, unit: Unit) -> str:
    """Return the declared type of the value, or the type named where it is parsed."""
    declared = type_of(value, function, unit)
    if declared in WIDTHS or value.type != "identifier":
        return declared
    variable = function.variable(text(value), value.start_byte)
    written = text(variable.initial)[:400] if variable is not None else ""
    for word in ("u64", "i64", "u128", "usize", "isize", "u32", "i32"):
        if f"parse::<{word}>" in written or f"{word}::from_" in written:
            return word
    return declared


@once_per_function
def _shifted(function: Function) -> frozenset[str]:
    """Return the variables whose high bits come down one by one."""
    return frozenset(_SHIFT.findall(text(function.node)))


def _is_handled(function: Function, value: Node, at: int) -> bool:
    """Return whether the number is tested, shifted or masked, so that its high bits are handled."""
    if is_tested(function, value, at):
        return True
    name = text(value).rpartition(".")[2]
    if name in _shifted(function):
        return True
    for node in function.nodes("binary")[:256]:
        if node.children[1].type in (">>", "&", "%") and name in text(node.named_children[0])[:200]:
            return True
    return False
