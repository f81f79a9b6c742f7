"""Disabled JWT signature validation.

## What it does
Finds `insecure_disable_signature_validation`, `dangerous_insecure_decode`, `insecure_decode`,
`dangerous_unsafe_decode` and `validate_exp = false`.

## Why is this bad?
An attacker can forge a token for any user.

## Example
```rust
validation.insecure_disable_signature_validation();
```

Use instead:
```rust
let claims = decode::<Claims>(&token, &key, &Validation::new(Algorithm::EdDSA))?;
```

## References
- CWE-347: Improper Verification of Cryptographic Signature
- CWE-613: Insufficient Session Expiration
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule

_UNCHECKED = (
    "insecure_disable_signature_validation",
    "dangerous_insecure_decode",
    "dangerous_insecure_decode_with_validation",
    "insecure_decode",
    "dangerous_unsafe_decode",
)
_VALIDATIONS = frozenset({"validate_exp", "validate_nbf"})


def _may_concern(node: Node) -> bool:
    left = field(node, "left")  # of an assignment
    return left is None or text(field(left, "field")) in _VALIDATIONS


@rule(
    query=nodes(
        "(call_expression) @site (assignment_expression) @site", names=_UNCHECKED, when=_may_concern
    ),
    category="crypto",
    cwe=(347, 613),
    confidence=0.85,
    suggestion="Verify the signature with the issuer's key, and validate the expiry.",
)
def jwt_signature_not_checked(site: Site) -> Iterator[Report]:
    node = site.node
    if site.item.in_test or in_test(node):
        return
    if node.type == "assignment_expression":
        if text(field(node, "right")) != "false":
            return
        yield Report(
            node,
            "Validation of the token's validity period is disabled.",
            confidence=0.65,
            pattern=text(field(field(node, "left"), "field")),
        )
        return
    called = called_name(node)
    yield Report(
        node,
        "'{called}' accepts a JWT without verifying its signature.",
        pattern=called,
        called=called,
    )
