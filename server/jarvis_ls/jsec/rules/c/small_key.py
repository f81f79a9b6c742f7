"""Cryptographic key too small.

## What it does
Finds RSA, DSA and Diffie-Hellman keys below 2048 bits, elliptic curves below 224 bits and
symmetric keys below 112 bits, where the size is a constant.

## Why is this bad?
RSA keys of 768 bits have been factored in public, 1024 bits are within reach of state actors, and
40 or 56-bit keys fall to brute force.

## Example
```c
RSA_generate_key_ex(rsa, 1024, e, NULL);
```

Use instead:
```c
RSA_generate_key_ex(rsa, 3072, e, NULL);
```

## References
- CWE-326: Inadequate Encryption Strength
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.constants import constant, string_literal

SIZES = {
    "RSA_generate_key": (0, 2048),
    "RSA_generate_key_ex": (1, 2048),
    "RSA_generate_multi_prime_key": (1, 2048),
    "EVP_PKEY_CTX_set_rsa_keygen_bits": (1, 2048),
    "EVP_RSA_gen": (0, 2048),
    "DSA_generate_parameters": (0, 2048),
    "DSA_generate_parameters_ex": (1, 2048),
    "EVP_PKEY_CTX_set_dsa_paramgen_bits": (1, 2048),
    "DH_generate_parameters": (0, 2048),
    "DH_generate_parameters_ex": (1, 2048),
    "EVP_PKEY_CTX_set_dh_paramgen_prime_len": (1, 2048),
    "mbedtls_rsa_gen_key": (3, 2048),
    "gnutls_x509_privkey_generate": (2, 2048),
    "wc_MakeRsaKey": (1, 2048),
    "BCryptGenerateKeyPair": (2, 2048),
    "RC4_set_key": (1, 16),
    "BF_set_key": (1, 16),
}
"""Functions, with the position of the size and the smallest acceptable value."""

CURVES = frozenset(
    {
        "EC_KEY_new_by_curve_name",
        "EVP_PKEY_CTX_set_ec_paramgen_curve_nid",
        "EC_GROUP_new_by_curve_name",
    }
)
FLAGS = {"CryptGenKey": 2, "CryptDeriveKey": 3}
_SMALL_CURVE = re.compile(
    r"NID_(?:secp|sect|X9_62_prime|X9_62_c2pnb|wap_wsg_idm_ecid_\D*)"
    r"(?:112|113|128|131|160|163|176|191|192|193)"
)
_GCRYPT = re.compile(r"nbits\s+\d+:(\d+)")


@rule(
    query=calls(*SIZES, *CURVES, *FLAGS, "gcry_sexp_build", "gcry_sexp_new"),
    category="crypto",
    cwe=(326,),
    confidence=0.9,
    suggestion="Use at least 3072 bits for RSA, 256 for elliptic curves and 128 for AES.",
)
def small_key(call: Call) -> Iterator[Report]:
    size = _size(call)
    if not size:
        return
    yield Report(
        call.node,
        "'{name}' uses a key that is too small: {size}.",
        pattern=call.name,
        name=call.name,
        size=size,
    )


def _size(call: Call) -> str:
    """Return a description of the key size when it is too small, else an empty string."""
    if call.name in CURVES:
        found = next((m for a in call.arguments if (m := _SMALL_CURVE.search(text(a)))), None)
        return found[0] if found else ""
    if call.name in FLAGS:
        flags = constant(call.arg(FLAGS[call.name]), call.function, call.unit)
        bits = 0 if flags is None else flags >> 16
        public = any(w in text(call.arg(1)) for w in ("RSA", "AT_", "DSS", "DH"))
        return f"{bits} bits" if 0 < bits < (2048 if public else 112) else ""
    if call.name.startswith("gcry_"):
        written = string_literal(call.arg(2) or call.arg(1), call.function) or ""
        match = _GCRYPT.search(written)
        return f"{match[1]} bits" if match and int(match[1]) < 2048 and "ecc" not in written else ""
    place, least = SIZES[call.name]
    size = constant(call.arg(place), call.function, call.unit)
    if size is None or not 0 < size < least:
        return ""
    if call.name == "BCryptGenerateKeyPair" and size in (256, 384, 521):
        return ""
    return f"{size} bits" if least > 16 else f"{size} bytes"
