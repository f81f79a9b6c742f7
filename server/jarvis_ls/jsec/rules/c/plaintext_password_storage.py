"""A password is read in the clear from a file or connection and used as it is.

## What it does
Finds functions for logging in (`LogonUser`, `mysql_real_connect`, ...) whose password was filled by
`fgets`, `fread`, `recv` and the like in the same function, with no decryption or hashing in
between. Input from the terminal (`stdin`) is left alone.

## Why is this bad?
Who can read the file, its backups, or the connection has the password.

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

from jarvis_ls.codeintel.code import Call, bare, field, operator_of, text
from jarvis_ls.jsec.c.credentials import secret_argument
from jarvis_ls.jsec.c.texts import READERS, Content, contents_before, names_of
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.flow.library.tables import PASSWORDS, TABLE
from jarvis_ls.jsec.rule import Report, calls, flow, rule

FILES = {"fgets": 2, "fgetws": 2, "fread": 3, "fscanf": 0, "fwscanf": 0}
SOCKETS = frozenset({"recv", "recvfrom", "read", "ReadFile", "RegQueryValueExA",
                     "RegQueryValueExW", "GetPrivateProfileStringA"})  # fmt: skip
PROTECTION = ("decrypt", "unprotect", "hash", "unseal", "crypt")


@rule(
    query=flow("plain-secret", guess=calls(*PASSWORDS)),
    category="secrets",
    cwe=(256, 319),
    confidence=0.7,
    severity="medium",
    suggestion="Keep the password encrypted or in a key store, and decrypt it right before use.",
)
def plaintext_password_storage(call: Call | Fault) -> Iterator[Report]:
    if isinstance(call, Fault):
        yield Report(call, "A password that was read in the clear is used as it is.", cwe=(256,))
        return
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
        "'{password}' is used just as '{reader}' read it: it is stored or sent in the clear.",
        pattern=reader.name,
        password=text(argument),
        reader=reader.name,
        causes=[(reader.node, "Read here.")],
    )


def _may_decrypt(event: Content) -> bool:
    """Whether what a buffer holds may be in the clear only after this: it is given to a function
    of the program's own, or its characters are worked out."""
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
