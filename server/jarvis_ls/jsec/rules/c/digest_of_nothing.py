"""Missing cryptographic step: hash of empty input.

## What it does
Finds functions that begin a hash (`CryptCreateHash`, `EVP_DigestInit_ex`, `SHA256_Init`,
`HMAC_Init_ex`) and take its result, or derive a key from it, without feeding it any data.

## Why is this bad?
The result is a constant: the hash of the empty input. A key derived from it is known to everyone,
and a signature over it is valid for every message.

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

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, functions, rule

_HASHES = ("MD5", "SHA1", "SHA224", "SHA256", "SHA384", "SHA512", "RIPEMD160")
BEGIN = {
    "CryptCreateHash": 4,
    "EVP_DigestInit": 0,
    "EVP_DigestInit_ex": 0,
    "HMAC_Init": 0,
    "HMAC_Init_ex": 0,
    "EVP_DigestSignInit": 0,
    **{f"{name}_Init": 0 for name in _HASHES},
}
"""Functions that begin a hash, with the index of its context argument."""

END = {
    "CryptGetHashParam": 0,
    "CryptDeriveKey": 2,
    "CryptSignHashA": 0,
    "CryptSignHashW": 0,
    "EVP_DigestFinal": 0,
    "EVP_DigestFinal_ex": 0,
    "HMAC_Final": 0,
    "EVP_DigestSignFinal": 0,
    **{f"{name}_Final": 1 for name in _HASHES},
}
"""Functions that finish it. Any other call with the context as argument may add data."""


@rule(
    query=functions(calling=END),
    category="crypto",
    cwe=(325, 573),
    confidence=0.75,
    severity="medium",
    suggestion="Add the data with an update call before finishing the hash.",
)
def digest_of_nothing(function: Function) -> Iterator[Report]:
    started: set[str] = set()
    touched: set[str] = set()
    for call in function.calls:
        if call.is_method:
            continue
        if call.name in BEGIN:
            context = _context(call, BEGIN[call.name])
            started.add(context)
            touched.discard(context)
        elif call.name in END:
            context = _context(call, END[call.name])
            if context in started and context not in touched and not _macro_adds(function, context):
                yield Report(
                    call.node,
                    "'{name}' finishes a hash of empty input.",
                    pattern=call.name,
                    name=call.written,
                )
        else:
            touched.update(text(argument).lstrip("&") for argument in call.arguments[:8])


def _macro_adds(function: Function, context: str) -> bool:
    """Return whether the function uses a macro of the file that passes the context on."""
    macros = function.unit.facts.function_macros
    word = re.compile(rf"\b{re.escape(context)}\b")
    return any(
        call.written in macros and word.search(macros[call.written].body) for call in function.calls
    )


def _context(call: Call, place: int) -> str:
    return text(call.arg(place)).lstrip("&")
