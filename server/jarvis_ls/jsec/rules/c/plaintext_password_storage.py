"""Plaintext storage or transmission of a password.

## What it does
Finds login functions (`LogonUser`, `mysql_real_connect`, ...) whose password was read by `fgets`,
`fread`, `recv` and the like in the same function, with no decryption or hashing in between. Input
from the terminal (`stdin`) is left out.

## Why is this bad?
Anyone who can read the file, its backups or the network traffic obtains the password.

## Example
```c
fgets(password, sizeof password, file);
LogonUserA(user, domain, password, type, provider, &token);
```

Use instead:
```c
fread(sealed, 1, sizeof sealed, file);
unseal_with_user_key(sealed, password);
LogonUserA(user, domain, password, type, provider, &token);
```

## References
- CWE-256: Plaintext Storage of a Password
- CWE-319: Cleartext Transmission of Sensitive Information
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import bare, field, operator_of, text
from jarvis_ls.jsec.base.rule import Report, calls, flow, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.flow.library.c_functions import PASSWORDS, TABLE
from jarvis_ls.jsec.local.c.credentials import secret_argument
from jarvis_ls.jsec.local.c.string_lengths import READERS, Content, contents_before, names_of

FILES = {"fgets": 2, "fgetws": 2, "fread": 3, "fscanf": 0, "fwscanf": 0}
SOCKETS = frozenset(
    {
        "recv",
        "recvfrom",
        "read",
        "ReadFile",
        "RegQueryValueExA",
        "RegQueryValueExW",
        "GetPrivateProfileStringA",
    }
)
PROTECTION = ("decrypt", "unprotect", "hash", "unseal", "crypt")


@rule(
    query=flow("plain-secret", guess=calls(*PASSWORDS)),
    category="secrets",
    cwe=(256, 319),
    confidence=0.7,
    severity="medium",
    suggestion="Store the password encrypted or in a key store, and decrypt it right before use.",
)
def plaintext_password_storage(call: Call) -> Iterator[Report]:
    argument, function = secret_argument(call), call.function
    if argument is None or function is None:
        return
    names = names_of(argument, function)
    reader = None
    for event in contents_before(function, names, call.node.start_byte):
        if _may_decrypt(event):
            return
        if event.call is not None and _reads_stored(event.call):
            reader = event.call
    if reader is None:
        return
    yield Report(
        argument,
        "'{password}' is used exactly as read by '{reader}': it is stored or "
        "transmitted in plaintext.",
        pattern=reader.name,
        password=text(argument),
        reader=reader.name,
        causes=[(reader.node, "Read here.")],
    )


@on_fault(plaintext_password_storage)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(fault, "Password is stored or transmitted in plaintext.", cwe=(256,))


def _may_decrypt(event: Content) -> bool:
    """Return whether the buffer may be decrypted here: it is passed to a function of the program
    itself, or its characters are computed.
    """
    call = event.call
    if call is not None:
        of_protection = any(word in call.name.lower() for word in PROTECTION)
        return of_protection or (call.name not in TABLE and call.name not in READERS)
    operator = operator_of(event.node)
    value = bare(field(event.node, "right") or event.node)
    if value.type == "cast_expression":
        value = bare(field(value, "value") or value)
    return operator not in ("", "=") or value.type == "binary_expression"


def _reads_stored(call: Call) -> bool:
    if call.name in SOCKETS:
        return text(call.arg(0)) not in ("0", "STDIN_FILENO")
    return call.name in FILES and text(call.arg(FILES[call.name])) != "stdin"
