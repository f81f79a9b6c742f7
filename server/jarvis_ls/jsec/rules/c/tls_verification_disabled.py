"""Improper certificate validation.

## What it does
Finds `SSL_VERIFY_NONE`, `CURLOPT_SSL_VERIFYPEER` and `CURLOPT_SSL_VERIFYHOST` of 0,
`MBEDTLS_SSL_VERIFY_NONE`, and flags of GnuTLS, WinHTTP and WinINet that ignore certificate
errors.

## Why is this bad?
Encryption without authentication does not protect: a man in the middle presents any certificate,
reads the traffic and modifies it.

## Example
```c
curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
```

Use instead:
```c
curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
```

## References
- CWE-295: Improper Certificate Validation
- CWE-297: Improper Validation of Certificate with Host Mismatch
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, rule
from jarvis_ls.jsec.local.constants import constant

MODES = {
    "SSL_CTX_set_verify": 1,
    "SSL_set_verify": 1,
    "mbedtls_ssl_conf_authmode": 1,
    "mbedtls_ssl_set_hs_authmode": 1,
    "wolfSSL_CTX_set_verify": 1,
    "wolfSSL_set_verify": 1,
    "gnutls_certificate_set_verify_flags": 1,
    "WinHttpSetOption": 2,
    "InternetSetOptionA": 2,
}
OFF = ("VERIFY_NONE", "GNUTLS_VERIFY_DISABLE", "SECURITY_FLAG_IGNORE")
CURL = {
    "CURLOPT_SSL_VERIFYPEER": "1L",
    "CURLOPT_SSL_VERIFYHOST": "2L",
    "CURLOPT_PROXY_SSL_VERIFYPEER": "1L",
    "CURLOPT_PROXY_SSL_VERIFYHOST": "2L",
    "CURLOPT_DOH_SSL_VERIFYPEER": "1L",
    "CURLOPT_SSL_VERIFYSTATUS": "",
}


@rule(
    query=calls(*MODES, "curl_easy_setopt"),
    category="network_api",
    cwe=(295, 297),
    confidence=0.8,
    suggestion="Keep verification enabled and configure the trusted CA certificates.",
    fixable=True,
)
def tls_verification_disabled(call: Call) -> Iterator[Report]:
    if call.name == "curl_easy_setopt":
        yield from _curl(call)
        return
    mode = call.arg(MODES[call.name])
    if mode is None or not any(word in text(mode) for word in OFF):
        return
    if "?" in text(mode):
        return  # an option of the user
    server = "server" in (call.function.name.lower() if call.function is not None else "") or any(
        word in call.unit.source.data for word in (b"_server_method", b"SSL_accept", b"_IS_SERVER")
    )  # a server that does not request client certificates
    yield Report(
        call.node,
        "'{value}' disables certificate validation.",
        confidence=_confidence(call, text(mode), server=server),
        pattern=call.name,
        value=text(mode),
    )


def _confidence(call: Call, mode: str, *, server: bool) -> float:
    if "TIME_CHECKS" in mode:
        return 0.4  # times can be checked by hand
    return 0.4 if server or _is_alternative(call) else 0.7


def _is_alternative(call: Call) -> bool:
    """Return whether a condition selects this mode, which is then an option of the user."""
    node = call.node.parent
    for _ in range(4):
        if node is None or node.type == "function_definition":
            return False
        if node.type in ("else_clause", "case_statement") or (
            node.type == "if_statement" and node.child_by_field_name("alternative") is not None
        ):
            return True
        node = node.parent
    return False


def _curl(call: Call) -> Iterator[Report]:
    option, value = text(call.arg(1)), call.arg(2)
    good = CURL.get(option)
    if not good or value is None or not _is_off(call, value):
        return
    yield Report(
        call.node,
        "{option} set to '{value}' disables certificate validation.",
        confidence=0.5 if _is_alternative(call) else 0.85,
        pattern=option,
        option=option,
        value=text(value),
        fix=Rewrite("Enable verification", [(value, good)], safe=False),
    )


def _is_off(call: Call, value: Node) -> bool:
    return text(value) in ("false", "FALSE") or constant(value, call.function, call.unit) == 0
