"""A number from outside, or of a wider type, is cut to fewer bits by `as`.

## What it does
Finds `n as u8`, `as u16`, `as u32`, `as i32` where `n` is parsed or decoded from input, or is
declared with a wider type, and no test of it stands before.

## Why is this bad?
`as` keeps the low bits. An attacker picks a number whose low bits pass the checks that follow:
4,294,967,297 as `u32` is 1.

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

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Function, Unit, field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, Rewrite, flow, nodes, rule
from jarvis_ls.jsec.rust.guards import tested
from jarvis_ls.jsec.rust.values import WIDTHS, number_origin, type_of
from jarvis_ls.jsec.site import Site

_NARROW = frozenset({"u8", "i8", "u16", "i16", "u32", "i32", "c_int", "c_uint"})


@rule(
    query=flow(
        "truncation",
        guess=nodes("(type_cast_expression value: [(identifier) (field_expression)]) @site"),
    ),
    category="integer_overflow",
    cwe=(197, 681),
    confidence=0.65,
    suggestion="Convert with 'try_from' and refuse what does not fit.",
    severity="medium",
    fixable=True,
    cleared="cast",
)
def as_truncates_number(site: Site | Fault) -> Iterator[Report]:
    if isinstance(site, Fault):
        yield Report(
            site,
            "The number may be {low} to {high}; 'as {type}' keeps its low bits only.",
            confidence=0.75 if site.certain else None,
        )
        return
    function = site.function
    value = field(site.node, "value")
    target = text(field(site.node, "type")).rpartition("::")[2]
    if function is None or value is None or target not in _NARROW or site.item.in_test:
        return
    declared = _declared(value, function, site.unit)
    wide = WIDTHS.get(declared.rpartition("::")[2], 0)
    if wide <= WIDTHS[target] or _is_looked_at(function, value, site.node.start_byte):
        return
    source = number_origin(value, function)
    fix = Rewrite(
        "Stop at the largest '{target}'",
        [(site.node, f"{target}::try_from({text(value)}).unwrap_or({target}::MAX)")],
        safe=False,
        target=target,
    ) if not target.startswith("c_") else None  # fmt: skip
    yield Report(
        site.node,
        "'{value}' is {type}; 'as {target}' keeps its low bits only.",
        confidence=0.7 if source else 0.35,
        severity=None if source else "low",
        pattern=f"as {target}",
        fix=fix,
        value=text(value)[:60],
        type=declared,
        target=target,
    )


def _declared(value: Node, function: Function, unit: Unit) -> str:
    """The type of the value: declared, or named where the text is parsed."""
    declared = type_of(value, function, unit)
    if declared in WIDTHS or value.type != "identifier":
        return declared
    variable = function.variable(text(value), value.start_byte)
    written = text(variable.initial)[:400] if variable is not None else ""
    for word in ("u64", "i64", "u128", "usize", "isize", "u32", "i32"):
        if f"parse::<{word}>" in written or f"{word}::from_" in written:
            return word
    return declared


def _is_looked_at(function: Function, value: Node, at: int) -> bool:
    """Tested, shifted or masked: the code handles the parts of the number itself."""
    if tested(function, value, at):
        return True
    name = text(value).rpartition(".")[2]
    for node in function.nodes("binary")[:256]:
        if node.children[1].type in (">>", "&", "%") and name in text(node.named_children[0])[:200]:
            return True
    return False
