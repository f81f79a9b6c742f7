"""Obsolete TLS version or weak cipher suite.

## What it does
Finds methods and options that allow SSL 2, SSL 3, TLS 1.0 or TLS 1.1, and cipher lists with NULL,
anonymous, export, RC4, DES or MD5 suites.

## Why is this bad?
These versions have known attacks that let a man in the middle read or modify traffic (POODLE,
BEAST, DROWN). As long as they are allowed, an attacker can force a downgrade to them.

## Example
```c
SSL_CTX *context = SSL_CTX_new(TLSv1_method());
```

Use instead:
```c
SSL_CTX *context = SSL_CTX_new(TLS_method());
SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
```

## References
- CWE-327: Use of a Broken or Risky Cryptographic Algorithm
- CWE-326: Inadequate Encryption Strength
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, rule
from jarvis_ls.jsec.local.c.algorithms import is_alternative
from jarvis_ls.jsec.local.constants import string_literal

METHODS = {
    f"{version}{side}_method": f"TLS{side}_method"
    for version in ("SSLv2", "SSLv3", "TLSv1", "TLSv1_1", "DTLSv1")
    for side in ("", "_client", "_server")
}
VERSIONS = {
    "SSL_CTX_set_min_proto_version": 1,
    "SSL_set_min_proto_version": 1,
    "curl_easy_setopt": 2,
    "mbedtls_ssl_conf_min_version": 2,
    "SSL_CTX_clear_options": 1,
    "gnutls_priority_init": 1,
    "gnutls_priority_set_direct": 1,
}
CIPHERS = {"SSL_CTX_set_cipher_list": 1, "SSL_set_cipher_list": 1}
_OLD = re.compile(
    r"^(?:SSL2_VERSION|SSL3_VERSION|TLS1_VERSION|TLS1_1_VERSION|DTLS1_VERSION"
    r"|CURL_SSLVERSION_(?:SSLv2|SSLv3|TLSv1|TLSv1_0|TLSv1_1)"
    r"|MBEDTLS_SSL_MINOR_VERSION_[012])$|SSL_OP_NO_(?:SSLv[23]|TLSv1(?:_1)?)\b"
    r"|\+VERS-(?:SSL3\.0|TLS1\.[01])"
)
_OPTION = re.compile(r"\bSSL_OP_NO_\w{1,40}")
_WEAK = re.compile(r"(?:^|:|\+)(?:e?NULL|aNULL|ADH|EXP(?:ORT)?\d*|LOW|RC4|DES|3DES|MD5|ALL)\b")


@rule(
    query=calls(*METHODS, *VERSIONS, *CIPHERS),
    category="network_api",
    cwe=(327, 326),
    confidence=0.6,
    suggestion="Require TLS 1.2 or newer and keep the library's default cipher list.",
    fixable=True,
)
def obsolete_tls_version(call: Call) -> Iterator[Report]:
    found, fix, confidence = "", None, 0.6
    if call.name in METHODS:
        found = call.name
        callee = field(call.node, "function")
        if callee is not None and call.written == call.name and "DTLS" not in found:
            fix = Rewrite("Negotiate the TLS version", [(callee, METHODS[found])], safe=False)
    elif call.name in VERSIONS:
        value = call.arg(VERSIONS[call.name])
        written = string_literal(value, call.function) or text(value)
        found = written if _OLD.search(written[:200]) else ""
    else:
        written = string_literal(call.arg(CIPHERS[call.name]), call.function) or ""
        match = _WEAK.search(written[:400])
        if match and "!" not in match[0]:
            found = match[0].strip(":+")
            confidence = 0.4 if found == "ALL" else 0.6
    if call.name == "SSL_CTX_clear_options":
        confidence = 0.55
    if found and (is_alternative(call) or call.is_wrapped or _is_set_again(call, found)):
        confidence = 0.35
    if found:
        yield Report(
            call.node,
            "'{found}' allows an obsolete protocol version or a weak cipher suite.",
            fix=fix,
            pattern=call.name,
            found=found,
            confidence=confidence,
        )


def _is_set_again(call: Call, found: str) -> bool:
    """Return whether every option that is cleared is set again later in the function."""
    if call.name != "SSL_CTX_clear_options" or call.function is None:
        return False
    options_set_later = {
        option
        for other in call.function.calls
        if other.name == "SSL_CTX_set_options" and other.node.start_byte > call.node.end_byte
        for option in _OPTION.findall(text(other.arg(1))[:200])
    }
    return set(_OPTION.findall(found[:200])) <= options_set_later
