"""A password is compared with a literal.

## What it does
Finds `strcmp` and the like where one side is a string literal and the other has a name that
speaks of a password or secret.

## Why is this bad?
The literal is a master password: everybody with the binary has it, and it is the same everywhere.
`strcmp` also stops at the first difference, which tells a patient attacker how much was right.

## Example
```c
if (strcmp(password, "letmein") == 0)
    grant_access();
```

Use instead:
```c
if (crypto_pwhash_str_verify(stored_hash, password, strlen(password)) == 0)
    grant_access();
```

## References
- CWE-798: Use of Hard-coded Credentials
- CWE-259: Use of Hard-coded Password
- CWE-208: Observable Timing Discrepancy
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, text
from jarvis_ls.jsec.c.credentials import is_placeholder
from jarvis_ls.jsec.c.words import names_secret
from jarvis_ls.jsec.constants import string_literal
from jarvis_ls.jsec.rule import Report, calls, rule

COMPARING = ("strcmp", "strncmp", "memcmp", "strcasecmp", "wcscmp", "wcsncmp", "_stricmp",
             "lstrcmpA", "lstrcmpW", "lstrcmp", "g_strcmp0")  # fmt: skip


@rule(
    query=calls(*COMPARING),
    category="secrets",
    cwe=(798, 259),
    confidence=0.75,
    suggestion="Compare salted password hashes (argon2, scrypt, bcrypt) in constant time.",
)
def literal_password_comparison(call: Call) -> Iterator[Report]:
    for one, other in ((0, 1), (1, 0)):
        literal = string_literal(call.arg(one), call.function)
        name = text(call.arg(other)).rpartition(".")[2].rpartition(">")[2].rpartition("]")[2]
        if literal is None or is_placeholder(literal) or literal.startswith(("/", "./", "\\")):
            continue
        if names_secret(name):
            plain = literal.lower() in ("none", "null", "yes", "no", "ask")
            confidence = 0.5 if plain else 0.75
        elif _looks_chosen(literal):
            confidence = 0.5
        else:
            continue
        yield Report(
            call.node,
            "'{name}' is compared with a password that stands in the source.",
            confidence=confidence,
            pattern=call.name,
            name=name,
        )
        return


def _looks_chosen(literal: str) -> bool:
    """Whether a literal looks like a password that obeys the usual rules: capitals, small
    letters, digits and a sign, and nothing of a path, format or version."""
    return (
        8 <= len(literal) <= 32
        and any(c.isupper() for c in literal)
        and any(c.islower() for c in literal)
        and any(c.isdigit() for c in literal)
        and any(c in "!@#$^&*?" for c in literal)
        and not any(c in "/\\.%<>{}()[]=:;,|" for c in literal)
    )
