"""Disabled TLS certificate validation.

## What it does
Finds `danger_accept_invalid_certs(true)`, `danger_accept_invalid_hostnames(true)`,
`set_verify(SslVerifyMode::NONE)`, `set_verify_hostname(false)`, `.dangerous()` of rustls and
verifiers that accept every certificate.

## Why is this bad?
A man in the middle can impersonate the server, read all traffic and change it.

## Example
```rust
let client = reqwest::Client::builder().danger_accept_invalid_certs(true).build()?;
```

Use instead:
```rust
let client = reqwest::Client::builder().add_root_certificate(own_ca).build()?;
```

## References
- CWE-295: Improper Certificate Validation
- CWE-297: Improper Validation of Certificate with Host Mismatch
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, Rewrite, methods, rule
from jarvis_ls.jsec.local.rust.shapes import call_place

_ON = frozenset(
    {
        "danger_accept_invalid_certs",
        "danger_accept_invalid_hostnames",
        "accept_invalid_certs",
        "accept_invalid_hostnames",
        "danger_disable_hostname_verification",
        "set_danger_accept_invalid_certs",
        "tls_danger_accept_invalid_certs",
        "tls_danger_accept_invalid_hostnames",
    }
)
_OFF = frozenset(
    {
        "set_verify_hostname",
        "verify_hostname",
        "ssl_verify_peer",
        "ssl_verify_host",
        "use_sni",
        "set_use_server_name_indication",
    }
)


@rule(
    query=methods(
        *sorted(_ON | _OFF),
        "set_verify",
        "set_certificate_verifier",
        "with_custom_certificate_verifier",
    ),
    category="network_api",
    cwe=(295, 297),
    confidence=0.9,
    suggestion="Keep validation on; add a private CA as a root certificate.",
    fixable=True,
)
def certificates_accepted_blindly(call: Call) -> Iterator[Report]:
    if in_test(call.node) or call.name.endswith("sni") or "indication" in call.name:
        return
    argument = call.arg(0)
    written = text(argument)
    confidence = 0.9
    fix = None
    if call.name in _ON:
        if written == "false":
            return
        confidence = 0.9 if written in ("true", "") else 0.35
        if written == "true" and argument is not None:
            fix = Rewrite("Enable verification", [(argument, "false")], safe=False)
    elif call.name in _OFF:
        if written not in ("false", "0"):
            return
        if argument is not None and written == "false":
            fix = Rewrite("Enable verification", [(argument, "true")], safe=False)
    elif call.name == "set_verify":
        if not written.endswith("NONE") and "empty()" not in written:
            return
    else:
        confidence = 0.5
    yield Report(
        call_place(call.node),
        "'{called}' disables TLS certificate validation.",
        confidence=confidence,
        pattern=call.name,
        fix=fix,
        called=call.name,
    )
