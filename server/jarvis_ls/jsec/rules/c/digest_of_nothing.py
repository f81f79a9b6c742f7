"""A hash or key is made without any data in it.

## What it does
Finds functions that begin a hash (`CryptCreateHash`, `EVP_DigestInit_ex`, `SHA256_Init`,
`HMAC_Init_ex`) and take its result, or derive a key from it, but never feed it any data.

## Why is this bad?
The result is the same for everybody: the hash of nothing. A key derived from it protects nothing,
a signature over it fits every message.

## Example
```c
SHA256_Init(&context);
SHA256_Final(digest, &context);
```

Use instead:
```c
SHA256_Init(&context);
SHA256_Update(&context, message, length);
SHA256_Final(digest, &context);
```

## References
- CWE-325: Missing Cryptographic Step
- CWE-573: Improper Following of Specification by Caller
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, Function, text
from jarvis_ls.jsec.rule import Report, functions, rule

_HASHES = ("MD5", "SHA1", "SHA224", "SHA256", "SHA384", "SHA512", "RIPEMD160")
BEGIN = {
    "CryptCreateHash": 4, "EVP_DigestInit": 0, "EVP_DigestInit_ex": 0, "HMAC_Init": 0,
    "HMAC_Init_ex": 0, "EVP_DigestSignInit": 0, **{f"{name}_Init": 0 for name in _HASHES},
}  # fmt: skip
"""Functions that begin a hash, with the place of its context."""

END = {
    "CryptGetHashParam": 0, "CryptDeriveKey": 2, "CryptSignHashA": 0, "CryptSignHashW": 0,
    "EVP_DigestFinal": 0, "EVP_DigestFinal_ex": 0, "HMAC_Final": 0, "EVP_DigestSignFinal": 0,
    **{f"{name}_Final": 1 for name in _HASHES},
}  # fmt: skip
"""Functions that end it. Any other call that is given the context may put data in."""


@rule(
    query=functions(calling=END),
    category="crypto",
    cwe=(325, 573),
    confidence=0.75,
    severity="medium",
    suggestion="Feed the data between the beginning and the end of the hash.",
)
def digest_of_nothing(function: Function) -> Iterator[Report]:
    begun: set[str] = set()
    touched: set[str] = set()
    for call in function.calls:
        if call.is_method:
            continue
        if call.name in BEGIN:
            context = _context(call, BEGIN[call.name])
            begun.add(context)
            touched.discard(context)
        elif call.name in END:
            context = _context(call, END[call.name])
            if context in begun and context not in touched:
                yield Report(call.node, "'{name}' ends a hash that nothing was put into.",
                             pattern=call.name, name=call.written)  # fmt: skip
        else:
            touched.update(text(argument).lstrip("&") for argument in call.arguments[:8])


def _context(call: Call, place: int) -> str:
    return text(call.arg(place)).lstrip("&")
