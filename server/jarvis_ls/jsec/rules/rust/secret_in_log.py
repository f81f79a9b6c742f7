"""Secret written to a log.

## What it does
Finds `println!`, `info!`, `debug!`, `log!`, `dbg!` and the like with a variable named for a
password, token, key or the like.

## Why is this bad?
Logs are copied, archived and readable by many people, which exposes the secret.

## Example
```rust
info!("login of {user} with {password}");
```

Use instead:
```rust
info!("login of {user}");
```

## References
- CWE-532: Insertion of Sensitive Information into Log File
- CWE-312: Cleartext Storage of Sensitive Information
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.rust.secrets import names_secret_value
from jarvis_ls.jsec.local.rust.shapes import macro_name, macro_tokens
from jarvis_ls.jsec.local.rust.values import literal_text

_INLINE = re.compile(r"\{([A-Za-z_]\w*)(?::[^{}]*)?\}")
_HARMLESS = frozenset({"len", "is_empty", "is_some", "is_none", "kind", "id", "name", "is_ok"})


@rule(
    query=nodes(
        "(macro_invocation) @site",
        names=(
            "println",
            "print",
            "eprintln",
            "eprint",
            "info",
            "debug",
            "trace",
            "warn",
            "error",
            "log",
            "dbg",
        ),
    ),
    category="secrets",
    cwe=(532, 312),
    confidence=0.65,
    suggestion="Omit the secret, or mask it.",
    severity="medium",
)
def secret_in_log(site: Site) -> Iterator[Report]:
    tokens = macro_tokens(site.node)
    if tokens is None or site.item.in_test or in_test(site.node):
        return
    name = _secret(tokens)
    if name:
        yield Report(
            site.node,
            "Sensitive value '{name}' is written to a log or terminal.",
            pattern=f"{macro_name(site.node)}!",
            name=name,
        )


def _secret(tokens: Node) -> str:
    for child in tokens.named_children[:64]:
        if child.type == "identifier" and names_secret_value(text(child)):
            following = child.next_sibling
            if following is not None and following.type in (".", "!", "::", "="):
                after = following.next_sibling
                if text(after) in _HARMLESS or following.type != ".":
                    continue
            return text(child)
        literal = literal_text(child) if child.type == "string_literal" else None
        for name in _INLINE.findall(literal[:2000]) if literal else ():
            if names_secret_value(name):
                return str(name)
    return ""
