"""Predictable file name in a world-writable directory.

## What it does
Finds `File::create`, `fs::write`, `OpenOptions::open` and the like on literal paths below `/tmp`,
`/var/tmp` and `/dev/shm`, and `env::temp_dir().join("literal")`.

## Why is this bad?
Another user can create a symbolic link with that name first. The program then writes through it,
with its own privileges, to a file of the attacker's choice.

## Example
```rust
let mut log = File::create("/tmp/server.log")?;
```

Use instead:
```rust
let mut log = tempfile::NamedTempFile::new()?;
```

## References
- CWE-377: Insecure Temporary File
- CWE-379: Creation of Temporary File in Directory with Insecure Permissions
- CWE-59: Improper Link Resolution Before File Access ('Link Following')
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, nodes, rule
from jarvis_ls.jsec.local.rust.shapes import (
    arguments,
    is_qualified,
    macro_tokens,
    peel,
    receiver_of,
)
from jarvis_ls.jsec.local.rust.values import is_literal, literal_text

_SHARED = re.compile(r"(?:/tmp|/var/tmp|/dev/shm)/.")
_WRITES = {
    "create": 0.75,
    "write": 0.75,
    "open": 0.5,
    "copy": 0.6,
    "create_dir": 0.5,
    "create_dir_all": 0.6,
    "create_new": 0.0,
    "rename": 0.6,
    "bind": 0.6,
}


@rule(
    query=nodes(
        "(call_expression) @site",
        names=(
            "create",
            "write",
            "open",
            "copy",
            "create_dir",
            "create_dir_all",
            "rename",
            "bind",
            "join",
        ),
        when=is_qualified,
    ),
    category="race_condition",
    cwe=(377, 379, 59),
    confidence=0.75,
    suggestion="Use the 'tempfile' crate, or a directory that only this user can write to.",
    severity="medium",
)
def fixed_name_in_temp_dir(site: Site) -> Iterator[Report]:
    if site.item.in_test or in_test(site.node):
        return
    called = called_name(site.node)
    args = arguments(site.node)
    if called == "join":
        if not args or not _is_temp_dir(receiver_of(site.node)):
            return
        if not is_literal(args[0], site.function, site.unit):
            return
        yield _report(site.node, text(args[0]), 0.65)
        return
    path = next((p for p in map(_literal_path, _values(site, args)) if p), "")
    confidence = _WRITES[called]
    if path and confidence:
        if called == "open" and "create" in text(site.node)[:400]:
            confidence = 0.75
        if "create_new(true)" in text(site.node)[:400]:
            return
        yield _report(site.node, path, confidence)


def _report(place: Node, path: str, confidence: float) -> Report:
    return Report(
        place,
        "Predictable temporary file '{path}': another user can create it first.",
        confidence=confidence,
        pattern="temp",
        path=path[:60],
    )


def _values(site: Site, args: list[Node]) -> Iterator[Node]:
    """Yield the arguments, and the initialisers of local names among them."""
    for argument in args[:2]:
        node = peel(argument)
        if node is None:
            continue
        yield node
        if node.type == "identifier" and site.function is not None:
            variable = site.function.variable(text(node), node.start_byte)
            initial = peel(variable.initial) if variable is not None else None
            if initial is not None:
                yield initial


def _literal_path(node: Node) -> str:
    """Return the path in a literal, `Path::new("…")`, or `format!` with a name that can be
    guessed.
    """
    if node.type == "call_expression" and called_name(node) in ("new", "from"):
        node = next(iter(arguments(node)), node)
    if node.type == "macro_invocation":
        tokens = macro_tokens(node)
        first = next(iter(tokens.named_children), None) if tokens is not None else None
        written = literal_text(first) or ""
        if re.search(r"(?i)uuid|rand|nonce|unique", text(node)[:300]):
            return ""
    else:
        written = literal_text(node) or ""
    return written if _SHARED.match(written) else ""


def _is_temp_dir(node: Node | None) -> bool:
    return node is not None and text(node)[-40:].endswith("temp_dir()")
