"""Outdated TLS or SSL version.

## What it does
Finds SSL 2 and 3, TLS 1.0 and 1.1 as minimum or only version (`native-tls`, `openssl`,
`reqwest`).

## Why is this bad?
These versions have known attacks (POODLE, BEAST); a man in the middle can make both sides fall
back to them (downgrade attack).

## Example
```rust
builder.min_protocol_version(Some(Protocol::Tlsv10));
```

Use instead:
```rust
builder.min_protocol_version(Some(Protocol::Tlsv12));
```

## References
- CWE-327: Use of a Broken or Risky Cryptographic Algorithm
- CWE-757: Selection of Less-Secure Algorithm During Negotiation ('Algorithm Downgrade')
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, Rewrite, methods, rule
from jarvis_ls.jsec.local.rust.shapes import call_place

_OLD = re.compile(
    r"\b(?:Sslv2|Sslv3|Tlsv10|Tlsv11|SSL3|TLS1|TLS1_1|TLS_1_0|TLS_1_1|TLSv1_0"
    r"|TLSv1_1|SSL_V3|TlsV1_0|TlsV1_1)\b"
)
_NEW = {
    "Tlsv10": "Tlsv12",
    "Tlsv11": "Tlsv12",
    "Sslv3": "Tlsv12",
    "TLS1": "TLS1_2",
    "TLS1_1": "TLS1_2",
    "SSL3": "TLS1_2",
    "TLS_1_0": "TLS_1_2",
    "TLS_1_1": "TLS_1_2",
}


@rule(
    query=methods(
        "min_protocol_version",
        "set_min_proto_version",
        "min_tls_version",
        "max_protocol_version",
        "set_max_proto_version",
        "max_tls_version",
        "ssl_version",
        "ssl_min_max_version",
    ),
    category="crypto",
    cwe=(327, 757),
    confidence=0.65,
    suggestion="Require TLS 1.2 or newer.",
    fixable=True,
)
def old_tls_allowed(call: Call) -> Iterator[Report]:
    argument = call.arg(0)
    match = _OLD.search(text(argument)[:200])
    if argument is None or match is None or in_test(call.node):
        return
    newer = _NEW.get(match[0])
    fix = (
        Rewrite(
            "Require TLS 1.2",
            [(argument, text(argument).replace(match[0], newer))],
            safe=False,
        )
        if newer
        else None
    )
    yield Report(
        call_place(call.node),
        "'{version}' is an insecure protocol version.",
        pattern=match[0],
        fix=fix,
        version=match[0],
    )
