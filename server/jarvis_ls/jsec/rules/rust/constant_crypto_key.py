"""Hard-coded cryptographic key, nonce or IV.

## What it does
Finds keys, nonces, initialisation vectors and salts built from literals: `Key::from_slice(b"…")`,
`Nonce::from_slice(&[0; 12])`, `Aes256::new_from_slice(b"…")`, `encrypt(cipher, b"…", Some(b"…"),
…)`.

## Why is this bad?
A key in the binary can be extracted. A reused nonce reveals the XOR of two messages, and with GCM
the authentication key.

## Example
```rust
let nonce = Nonce::from_slice(b"unique nonce");
```

Use instead:
```rust
let nonce = Aes256Gcm::generate_nonce(&mut OsRng);
```

## References
- CWE-321: Use of Hard-coded Cryptographic Key
- CWE-329: Generation of Predictable IV with CBC Mode
- CWE-323: Reusing a Nonce, Key Pair in Encryption
- CWE-760: Use of a One-Way Hash with a Predictable Salt
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.functions import Call, Function, Unit
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.rust.shapes import arguments, call_path, peel, receiver_of

_MAKERS = re.compile(
    r"(?:^|::)(?:(Key|Nonce|Iv|XNonce|Salt|SaltString)::(?:from_slice|from|clone_from_slice"
    r"|assume_unique_for_key|try_assume_unique_for_key|encode_b64|from_b64|new)"
    r"|(Aes\d+\w*|ChaCha20\w*|XChaCha20\w*|Hmac|HmacSha\d+|Salsa20|SigningKey|SecretKey|UnboundKey"
    r"|EncodingKey|DecodingKey|PKey)"
    r"::(?:new_from_slice|new_from_slices|from_slice|new_varkey|from_secret|from_bytes|hmac|new))$"
)


@rule(
    query=calls(
        "from_slice",
        "clone_from_slice",
        "assume_unique_for_key",
        "new_from_slice",
        "new_from_slices",
        "new_varkey",
        "from_secret",
        "from_bytes",
        "hmac",
        "from",
        "new",
        "try_assume_unique_for_key",
        "encode_b64",
        "from_b64",
    ),
    category="crypto",
    cwe=(321, 329, 323, 760),
    confidence=0.8,
    suggestion=("Generate keys and nonces with a CSPRNG, and store keys outside the source code."),
)
def constant_crypto_key(call: Call) -> Iterator[Report]:
    match = _MAKERS.search(call_path(call))
    if match is None or in_test(call.node):
        return
    for argument in call.arguments:
        if not _is_constant(argument, call.function, call.unit):
            continue
        what = match[1] or "Key"
        yield Report(
            call.node,
            "Hard-coded key, nonce, IV or salt is passed to '{called}'.",
            confidence=0.8 if what in ("Key", "Nonce", "XNonce", "Iv") else 0.65,
            pattern=call.written,
            called=call.written[:60],
        )
        return


def _is_constant(node: Node | None, function: Function | None, unit: Unit) -> bool:
    """Return whether bytes are written in the source: a literal, an array of literals, a name for
    one.
    """
    node = peel(node)
    for _ in range(4):
        if node is None:
            return False
        if node.type in ("string_literal", "raw_string_literal"):
            return len(text(node)) > 4
        if node.type == "array_expression":
            return all(c.type == "integer_literal" for c in node.named_children) and (
                node.named_child_count > 1
            )
        if node.type == "call_expression" and called_name(node) in (
            "as_bytes",
            "as_ref",
            "into",
            "to_vec",
        ):
            node = peel(receiver_of(node))
            continue
        if node.type == "call_expression" and called_name(node) in ("from", "new"):
            node = peel(next(iter(arguments(node)), None))
            continue
        if node.type != "identifier":
            return False
        name = text(node)
        variable = function.variable(name, node.start_byte) if function is not None else None
        if variable is None:
            constant = unit.facts.macros.get(name, "").lstrip("&* ")
            return constant.startswith(('"', 'b"', "[")) and any(c.isalnum() for c in constant)
        if variable.initial is None or function is None or _is_filled(function, name):
            return False
        node = peel(variable.initial)
    return False


def _is_filled(function: Function, name: str) -> bool:
    """Return whether `name` is mutably borrowed or written, so that a generator may fill it."""
    for use in function.uses(name)[:32]:
        parent = use.parent
        if parent is not None and (
            (
                parent.type == "reference_expression"
                and any(c.type == "mutable_specifier" for c in parent.children)
            )
            or parent.type in ("index_expression", "field_expression", "assignment_expression")
        ):
            return True
    return False
