"""A password, key or token stands in the source.

## What it does
Finds constants, statics, variables, fields and arguments that are named for a secret and hold a
literal, and literals of well-known token formats (AWS, GitHub, Slack, private keys).

## Why is this bad?
Everybody with the source, the binary or an old backup has the secret, and it cannot be changed
without a new release.

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

from jarvis_ls.codeintel.code import called_name, field, text
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.rule import Report, nodes, rule
from jarvis_ls.jsec.rust.secrets import is_token, looks_secret, names_secret
from jarvis_ls.jsec.rust.shapes import arguments, peel, receiver_of
from jarvis_ls.jsec.rust.values import literal_text
from jarvis_ls.jsec.site import Site

_SETTERS = frozenset({"password", "passwd", "set_password", "basic_auth", "bearer_auth", "secret",
                      "api_key", "token", "set_secret", "with_password"})  # fmt: skip


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
    suggestion="Read it from the environment, a file with tight permissions or a secret store.",
)
def secret_in_code(site: Site) -> Iterator[Report]:
    node = site.node
    if site.item.in_test:
        return
    if node.type == "string_literal":
        value = literal_text(node) or ""
        if is_token(value) and not in_test(node):
            yield Report(node, "This literal is a token or private key.", confidence=0.85,
                         pattern="token")  # fmt: skip
        return
    name, held = _named(node)
    if not names_secret(name, exact=True):
        return
    literal = literal_text(_unwrapped(held))
    if literal is None or is_token(literal) or not looks_secret(literal, name):
        return
    if in_test(node):
        return
    yield Report(
        held or node,
        "'{name}' holds a secret that everybody with the source can read.",
        confidence=0.75 if node.type in ("const_item", "static_item") else 0.65,
        pattern=name,
        name=name,
    )


def _named(node: Node) -> tuple[str, Node | None]:
    """The name and the value of a definition, field or assignment."""
    if node.type == "assignment_expression":
        return text(field(node, "left")).rpartition(".")[2], field(node, "right")
    if node.type == "field_initializer":
        return text(field(node, "field") or field(node, "name")), field(node, "value")
    return text(field(node, "name") or field(node, "pattern")), field(node, "value")


def _unwrapped(node: Node | None) -> Node | None:
    """The literal inside `String::from("…")`, `"…".to_string()`, `Some("…".into())`."""
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
