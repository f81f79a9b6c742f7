"""Sign-losing cast of a possibly negative number.

## What it does
Finds `n as usize`, `as u64`, `as u32` where `n` is signed, comes from input or from a C function
that returns -1 on failure, and is not checked before.

## Why is this bad?
-1 as `usize` is `usize::MAX`. Used as a length or index, it turns one failed call into an access
far out of bounds.

## Example
```rust
let n = unsafe { libc::read(fd, buf.as_mut_ptr().cast(), buf.len()) };
process(&buf[..n as usize]);
```

Use instead:
```rust
let n = unsafe { libc::read(fd, buf.as_mut_ptr().cast(), buf.len()) };
let n = usize::try_from(n).map_err(|_| io::Error::last_os_error())?;
process(&buf[..n]);
```

## References
- CWE-195: Signed to Unsigned Conversion Error
- CWE-681: Incorrect Conversion between Numeric Types
- Clippy: cast_sign_loss
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, flow, flow_verdicts, nodes, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.rust.guards import is_tested
from jarvis_ls.jsec.local.rust.shapes import peel
from jarvis_ls.jsec.local.rust.values import number_origin, type_of

_UNSIGNED = frozenset({"usize", "u64", "u32", "size_t", "u16", "c_uint", "socklen_t"})
_SIGNED = frozenset({"i8", "i16", "i32", "i64", "isize", "c_int", "c_long", "ssize_t", "off_t"})
_MAY_FAIL = re.compile(
    r"\blibc::(?:read|write|recv|recvfrom|send|sendto|lseek|sysconf|open|readlink|snprintf|pread"
    r"|getxattr|listxattr|recvmsg|sendmsg|getdents|readv|writev|splice|sendfile)\("
)


@rule(
    query=flow("negative-to-huge", guess=nodes("(type_cast_expression) @site")),
    category="integer_overflow",
    cwe=(195, 681),
    confidence=0.7,
    suggestion="Check for a negative value first, or convert with 'try_from'.",
    severity="high",
)
@flow_verdicts(sound="cast")
def as_turns_negative_into_huge(site: Site) -> Iterator[Report]:
    function, value = site.function, field(site.node, "value")
    target = text(field(site.node, "type")).rpartition("::")[2]
    if target not in _UNSIGNED or function is None or value is None or site.item.in_test:
        return
    confidence = _may_be_negative(value, function, site)
    if not confidence or is_tested(function, value, site.node.start_byte):
        return
    yield Report(
        site.node,
        "Cast of the possibly negative '{value}' to '{target}' wraps to a huge value.",
        confidence=confidence,
        pattern=f"as {target}",
        value=" ".join(text(value)[:60].split()),
        target=target,
    )


@on_fault(as_turns_negative_into_huge)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(fault, "Cast to '{type}' wraps a negative value (as low as {low}) to a huge one.")


def _may_be_negative(value: Node, function: Function, site: Site) -> float:
    inner = peel(value)
    if inner is None:
        return 0.0
    if inner.type == "call_expression":
        return 0.75 if _MAY_FAIL.match(text(inner)[:100]) else 0.0
    if inner.type not in ("identifier", "field_expression"):
        return 0.0
    variable = (
        function.variable(text(inner), inner.start_byte) if inner.type == "identifier" else None
    )
    initial = text(variable.initial)[:600] if variable is not None else ""
    if _MAY_FAIL.search(initial):
        return 0.75
    declared = type_of(inner, function, site.unit).rpartition("::")[2]
    parsed = re.search(r"parse::<(\w+)>|\b(\w+)::from_[bln]e_bytes", initial)
    if parsed and (parsed[1] or parsed[2]) in _SIGNED:
        return 0.7
    if declared not in _SIGNED:
        return 0.0
    return 0.7 if number_origin(inner, function) else 0.35
