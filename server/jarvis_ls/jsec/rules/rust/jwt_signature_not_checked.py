"""A token is believed without checking its signature.

## What it does
Finds `insecure_disable_signature_validation`, `dangerous_insecure_decode`, `insecure_decode`,
`dangerous_unsafe_decode` and `validate_exp = false`.

## Why is this bad?
Anybody can write a token that says who they are.

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

from jarvis_ls.codeintel.code import field, text
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.jsec.rule import Report, nodes, rule
from jarvis_ls.jsec.rust.shapes import callee_name
from jarvis_ls.jsec.site import Site


@rule(
    query=nodes(
        "(call_expression function: [(scoped_identifier name: (identifier) @_called)"
        " (field_expression field: (field_identifier) @_called) (identifier) @_called"
        " (generic_function function: (_) @_called)]"
        ' (#match? @_called "insecure_disable_signature_validation|dangerous_insecure_decode'
        '|insecure_decode|dangerous_unsafe_decode")) @site'
        "(assignment_expression left: (field_expression field: (field_identifier) @_field)"
        ' (#any-of? @_field "validate_exp" "validate_nbf")) @site'
    ),
    category="crypto",
    cwe=(347, 613),
    confidence=0.85,
    suggestion="Verify the signature and the expiry with the issuer's key.",
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
            "Tokens stay valid for ever.",
            confidence=0.65,
            pattern=text(field(field(node, "left"), "field")),
        )
        return
    called = callee_name(node)
    yield Report(
        node,
        "'{called}' believes what anybody may have written.",
        pattern=called,
        called=called,
    )
