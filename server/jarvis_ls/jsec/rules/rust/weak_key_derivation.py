"""Weak password hashing parameters.

## What it does
Finds PBKDF2 with fewer than 100,000 iterations, bcrypt with a cost below 10 and scrypt with a
small cost, as constants.

## Why is this bad?
An attacker who obtains the hashes can try millions of passwords per second.

## Example
```rust
pbkdf2_hmac::<Sha256>(password, salt, 1000, &mut key);
```

Use instead:
```rust
pbkdf2_hmac::<Sha256>(password, salt, 600_000, &mut key);
```

## References
- CWE-916: Use of Password Hash With Insufficient Computational Effort
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.rust.shapes import arguments, call_path, peel
from jarvis_ls.jsec.local.rust.values import integer

_ROUNDS = 100_000
_COST = 10


@rule(
    query=calls(
        "pbkdf2_hmac",
        "pbkdf2",
        "pbkdf2_hmac_array",
        "pbkdf2_array",
        "derive",
        "hash",
        "hash_with_salt",
        "bcrypt",
        "pbkdf2_hash",
    ),
    category="crypto",
    cwe=(916,),
    confidence=0.55,
    suggestion="Use Argon2id, or at least 600,000 iterations of PBKDF2 or a bcrypt cost of 12.",
    severity="medium",
)
def weak_key_derivation(call: Call) -> Iterator[Report]:
    path = call_path(call)
    if in_test(call.node):
        return
    if "pbkdf2" in path:
        limit = _ROUNDS
    elif "bcrypt" in path:
        limit = _COST
    else:
        return
    for argument in call.arguments:
        value = integer(_inside(argument), call.function, call.unit)
        if value is not None and 0 < value < limit:
            yield Report(
                argument,
                "Work factor {value} of '{called}' is too low.",
                pattern=call.name,
                value=str(value),
                called=call.written[:60],
            )
            return


def _inside(node: Node) -> Node | None:
    """Return the number in `NonZeroU32::new(n).unwrap()`."""
    inner = peel(node)
    for _ in range(4):
        if inner is None or inner.type != "call_expression":
            break
        receiver = inner.child_by_field_name("function")
        if called_name(inner) in ("unwrap", "expect") and receiver is not None:
            inner = peel(receiver.child_by_field_name("value"))
        elif called_name(inner) in ("new", "new_unchecked") and "NonZero" in text(receiver):
            inner = next(iter(arguments(inner)), None)
        else:
            break
    return inner
