"""RSA key of insufficient length.

## What it does
Finds `Rsa::generate`, `RsaPrivateKey::new` and the like with a constant of fewer than 2048 bits.

## Why is this bad?
RSA keys of 1024 bits or less can be factored with enough computing power.

## Example
```rust
let key = Rsa::generate(1024)?;
```

Use instead:
```rust
let key = Rsa::generate(3072)?;
```

## References
- CWE-326: Inadequate Encryption Strength
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, rule
from jarvis_ls.jsec.local.rust.shapes import call_path
from jarvis_ls.jsec.local.rust.values import integer

_BITS = 2048


@rule(
    query=calls("generate", "new", "generate_with_e", "new_with_exp"),
    category="crypto",
    cwe=(326,),
    confidence=0.85,
    suggestion="Use at least 2048 bits, preferably 3072, or an elliptic curve.",
    fixable=True,
)
def short_rsa_key(call: Call) -> Iterator[Report]:
    owner = call_path(call).rpartition("::")[0].rpartition("::")[2]
    if owner not in ("Rsa", "RsaPrivateKey", "Dsa", "RsaKeyPair", "RSAPrivateKey"):
        return
    for argument in call.arguments:
        bits = integer(argument, call.function, call.unit)
        if bits is None or not 256 <= bits < _BITS or in_test(call.node):
            continue
        fix = (
            Rewrite("Use 3072 bits", [(argument, "3072")], safe=False)
            if (argument.type == "integer_literal")
            else None
        )
        yield Report(
            call.node,
            "'{owner}' key of {bits} bits is too short.",
            pattern=f"{owner}::{call.name}",
            fix=fix,
            bits=str(bits),
            owner=owner,
        )
        return
