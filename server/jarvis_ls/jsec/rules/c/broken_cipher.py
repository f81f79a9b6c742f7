"""Broken or risky cryptographic algorithm.

## What it does
Finds DES, triple DES, RC2, RC4, Blowfish and null ciphers of OpenSSL, CryptoAPI and CNG,
libgcrypt, mbed TLS and CommonCrypto, and ECB mode of any cipher. A function is reported once for
each. Confidence is low: protocols and formats require these algorithms, and what is one of several
alternatives is offered, not chosen.

## Why is this bad?
A DES key can be brute-forced within hours, RC4 has biased output, ciphers with 64-bit blocks leak
after some gigabytes (Sweet32), and ECB reveals equal blocks.

## Example
```c
EVP_EncryptInit_ex(context, EVP_des_cbc(), NULL, key, iv);
```

Use instead:
```c
EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, iv);
```

## References
- CWE-327: Use of a Broken or Risky Cryptographic Algorithm
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.c.algorithms import chosen_algorithm, is_alternative

_DES_MODES = ("ecb", "cbc", "cfb", "cfb1", "cfb8", "cfb64", "ofb")
DIRECT = {
    **{f"EVP_des_{mode}": "DES" for mode in _DES_MODES},
    **{
        f"EVP_des_ede{n}{mode}": "triple DES"
        for n in ("", "3")
        for mode in ("", "_ecb", "_cbc", "_cfb", "_cfb64", "_ofb")
    },
    **{
        f"EVP_{name}_{mode}": label
        for name, label in (
            ("rc2", "RC2"),
            ("bf", "Blowfish"),
            ("cast5", "CAST5"),
            ("idea", "IDEA"),
        )
        for mode in ("ecb", "cbc", "cfb", "cfb64", "ofb")
    },
    **{
        f"EVP_{name}_{bits}_ecb": "ECB mode"
        for name in ("aes", "camellia", "aria")
        for bits in (128, 192, 256)
    },
    "EVP_desx_cbc": "DES",
    "EVP_rc4": "RC4",
    "EVP_rc4_40": "RC4",
    "EVP_rc2_40_cbc": "RC2",
    "EVP_enc_null": "no encryption",
    "DES_set_key": "DES",
    "DES_set_key_checked": "DES",
    "DES_set_key_unchecked": "DES",
    "DES_ecb_encrypt": "DES",
    "DES_ncbc_encrypt": "DES",
    "DES_cbc_encrypt": "DES",
    "DES_ede3_cbc_encrypt": "triple DES",
    "DES_ecb3_encrypt": "triple DES",
    "DES_crypt": "DES",
    "DES_fcrypt": "DES",
    "RC4": "RC4",
    "RC4_set_key": "RC4",
    "RC2_set_key": "RC2",
    "RC2_cbc_encrypt": "RC2",
    "BF_set_key": "Blowfish",
    "AES_ecb_encrypt": "ECB mode",
    "mbedtls_des_setkey_enc": "DES",
    "mbedtls_des_setkey_dec": "DES",
    "mbedtls_des3_set2key_enc": "triple DES",
    "mbedtls_des3_set3key_enc": "triple DES",
    "mbedtls_arc4_setup": "RC4",
    "mbedtls_arc4_crypt": "RC4",
    "mbedtls_aes_crypt_ecb": "ECB mode",
    "setkey": "DES",
    "encrypt_r": "DES",
    "wc_Des_SetKey": "DES",
    "wc_Arc4SetKey": "RC4",
    "ecb_crypt": "DES",
    "cbc_crypt": "DES",
    "des_setparity": "DES",
}
"""Functions that implement a single algorithm."""

CHOOSING = frozenset(
    "CryptDeriveKey CryptGenKey CryptGetProvParam gcry_cipher_open "
    "mbedtls_cipher_info_from_type mbedtls_cipher_setup BCryptOpenAlgorithmProvider "
    "CCCrypt CCCryptorCreate EVP_CIPHER_fetch EVP_get_cipherbyname EVP_get_cipherbynid "
    "psa_cipher_encrypt_setup BCryptSetProperty".split()
)
"""Functions whose arguments select the algorithm."""

_NAMED = (
    (
        re.compile(
            r"\bCALG_(?:DES|CYLINK_MEK|DESX)\b|_DES_(?!3|EDE)|\bkCCAlgorithmDES\b"
            r"|\bGCRY_CIPHER_DES\b|BCRYPT_DESX?_ALGORITHM"
        ),
        "DES",
    ),
    (
        re.compile(r"\bCALG_3DES(?:_112)?\b|_3DES|_DES_EDE|\bkCCAlgorithm3DES\b|BCRYPT_3DES"),
        "triple DES",
    ),
    (re.compile(r"\bCALG_RC4\b|ARCFOUR|_ARC4|kCCAlgorithmRC4|BCRYPT_RC4"), "RC4"),
    (re.compile(r"\bCALG_RC2\b|RFC2268|kCCAlgorithmRC2|BCRYPT_RC2"), "RC2"),
    (re.compile(r"\bCALG_RC5\b"), "RC5"),
    (re.compile(r"BLOWFISH"), "Blowfish"),
    (
        re.compile(
            r"_MODE_ECB|kCCOptionECBMode|BCRYPT_CHAIN_MODE_ECB|PSA_ALG_ECB_NO_PADDING"
            r"|MBEDTLS_CIPHER_[A-Z0-9_]+_ECB\b"
        ),
        "ECB mode",
    ),
)
_TEXT_NAMES = re.compile(r"(?i)^(des|rc4|rc2|bf|blowfish|null)\b|-ecb$|^des-ede")

_CONFIDENCE = {"Blowfish": 0.5, "CAST5": 0.5, "IDEA": 0.5, "triple DES": 0.45, "ECB mode": 0.4}
"""Of algorithms with legitimate uses left: other modes are built from ECB."""
_OFFERED = 0.3
"""Confidence where the other side of a protocol, or a user, chooses among several algorithms."""
_TRIPLE = frozenset({"DES_ecb2_encrypt", "DES_ede2_cbc_encrypt", "DES_ede3_cbc_encrypt"})
"""Functions that make triple DES of several key schedules of DES."""
_SCHEDULES = frozenset({"DES_set_key", "DES_set_key_checked", "DES_set_key_unchecked"})


@rule(
    query=calls(*DIRECT, *CHOOSING),
    category="crypto",
    cwe=(327,),
    confidence=0.55,
    suggestion="Use an authenticated cipher such as AES-256-GCM or ChaCha20-Poly1305.",
)
def broken_cipher(call: Call) -> Iterator[Report]:
    algorithm = _direct(call) or _by_argument(call)
    if not algorithm:
        return
    if algorithm == "DES" and _is_part_of_triple(call):
        algorithm = "triple DES"
    if not _is_first(call, algorithm):
        return
    yield Report(
        call.node,
        "'{name}' uses {algorithm}, which is not secure.",
        confidence=_OFFERED if is_alternative(call) else _CONFIDENCE.get(algorithm, 0.55),
        pattern=call.name,
        name=call.name,
        algorithm=algorithm,
    )


def _is_part_of_triple(call: Call) -> bool:
    """Return whether the function prepares two keys of DES, or uses them one after another."""
    if call.name not in _SCHEDULES or call.function is None:
        return False
    others = [other for other in call.function.calls if other.name in _SCHEDULES | _TRIPLE]
    return len({text(other.arg(1)) for other in others if other.name in _SCHEDULES}) > 1 or any(
        other.name in _TRIPLE for other in others
    )


def _is_first(call: Call, algorithm: str) -> bool:
    """Return whether no earlier call of the function uses the algorithm."""
    if call.function is None:
        return True
    same = [
        c for c in call.function.calls if c.name == call.name or DIRECT.get(c.name) == algorithm
    ]
    earlier = (c for c in same if c.node.start_byte < call.node.start_byte)
    return not any(_direct(c) == algorithm or _direct(c) == "DES" for c in earlier)


def _direct(call: Call) -> str:
    if call.is_method or (call.name == "setkey" and len(call.arguments) != 1):
        return ""
    return DIRECT.get(call.name, "")


def _by_argument(call: Call) -> str:
    if call.name not in CHOOSING:
        return ""
    return chosen_algorithm(call, _TEXT_NAMES, _NAMED, arguments=6)
