"""Broken cryptographic hash.

## What it does
Finds MD4, MD5 and SHA-1 of the usual crates (`md5`, `sha1`, `openssl`, `ring`, `crypto-hash`).

## Why is this bad?
MD5 and SHA-1 collisions are practical. Signatures, file checksums and password storage based on
them can be forged or cracked.

## Example
```rust
let digest = md5::compute(password);
```

Use instead:
```rust
let digest = Sha256::digest(file); // for files; for passwords argon2
```

## References
- CWE-328: Use of Weak Hash
- CWE-327: Use of a Broken or Risky Cryptographic Algorithm
- CWE-916: Use of Password Hash With Insufficient Computational Effort
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.rust.secrets import names_secret
from jarvis_ls.jsec.local.rust.shapes import path_of

_BROKEN = re.compile(
    r"(?:^|::)(?:(Md5|Md4|Md2|Sha1|MD5|SHA1)::(?:new|digest|default|from|new_with_prefix)"
    r"|(md5|md4|sha1)::(?:compute|digest|hash|Sha1::new|Sha1::from|Sha1::digest)"
    r"|MessageDigest::(md5|sha1|ripemd160|md4)|hash::(md5|sha1)|sha::(sha1|Sha1::new)"
    r"|Algorithm::(MD5|SHA1)|Type::(MD5|SHA1)|HashFunction::(Md5|Sha1))$"
)

_MAYBE = re.compile(r"(?i)md[245]|sha1|ripemd160")


@rule(
    query=nodes(
        "(call_expression function: (scoped_identifier) @site)"
        "(arguments (scoped_identifier) @site)"
        '((identifier) @site (#eq? @site "SHA1_FOR_LEGACY_USE_ONLY"))'
    ),
    category="crypto",
    cwe=(328, 327, 916),
    confidence=0.45,
    suggestion="Use SHA-256 or BLAKE3 for files and signatures, Argon2 for passwords.",
    severity="medium",
)
def insecure_hash(site: Site) -> Iterator[Report]:
    if site.item.in_test or not _MAYBE.search(text(site.node)) or in_test(site.node):
        return
    path = path_of(text(site.node), site.unit)
    match = _BROKEN.search(path)
    if match is None and path != "SHA1_FOR_LEGACY_USE_ONLY":
        return
    algorithm = next((g for g in match.groups() if g), path) if match else "SHA1"
    statement = site.node.parent
    around = text(statement.parent if statement is not None else statement)[:300]
    function = site.function.name if site.function is not None else ""
    yield Report(
        site.node,
        "'{algorithm}' is not collision resistant.",
        confidence=0.6 if names_secret(around) or names_secret(function) else 0.45,
        pattern=algorithm,
        algorithm=algorithm.split("::")[0].upper(),
    )
