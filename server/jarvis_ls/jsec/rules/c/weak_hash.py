"""Use of a weak hash function.

## What it does
Finds MD2, MD4, MD5 and SHA-1 of OpenSSL, CryptoAPI and CNG, libgcrypt, mbed TLS and CommonCrypto.
Confidence is low where names suggest checksums or caches.

## Why is this bad?
Collisions of MD5 and SHA-1 can be computed, so they prove neither integrity nor who signed a
document. They are also so fast that passwords fall to brute force.

## Example
```c
MD5((unsigned char *) password, strlen(password), digest);
```

Use instead:
```c
SHA256((unsigned char *) message, length, digest);
```

## References
- CWE-328: Use of Weak Hash
- CWE-327: Use of a Broken or Risky Cryptographic Algorithm
- CWE-916: Use of Password Hash With Insufficient Computational Effort
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.c.algorithms import chosen_algorithm
from jarvis_ls.jsec.local.c.identifier_words import names_secret, words

_LOW_LEVEL = ("", "_Init", "_CTX_init")
DIRECT = {
    **{
        f"{name}{suffix}": label
        for name, label in (("MD2", "MD2"), ("MD4", "MD4"), ("MD5", "MD5"), ("SHA1", "SHA-1"))
        for suffix in _LOW_LEVEL
    },
    "EVP_md2": "MD2",
    "EVP_md4": "MD4",
    "EVP_md5": "MD5",
    "EVP_sha1": "SHA-1",
    "EVP_sha": "SHA-0",
    "EVP_md5_sha1": "MD5",
    "EVP_mdc2": "MDC-2",
    "CC_MD2": "MD2",
    "CC_MD4": "MD4",
    "CC_MD5": "MD5",
    "CC_SHA1": "SHA-1",
    "CC_MD5_Init": "MD5",
    "CC_SHA1_Init": "SHA-1",
    "mbedtls_md5": "MD5",
    "mbedtls_sha1": "SHA-1",
    "mbedtls_md5_starts": "MD5",
    "mbedtls_sha1_starts": "SHA-1",
    "mbedtls_md5_ret": "MD5",
    "mbedtls_sha1_ret": "SHA-1",
    "mbedtls_md2": "MD2",
    "wc_InitMd5": "MD5",
    "wc_Md5Hash": "MD5",
    "wc_ShaHash": "SHA-1",
    "wc_InitSha": "SHA-1",
    "MD5Init": "MD5",
    "SHA1Init": "SHA-1",
    "md5_init": "MD5",
    "sha1_init": "SHA-1",
}
"""Functions of a fixed algorithm."""

CHOOSING = frozenset(
    "CryptCreateHash gcry_md_open gcry_md_hash_buffer mbedtls_md_info_from_type CCHmac "
    "BCryptOpenAlgorithmProvider EVP_MD_fetch EVP_get_digestbyname "
    "g_compute_checksum_for_data g_checksum_new g_compute_checksum_for_string".split()
)
_NAMED = (
    (re.compile(r"\bCALG_MD5\b|_MD5\b|BCRYPT_MD5"), "MD5"),
    (re.compile(r"\bCALG_SHA1?\b|_SHA1\b|BCRYPT_SHA1_|AlgSHA1\b"), "SHA-1"),
    (re.compile(r"\bCALG_MD4\b|_MD4\b"), "MD4"),
    (re.compile(r"\bCALG_MD2\b|_MD2\b"), "MD2"),
)
_TEXT_NAMES = re.compile(r"(?i)^(?:md[245]|sha-?1?)$")
_HARMLESS = frozenset("checksum etag cache fingerprint uuid dedup hashtable crc test git".split())


@rule(
    query=calls(*DIRECT, *CHOOSING),
    category="crypto",
    cwe=(328, 327),
    confidence=0.45,
    severity="medium",
    suggestion="Use SHA-256 or stronger; for passwords use Argon2, scrypt or bcrypt.",
)
def weak_hash(call: Call) -> Iterator[Report]:
    algorithm = DIRECT.get(call.name, "") if not call.is_method else ""
    algorithm = algorithm or _algorithm_of(call)
    if not algorithm:
        return
    yield Report(
        call.node,
        "'{name}' uses the weak hash function {algorithm}.",
        confidence=_confidence(call, algorithm),
        pattern=call.name,
        name=call.name,
        algorithm=algorithm,
    )


def _algorithm_of(call: Call) -> str:
    if call.name not in CHOOSING:
        return ""
    return chosen_algorithm(call, _TEXT_NAMES, _NAMED, arguments=4)


def _confidence(call: Call, algorithm: str) -> float:
    around = call.function.name if call.function is not None else ""
    if any(names_secret(text(argument)) for argument in call.arguments):
        return 0.75
    if not _HARMLESS.isdisjoint(words(around)):
        return 0.3
    return 0.4 if algorithm == "SHA-1" else 0.45  # protocols and file formats require them
