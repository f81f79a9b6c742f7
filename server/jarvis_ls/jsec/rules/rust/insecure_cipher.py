"""Broken cipher or ECB mode.

## What it does
Finds DES, 3DES, RC2, RC4, Blowfish and ECB mode of the usual crates (`des`, `rc4`, `ecb`,
`openssl`, `crypto`).

## Why is this bad?
These ciphers have keys that can be found by brute force, known biases or small blocks that
collide; ECB mode reveals equal blocks.

## Example
```rust
let cipher = Cipher::des_ede3_cbc();
```

Use instead:
```rust
let cipher = Cipher::aes_256_gcm();
```

## References
- CWE-327: Use of a Broken or Risky Cryptographic Algorithm
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.rust.shapes import path_of

_BROKEN = re.compile(
    r"(?:^|::)(?:Cipher::((?:des|rc4|rc2|bf|idea|seed)\w*|\w+_ecb)|(Rc4|Des|TdesEde2|TdesEde3"
    r"|TdesEee3|Blowfish|Rc2)::new\w*|(?:ecb::)?(Ecb|Encryptor|Decryptor)::new\w*"
    r"|(rc4)::\w+|(ecb_encryptor|ecb_decryptor))$"
)

_MAYBE = re.compile(r"(?i)des|rc[24]|bf_|blowfish|idea|seed|ecb|cryptor")


@rule(
    query=nodes("(call_expression function: [(scoped_identifier) (generic_function)] @site)"),
    category="crypto",
    cwe=(327,),
    confidence=0.55,
    suggestion="Use an authenticated cipher such as AES-GCM or ChaCha20-Poly1305.",
)
def insecure_cipher(site: Site) -> Iterator[Report]:
    if site.item.in_test or not _MAYBE.search(text(site.node)) or in_test(site.node):
        return
    path = path_of(text(site.node), site.unit)
    match = _BROKEN.search(path)
    if match is None:
        return
    if match[3] in ("Encryptor", "Decryptor") and "ecb" not in path.lower():
        return
    name = next(group for group in match.groups() if group)
    yield Report(
        site.node,
        "'{cipher}' is a broken or risky cipher.",
        pattern=name,
        cipher=name,
    )
