"""Non-constant-time comparison of a secret.

## What it does
Finds `==` and `!=` of variables named for a MAC, signature, digest, token or password in functions
that verify or log in.

## Why is this bad?
The comparison stops at the first difference, so its time reveals how many bytes match. With
enough attempts, an attacker can recover the whole value byte by byte (timing attack).

## Example
```rust
fn verify(mac: &[u8], expected: &[u8]) -> bool { mac == expected }
```

Use instead:
```rust
fn verify(mac: &[u8], expected: &[u8]) -> bool { mac.ct_eq(expected).into() }
```

## References
- CWE-208: Observable Timing Discrepancy
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule

_NAMED = re.compile(
    r"(?i)(?:^|[._])(?:\w*_)?(?:hmac|mac|signature|sig|digest|auth_?token|api_?key|password"
    r"|password_?hash|secret|csrf_?token|session_?token|tag)(?:_bytes|_hex)?(?:\(\))?$"
)
_VERIFIES = re.compile(r"(?i)verif|auth|check|login|valid|decrypt|open|compare")
_STRONG = re.compile(r"(?i)hmac|mac$|token|api_?key|secret|signature|password")


@rule(
    query=nodes('(binary_expression operator: ["==" "!="]) @site'),
    category="crypto",
    cwe=(208,),
    confidence=0.6,
    suggestion="Compare in constant time with 'subtle::ConstantTimeEq' or 'verify_slice'.",
    severity="medium",
)
def secret_compared_byte_by_byte(site: Site) -> Iterator[Report]:
    function = site.function
    if function is None or site.item.in_test or not _VERIFIES.search(function.name):
        return
    left, right = site.node.named_children[0], site.node.named_children[-1]
    secret = _secret(left) or _secret(right)
    if not secret or in_test(site.node):
        return
    if any(_is_plain(side) for side in (left, right)):
        return
    yield Report(
        site.node,
        "Timing side channel: '{secret}' is not compared in constant time.",
        confidence=0.6 if _STRONG.search(secret) else 0.45,
        pattern="==",
        secret=secret,
    )


def _secret(node: Node) -> str:
    written = text(node)[-80:].lstrip("&*")
    if node.type not in (
        "identifier",
        "field_expression",
        "reference_expression",
        "unary_expression",
        "index_expression",
        "call_expression",
    ):
        return ""
    plain = written.split("[")[0].removesuffix(".as_ref()").removesuffix(".as_bytes()")
    return plain if _NAMED.search(plain) else ""


def _is_plain(node: Node) -> bool:
    """Return whether the operand is no secret: a literal, constant, enum value or length."""
    written = text(node)[-80:]
    return (
        node.type.endswith("_literal")
        or node.type in ("scoped_identifier", "unit_expression")
        or written.isupper()
        or written.endswith((".len()", "None", ".is_empty()"))
        or re.match(r"^[A-Z]\w*$", written) is not None
    )
