"""Constant initialisation vector or nonce.

## What it does
Finds initialisation vectors and nonces that are a literal or an array of constants which is not
filled before it is used to encrypt.

## Why is this bad?
With the same key and IV, equal plaintext prefixes give equal ciphertext. In counter modes (CTR,
GCM, ChaCha20) reuse of a nonce reveals the XOR of two messages, and with GCM the authentication
key.

## Example
```c
unsigned char iv[16] = {0};
EVP_EncryptInit_ex(context, EVP_aes_256_cbc(), NULL, key, iv);
```

Use instead:
```c
unsigned char iv[16];
if (RAND_bytes(iv, sizeof iv) != 1)
    return -1;
EVP_EncryptInit_ex(context, EVP_aes_256_cbc(), NULL, key, iv);
```

## References
- CWE-329: Generation of Predictable IV with CBC Mode
- CWE-323: Reusing a Nonce, Key Pair in Encryption
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import bare, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.constants import declaration, string_literal

VECTORS = {
    "EVP_EncryptInit_ex": 4,
    "EVP_EncryptInit": 3,
    "EVP_EncryptInit_ex2": 3,
    "AES_cbc_encrypt": 4,
    "mbedtls_aes_crypt_cbc": 3,
    "gcry_cipher_setiv": 1,
    "gcry_cipher_setctr": 1,
    "crypto_secretbox_easy": 3,
    "crypto_secretbox": 3,
    "CCCrypt": 5,
    "crypto_aead_xchacha20poly1305_ietf_encrypt": 7,
    "mbedtls_gcm_crypt_and_tag": 3,
}


@rule(
    query=calls(*VECTORS),
    category="crypto",
    cwe=(329, 323),
    confidence=0.55,
    severity="medium",
    suggestion=(
        "Fill '{vector}' with random bytes for every message and send it with the message."
    ),
)
def fixed_initialisation_vector(call: Call) -> Iterator[Report]:
    vector = call.arg(VECTORS[call.name])
    if vector is None or call.function is None or not _is_fixed(call, bare(vector)):
        return
    if call.name in ("CCCrypt", "AES_cbc_encrypt", "mbedtls_aes_crypt_cbc") and any(
        "ecrypt" in text(a) or "DECRYPT" in text(a) for a in call.arguments
    ):
        return
    yield Report(
        vector,
        "Initialisation vector '{vector}' is constant.",
        pattern=call.name,
        vector=text(vector),
    )


def _is_fixed(call: Call, vector: Node) -> bool:
    if string_literal(vector, call.function):
        return True
    declared = declaration(vector, call.function)
    initial = getattr(declared, "initial", None)
    if declared is None or call.function is None or not declared.arrays or initial is None:
        return False
    return len(call.function.uses(text(vector), 0, call.node.start_byte)) <= 1
