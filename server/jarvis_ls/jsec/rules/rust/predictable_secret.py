"""A secret is made by a generator whose next number can be guessed.

## What it does
Finds `SmallRng`, `fastrand`, `seed_from_u64` with a constant or the time, `oorand`, `libc::rand`
and `nanorand`'s WyRand; reported high where a key, token, password or the like is made.

## Why is this bad?
These generators are made for speed. A few outputs, or the second at which the program started,
give all the others.

## Example
```rust
let token: u64 = SmallRng::seed_from_u64(now).gen();
```

Use instead:
```rust
let token: u64 = OsRng.gen();
```

## References
- CWE-338: Use of Cryptographically Weak Pseudo-Random Number Generator (PRNG)
- CWE-330: Use of Insufficiently Random Values
- CWE-335: Incorrect Usage of Seeds in Pseudo-Random Number Generator (PRNG)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, text
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.jsec.rule import Report, calls, rule
from jarvis_ls.jsec.rust.secrets import names_secret
from jarvis_ls.jsec.rust.shapes import call_path, statement_of

_WEAK = re.compile(
    r"(?:^|::)(?:SmallRng|fastrand|oorand|WyRand|Pcg32|Pcg64|XorShiftRng|Xoshiro\w+|Lcg\w*"
    r"|IsaacRng|Mt19937\w*|SplitMix64)::\w+$|(?:^|::)libc::(?:rand|random|drand48|lrand48)$"
)


@rule(
    query=calls("from_entropy", "seed_from_u64", "from_seed", "new", "with_seed", "u8", "u16",
                "u32", "u64", "u128", "usize", "i32", "alphanumeric", "alphabetic", "bool",
                "from_rng", "shuffle", "choice", "rand", "random", "lrand48", "i64", "digit",
                "lowercase", "uppercase", "f64"),
    category="crypto",
    cwe=(338, 330, 335),
    confidence=0.8,
    suggestion="Use 'OsRng' or 'thread_rng', which are secure.",
)  # fmt: skip
def predictable_secret(call: Call) -> Iterator[Report]:
    path = call_path(call)
    weak = _WEAK.search(path)
    seeded = call.name in ("seed_from_u64", "from_seed") and "::" in path
    if (weak is None and not seeded) or in_test(call.node):
        return
    statement = text(statement_of(call.node))[:300]
    function = call.function.name if call.function is not None else ""
    secret = names_secret(statement) or names_secret(function) or _feeds_secret(call)
    if not secret:
        return
    yield Report(
        call.node,
        "'{called}' makes numbers that can be guessed, and this looks like a secret.",
        confidence=0.8 if weak else 0.75,
        pattern=path,
        called=call.written[:60],
    )


def _feeds_secret(call: Call) -> bool:
    """Whether the generator is bound to a variable that a secret is made with."""
    name = text(call.target).removeprefix("mut ")
    if call.function is None or not name.isidentifier():
        return False
    return any(
        names_secret(text(statement_of(use))[:300])
        for use in call.function.uses(name, call.node.end_byte)[:16]
    )
