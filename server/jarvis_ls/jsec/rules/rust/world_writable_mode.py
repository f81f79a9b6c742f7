"""World-writable file permissions.

## What it does
Finds `set_mode`, `from_mode`, `mode`, `fs::set_permissions` and `libc::chmod` with the write
permission for others, and `umask(0)`.

## Why is this bad?
Any local user can change the file: a program that is run, a trusted key, an audit log.

## Example
```rust
fs::set_permissions(path, Permissions::from_mode(0o777))?;
```

Use instead:
```rust
fs::set_permissions(path, Permissions::from_mode(0o750))?;
```

## References
- CWE-732: Incorrect Permission Assignment for Critical Resource
- CWE-276: Incorrect Default Permissions
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, nodes, rule
from jarvis_ls.jsec.local.rust.shapes import arguments
from jarvis_ls.jsec.local.rust.values import integer

_ALL_MAY_WRITE = 0o002
_STICKY = 0o1000


@rule(
    query=nodes(
        "(call_expression) @site",
        names=(
            "set_mode",
            "from_mode",
            "mode",
            "chmod",
            "fchmod",
            "umask",
            "mkdir",
            "from_bits_truncate",
        ),
    ),
    category="insecure_permissions",
    cwe=(732, 276),
    confidence=0.85,
    suggestion="Restrict the mode to the owner (0o600, 0o700).",
    fixable=True,
)
def world_writable_mode(site: Site) -> Iterator[Report]:
    if site.item.in_test or in_test(site.node):
        return
    called = called_name(site.node)
    for argument in arguments(site.node):
        mode = integer(argument, site.function, site.unit)
        if mode is None:
            continue
        if called == "umask":
            if mode == 0:
                yield _report(site.node, "umask(0)", None)
            return
        written = text(argument)
        if not written.startswith("0o") and argument.type == "integer_literal":
            return
        if mode & _ALL_MAY_WRITE and not mode & _STICKY and mode <= 0o177777:
            yield _report(site.node, written, _narrower(argument, mode))
        return


def _narrower(argument: Node, mode: int) -> Rewrite | None:
    if argument.type != "integer_literal":
        return None
    narrow = f"0o{mode & ~0o022:o}"
    return Rewrite("Use '{mode}'", [(argument, narrow)], safe=False, mode=narrow)


def _report(place: Node, mode: str, fix: Rewrite | None) -> Report:
    return Report(
        place,
        "Mode {mode} makes the file world-writable.",
        pattern=mode,
        fix=fix,
        mode=mode,
    )
