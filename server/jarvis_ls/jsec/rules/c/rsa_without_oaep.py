"""RSA without OAEP padding.

## What it does
Finds RSA encryption with PKCS #1 v1.5 padding or without padding, where OAEP is available.

## Why is this bad?
Without padding, equal plaintexts give equal ciphertexts and small ones are recovered by taking a
root. With PKCS #1 v1.5, an attacker who can query a padding oracle decrypts any message
(Bleichenbacher's attack).

## Example
```c
RSA_public_encrypt(length, text, out, rsa, RSA_PKCS1_PADDING);
```

Use instead:
```c
RSA_public_encrypt(length, text, out, rsa, RSA_PKCS1_OAEP_PADDING);
```

## References
- CWE-780: Use of RSA Algorithm without OAEP
- CWE-327: Use of a Broken or Risky Cryptographic Algorithm
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, rule

PADDINGS = {"RSA_public_encrypt": 4, "RSA_private_decrypt": 4, "EVP_PKEY_CTX_set_rsa_padding": 1}
BAD = {"RSA_PKCS1_PADDING": 0.5, "RSA_NO_PADDING": 0.45, "RSA_SSLV23_PADDING": 0.65}
SIGNING = ("sign", "verify")


@rule(
    query=calls(*PADDINGS, "CryptEncrypt"),
    category="crypto",
    cwe=(780, 327),
    confidence=0.5,
    severity="medium",
    suggestion="Use OAEP padding for both encryption and decryption.",
    fixable=True,
)
def rsa_without_oaep(call: Call) -> Iterator[Report]:
    if call.name == "CryptEncrypt":
        if text(call.arg(3)) == "0" and _has_rsa_key(call):
            yield Report(call.node, "RSA encryption without OAEP padding.", pattern=call.name)
        return
    padding = call.arg(PADDINGS[call.name])
    confidence = BAD.get(text(padding))
    if confidence is None or padding is None:
        return
    around = call.function.name.lower() if call.function is not None else ""
    if call.name.startswith("EVP") and (
        any(word in around for word in SIGNING)
        or (call.function is not None and _signs(call.function))
    ):
        return
    yield Report(
        padding,
        "RSA encryption without OAEP padding.",
        confidence=confidence,
        pattern=call.name,
        fix=Rewrite("Use OAEP padding", [(padding, "RSA_PKCS1_OAEP_PADDING")], safe=False),
    )


@once_per_function
def _signs(function: Function) -> bool:
    """Return whether the function calls something that signs or verifies."""
    return any("sign" in c.name.lower() or "verify" in c.name.lower() for c in function.calls)


def _has_rsa_key(call: Call) -> bool:
    return call.function is not None and text(call.arg(0)) in _rsa_keys(call.function)


@once_per_function
def _rsa_keys(function: Function) -> set[str]:
    """Return the variables that take an RSA key in the function."""
    return {
        text(made.arg(3)).lstrip("&")
        for made in function.calls
        if made.name == "CryptGenKey"
        and ("RSA" in text(made.arg(1)) or text(made.arg(1)) == "AT_KEYEXCHANGE")
    }
