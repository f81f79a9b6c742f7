"""Predictable seed in a pseudo-random number generator.

## What it does
Finds seeds derived from the time, the process id or a constant: `srand(time(NULL))`,
`srandom(getpid())`, `RAND_seed` with a literal.

## Why is this bad?
A day has only 86,400 seconds: an attacker can try all seeds in a moment and reproduce every
number the program draws.

## Example
```c
srand(time(NULL));
make_token(token);
```

Use instead:
```c
unsigned seed;
if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
    abort();
```

## References
- CWE-337: Predictable Seed in Pseudo-Random Number Generator (PRNG)
- CWE-338: Use of Cryptographically Weak Pseudo-Random Number Generator (PRNG)
- SEI CERT C MSC32-C: Properly seed pseudorandom number generators
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function, call_at
from jarvis_ls.codeintel.nodes import bare, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.c.identifier_words import about_security
from jarvis_ls.jsec.local.c.reaching_definitions import reaching
from jarvis_ls.jsec.local.constants import constant, string_literal

SEEDERS = {
    "srand": 0,
    "srandom": 0,
    "srand48": 0,
    "qsrand": 0,
    "g_random_set_seed": 0,
    "RAND_seed": 0,
    "RAND_add": 0,
    "gsl_rng_set": 1,
}
CLOCKS = frozenset(
    {
        "time",
        "clock",
        "getpid",
        "getppid",
        "gettimeofday",
        "GetTickCount",
        "_time64",
        "GetCurrentProcessId",
    }
)
_NONE = frozenset({"0", "0.0", "0.", "0.0f"})
"""Entropy that is claimed of what only sets processes apart."""
CRYPTOGRAPHIC = frozenset({"RAND_seed", "RAND_add"})


@rule(
    query=calls(*SEEDERS),
    category="crypto",
    cwe=(337, 338),
    confidence=0.6,
    suggestion="Seed from 'getrandom', or use a generator that needs no seed.",
)
def predictable_random_seed(call: Call) -> Iterator[Report]:
    seed = call.arg(SEEDERS[call.name])
    if seed is None:
        return
    source = _source(seed, call)
    if not source or (call.name == "RAND_add" and text(call.arg(2)) in _NONE):
        return
    name = call.function.name if call.function is not None else ""
    secure = call.name in CRYPTOGRAPHIC or about_security(name.rpartition("::")[2])
    yield Report(
        call.node,
        "Seed passed to '{name}' is predictable: it is derived from {source}.",
        confidence=0.6 if secure else 0.3,
        pattern=call.name,
        name=call.written,
        source=source,
    )


def _source(seed: Node, call: Call) -> str:
    if string_literal(seed) is not None or constant(seed, call.function, call.unit) is not None:
        return "a constant"
    return _clock(seed, call.function, call, 3)


def _clock(node: Node, function: Function | None, call: Call, fuel: int) -> str:
    """Return the clock or process function a seed is derived from, or an empty string."""
    node = bare(node)
    if fuel <= 0:
        return ""
    if node.type == "call_expression":
        inner = call_at(call.unit, call.item, node, function)
        return f"'{inner.name}'" if inner is not None and inner.name in CLOCKS else ""
    if node.type == "binary_expression":
        sides = [_clock(side, function, call, fuel - 1) for side in node.named_children[:2]]
        known = [
            side or (constant(n, function, call.unit) is not None and "-")
            for side, n in zip(sides, node.named_children, strict=False)
        ]
        return next((s for s in sides if s), "") if all(known) else ""
    if node.type == "identifier" and function is not None:
        for write in reaching(function, text(node), node.start_byte) or ():
            if write.value is not None:
                return _clock(write.value, function, call, fuel - 1)
            if write.call is not None:
                return f"'{write.call.name}'" if write.call.name in CLOCKS else ""
    return ""
