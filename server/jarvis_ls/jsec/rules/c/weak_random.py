"""Cryptographically weak pseudo-random number generator.

## What it does
Finds `rand`, `random`, `drand48` and the like. Confidence is high where names near the call
suggest keys, tokens, passwords or sessions, and low elsewhere, where it is reported once per
function.

## Why is this bad?
These generators are made for statistics. An attacker who sees a few values, or guesses the seed,
can compute all that follow: session ids, keys, salts.

## Example
```c
for (i = 0; i < 16; i++)
    session_key[i] = rand() % 256;
```

Use instead:
```c
if (getrandom(session_key, 16, 0) != 16)
    abort();
```

## References
- CWE-338: Use of Cryptographically Weak Pseudo-Random Number Generator (PRNG)
- CWE-330: Use of Insufficiently Random Values
- SEI CERT C MSC30-C: Do not use the rand() function for generating pseudorandom numbers
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import ancestors, field, text
from jarvis_ls.jsec.base.rule import Report, functions, rule
from jarvis_ls.jsec.local.c.identifier_words import about_security, words

GENERATORS = tuple(
    "rand random rand_r random_r drand48 lrand48 mrand48 erand48 nrand48 jrand48 "
    "g_random_int g_random_int_range qrand random_shuffle".split()
)

_SECRETS = frozenset(
    "password passwd passphrase token secret nonce salt session otp csrf cookie iv "
    "challenge crypto".split()
)


@rule(
    query=functions(calling=GENERATORS),
    category="crypto",
    cwe=(338, 330),
    confidence=0.6,
    suggestion="Use 'getrandom' or 'arc4random' for values that must stay secret.",
)
def weak_random(function: Function) -> Iterator[Report]:
    hinted = False
    statements: set[int] = set()
    for call in function.calls:
        if call.name not in GENERATORS or call.is_method:
            continue
        if call.name in function.unit.facts.defined:
            return
        secure = about_security(function.name.rpartition("::")[2], *_names_around(call))
        if hinted and not secure:
            continue
        hinted = True
        line = call.node.start_point.row
        if line in statements:
            continue  # two numbers make one
        statements.add(line)
        yield Report(
            call.node,
            "'{name}' is predictable and must not be used for secrets.",
            confidence=0.35 if not secure else 0.6 if _is_secret(function, call) else 0.5,
            pattern=call.name,
            name=call.written,
        )


def _is_secret(function: Function, call: Call) -> bool:
    """Return whether names suggest secrets by more than `key` or `id`, which tables have too."""
    names = (function.name.rpartition("::")[2], *_names_around(call))
    return any(_SECRETS & set(words(name)) for name in names)


def _names_around(call: Call) -> list[str]:
    """Return the names that the number is stored in or passed to within its statement."""
    found = []
    for outer in ancestors(call.node):
        if outer.type == "assignment_expression":
            found.append(text(field(outer, "left")))
        elif outer.type == "init_declarator":
            found.append(text(field(outer, "declarator")))
        elif outer.type == "call_expression":
            found.append(text(field(outer, "function")))
        if outer.type.endswith("statement") or outer.type == "declaration":
            break
    return found
