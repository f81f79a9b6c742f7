"""Hard-coded password, key or token.

## What it does
Finds constants, statics, variables, fields and arguments that are named for a secret and hold a
literal, and literals of well-known token formats (AWS, GitHub, Slack, private keys).

## Why is this bad?
Anyone with access to the source, the binary or a backup can read the secret, and replacing it
takes a new release.

## Example
```rust
const API_KEY: &str = "9f8a7c6b5d4e3f2a1b0c";
```

Use instead:
```rust
let api_key = std::env::var("API_KEY")?;
```

## References
- CWE-798: Use of Hard-coded Credentials
- CWE-259: Use of Hard-coded Password
- CWE-321: Use of Hard-coded Cryptographic Key
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.rust.secrets import is_token, looks_secret, names_secret
from jarvis_ls.jsec.local.rust.shapes import arguments, peel, receiver_of
from jarvis_ls.jsec.local.rust.values import literal_text

_SETTERS = frozenset(
    "password passwd set_password basic_auth bearer_auth secret api_key token set_secret "
    "with_password".split()
)


@rule(
    query=nodes(
        "(const_item name: (_) value: (_)) @site (static_item name: (_) value: (_)) @site"
        "(let_declaration pattern: (identifier) value: (_)) @site"
        "(field_initializer) @site (assignment_expression) @site"
        "((string_literal (string_content) @_text"
        ' (#match? @_text "^(AKIA|ASIA|ghp_|gho_|github_pat_|xox[bp]-|glpat-|sk-|-----BEGIN)"))'
        " @site)"
    ),
    category="secrets",
    cwe=(798, 259, 321),
    confidence=0.7,
    suggestion="Read it from the environment, a file with restrictive permissions or a "
    "secret store.",
)
def secret_in_code(site: Site) -> Iterator[Report]:
    node = site.node
    if site.item.in_test:
        return
    if node.type == "string_literal":
        if is_token(literal_text(node) or "") and not in_test(node):
            yield Report(node, "Hard-coded token or private key.", confidence=0.85, pattern="token")
        return
    name, value = _name_and_value(node)
    if not names_secret(name, exact=True):
        return
    literal = literal_text(_inner_literal(value))
    if literal is None or is_token(literal) or not looks_secret(literal, name):
        return
    if in_test(node):
        return
    yield Report(
        value or node,
        "Hard-coded secret in '{name}'.",
        confidence=0.6 if node.type in ("const_item", "static_item") else 0.5,
        pattern=name,
        name=name,
    )


def _name_and_value(node: Node) -> tuple[str, Node | None]:
    """Return the name and the value of a definition, field or assignment."""
    if node.type == "assignment_expression":
        return text(field(node, "left")).rpartition(".")[2], field(node, "right")
    if node.type == "field_initializer":
        return text(field(node, "field") or field(node, "name")), field(node, "value")
    return text(field(node, "name") or field(node, "pattern")), field(node, "value")


def _inner_literal(node: Node | None) -> Node | None:
    """Return the literal inside `String::from("…")`, `"…".to_string()`, `Some("…".into())`."""
    node = peel(node)
    for _ in range(4):
        if node is None or node.type != "call_expression":
            return node
        name = called_name(node)
        if name in ("to_string", "to_owned", "into", "as_bytes", "to_vec"):
            node = peel(receiver_of(node))
        elif name in ("from", "Some", "new"):
            node = peel(next(iter(arguments(node)), None))
        else:
            return None
    return node
