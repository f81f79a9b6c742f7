"""A function that needs a password or key is given a literal.

## What it does
Finds calls of known functions for logging in, encrypting and signing (`LogonUser`,
`mysql_real_connect`, `EVP_EncryptInit_ex`, `HMAC`, ...) whose password or key is a string literal,
also through a macro, a variable or a buffer it was copied into.

## Why is this bad?
Everybody with the source or the binary has the secret, it is the same in every installation, and
changing it takes a release.

## Example
```c
mysql_real_connect(db, host, "app", "s3cret!", "shop", 0, NULL, 0);
```

Use instead:
```c
mysql_real_connect(db, host, "app", getenv("DB_PASSWORD"), "shop", 0, NULL, 0);
```

## References
- CWE-798: Use of Hard-coded Credentials
- CWE-259: Use of Hard-coded Password
- CWE-321: Use of Hard-coded Cryptographic Key
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, bare, text
from jarvis_ls.jsec.c.credentials import literal_value, secret_argument
from jarvis_ls.jsec.c.proof import told
from jarvis_ls.jsec.constants import declaration, string_literal
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.flow.library.tables import KEYS, PASSWORDS
from jarvis_ls.jsec.rule import Report, calls, flow, rule

CONNECTIONS = {"PQconnectdb": 0, "PQconnectStart": 0, "SQLDriverConnect": 2, "SQLDriverConnectA": 2,
               "SQLDriverConnectW": 2, "redisCommand": 1, "mongoc_client_new": 0}  # fmt: skip
_INSIDE = re.compile(r"(?i)\b(?:pwd|password)\s*=\s*[^;%\s'\"]|^AUTH\s+[^%\s]|://[^/:@]+:[^@%]+@")


@rule(
    query=flow("hard-coded-secret", guess=calls(*PASSWORDS, *KEYS, *CONNECTIONS)),
    category="secrets",
    cwe=(798, 259, 321),
    confidence=0.85,
    suggestion="Read it at run time from a protected file, the environment or a key store.",
)
def hardcoded_credential_argument(call: Call | Fault) -> Iterator[Report]:
    if isinstance(call, Fault):
        yield Report(
            call,
            told(
                call,
                "'{by}' is given a password or key that stands in the source.",
                "A password or key that stands in the source is used here.",
            ),
            cwe=(259, 321),
        )
        return
    if call.name in CONNECTIONS:
        written = string_literal(call.arg(CONNECTIONS[call.name]), call.function) or ""
        if _INSIDE.search(written[:400]):
            yield Report(call.node, "'{name}' is given a password that stands in the source.",
                         pattern=call.name, name=call.name)  # fmt: skip
        return
    argument = secret_argument(call)
    if argument is None:
        return
    value = literal_value(argument, call.function)
    if not value and not _is_constant_array(call):
        return
    yield Report(
        argument,
        "'{name}' is given a password that stands in the source."
        if call.name in PASSWORDS
        else "'{name}' is given a key that stands in the source.",
        confidence=0.7 if call.name == "CryptHashData" else 0.85,
        pattern=call.name,
        name=call.name,
    )


def _is_constant_array(call: Call) -> bool:
    """Whether a key is an array of numbers written in the function and only read there."""
    argument = secret_argument(call)
    if argument is None or call.function is None or call.name not in KEYS:
        return False
    node = bare(argument)
    declared = declaration(node, call.function)
    initial = getattr(declared, "initial", None)
    if declared is None or initial is None or initial.type != "initializer_list":
        return False
    numbers = [c for c in initial.named_children if c.type in ("number_literal", "char_literal")]
    if len(numbers) < 8:
        return False
    uses = call.function.uses(text(node), 0, call.node.start_byte)
    return len(uses) <= 1 or "const" in declared.type
