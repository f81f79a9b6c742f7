"""Password compared with a literal.

## What it does
Finds `strcmp` and the like where one side is a string literal and the name of the other suggests a
password or secret.

## Why is this bad?
The literal is a hard-coded master password, known to everyone with the binary and the same in
every installation. `strcmp` also stops at the first difference, a timing side channel.

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

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.c.credentials import is_placeholder
from jarvis_ls.jsec.local.c.identifier_words import names_secret
from jarvis_ls.jsec.local.constants import string_literal

COMPARING = tuple(
    "strcmp strncmp memcmp strcasecmp wcscmp wcsncmp _stricmp lstrcmpA lstrcmpW lstrcmp "
    "g_strcmp0".split()
)


@rule(
    query=calls(*COMPARING),
    category="secrets",
    cwe=(798, 259),
    confidence=0.75,
    suggestion="Compare salted password hashes (argon2, scrypt, bcrypt) in constant time.",
)
def literal_password_comparison(call: Call) -> Iterator[Report]:
    for place, other in ((0, 1), (1, 0)):
        literal = string_literal(call.arg(place), call.function)
        name = text(call.arg(other)).rpartition(".")[2].rpartition(">")[2].rpartition("]")[2]
        if literal is None or is_placeholder(literal) or literal.startswith(("/", "./", "\\")):
            continue
        if names_secret(name):
            confidence = 0.5 if _is_protocol_word(literal) else 0.75
        elif _looks_chosen(literal):
            confidence = 0.5
        else:
            continue
        yield Report(
            call.node,
            "'{name}' is compared with a hard-coded password.",
            confidence=confidence,
            pattern=call.name,
            name=name,
        )
        return


def _is_protocol_word(literal: str) -> bool:
    """Return whether a literal reads like an answer or a keyword, not like a password."""
    answers = ("none", "null", "yes", "no", "ask", "ok")
    return literal.lower() in answers or (literal.isupper() and not any(map(str.isdigit, literal)))


def _looks_chosen(literal: str) -> bool:
    """Return whether a literal looks like a password by the usual rules: upper and lower case,
    digits and a symbol, and nothing of a path, format or version."""
    return (
        8 <= len(literal) <= 32
        and any(c.isupper() for c in literal)
        and any(c.islower() for c in literal)
        and any(c.isdigit() for c in literal)
        and any(c in "!@#$^&*?" for c in literal)
        and not any(c in "/\\.%<>{}()[]=:;,|" for c in literal)
    )
