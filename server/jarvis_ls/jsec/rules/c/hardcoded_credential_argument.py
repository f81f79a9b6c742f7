"""Hard-coded credential passed to a function.

## What it does
Finds calls of known functions for authentication, encryption and signing (`LogonUser`,
`mysql_real_connect`, `EVP_EncryptInit_ex`, `HMAC`, ...) whose password or key is a string literal,
also through a macro, a variable or a buffer it was copied to.

## Why is this bad?
Everyone with the source or the binary has the secret, it is the same in every installation, and
changing it requires a release.

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

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import bare, text
from jarvis_ls.jsec.base.rule import Report, calls, flow, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.flow.library.c_functions import KEYS, PASSWORDS
from jarvis_ls.jsec.local.c.credentials import literal_value, secret_argument
from jarvis_ls.jsec.local.c.proof import pick_template
from jarvis_ls.jsec.local.constants import declaration, string_literal

CONNECTIONS = {
    "PQconnectdb": 0,
    "PQconnectStart": 0,
    "SQLDriverConnect": 2,
    "SQLDriverConnectA": 2,
    "SQLDriverConnectW": 2,
    "redisCommand": 1,
    "mongoc_client_new": 0,
}
_INSIDE = re.compile(r"(?i)\b(?:pwd|password)\s*=\s*[^;%\s'\"]|^AUTH\s+[^%\s]|://[^/:@]+:[^@%]+@")


@rule(
    query=flow("hard-coded-secret", guess=calls(*PASSWORDS, *KEYS, *CONNECTIONS)),
    category="secrets",
    cwe=(798, 259, 321),
    confidence=0.65,
    suggestion=(
        "Read the secret at run time from a protected file, the environment or a key store."
    ),
)
def hardcoded_credential_argument(call: Call) -> Iterator[Report]:
    if call.name in CONNECTIONS:
        written = string_literal(call.arg(CONNECTIONS[call.name]), call.function) or ""
        if _INSIDE.search(written[:400]):
            yield Report(
                call.node,
                "Hard-coded password is passed to '{name}'.",
                pattern=call.name,
                name=call.name,
            )
        return
    argument = secret_argument(call)
    if argument is None:
        return
    value = literal_value(argument, call.function)
    if not value and not _is_constant_array(call):
        return
    yield Report(
        argument,
        "Hard-coded password is passed to '{name}'."
        if call.name in PASSWORDS
        else "Hard-coded cryptographic key is passed to '{name}'.",
        confidence=0.5 if call.name == "CryptHashData" else 0.65,
        pattern=call.name,
        name=call.name,
    )


@on_fault(hardcoded_credential_argument)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(
        fault,
        pick_template(
            fault,
            "Hard-coded password or key is passed to '{by}'.",
            "Hard-coded password or key is used.",
        ),
        cwe=(259, 321),
    )


def _is_constant_array(call: Call) -> bool:
    """Return whether a key is an array of constants that the function only reads."""
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
