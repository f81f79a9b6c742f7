"""Path traversal through untrusted input.

## What it does
Finds `join`, `push`, `File::open`, `fs::read` and the like whose path contains text that is read,
a request's value or a command line argument, and whose components are not checked.

## Why is this bad?
`../../etc/passwd` escapes the base directory, and joining an absolute path replaces the base
directory altogether.

## Example
```rust
let file = File::open(root.join(request.param("name")))?;
```

Use instead:
```rust
let name = Path::new(request.param("name")).file_name().ok_or(Error::BadName)?;
let file = File::open(root.join(name))?;
```

## References
- CWE-22: Improper Limitation of a Pathname to a Restricted Directory ('Path Traversal')
- CWE-36: Absolute Path Traversal
- CWE-73: External Control of File Name or Path
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, flow, nodes, on_fault, rule
from jarvis_ls.jsec.flow.domain.fault import Fault
from jarvis_ls.jsec.local.rust.paths import is_checked
from jarvis_ls.jsec.local.rust.shapes import arguments, is_qualified, peel
from jarvis_ls.jsec.local.rust.values import is_literal, origin

_CONFIDENCE = {
    "the environment": 0.0,
    "the command line": 0.45,
    "parsed text": 0.0,
    "decoded bytes": 0.0,
}


@rule(
    query=flow(
        "path-absolute",
        "path-relative",
        guess=nodes(
            "(call_expression) @site",
            names=(
                "join",
                "push",
                "open",
                "create",
                "read",
                "read_to_string",
                "write",
                "remove_file",
                "remove_dir_all",
                "with_file_name",
                "set_file_name",
            ),
            when=is_qualified,
        ),
    ),
    category="path_traversal",
    cwe=(22, 36, 73),
    confidence=0.7,
    suggestion="Use only the file name, or canonicalise the path and check its base directory.",
)
def path_joined_from_input(site: Site) -> Iterator[Report]:
    node, function = site.node, site.function
    called = called_name(node)
    args = arguments(node)
    if function is None or len(args) not in (1, 2) or site.item.in_test:
        return
    written = text(node.child_by_field_name("function"))
    plain = "::" in written.split("(")[0]
    if plain and not written.startswith(
        ("File::", "fs::", "std::fs::", "OpenOptions", "tokio::fs")
    ):
        return
    if not plain and called not in ("join", "push", "open", "with_file_name", "set_file_name"):
        return
    if not plain and called in ("push", "join") and not _is_path(written):
        return
    part = args[0]
    if is_literal(part, function, site.unit):
        return
    if plain and _is_joined(function, part):
        return  # reported where it is joined
    source = origin(part, function)
    confidence = _CONFIDENCE.get(source, 0.7) if source else 0.0
    if not confidence or is_checked(function, part) or in_test(node):
        return
    yield Report(
        node,
        "Untrusted input from {source} is used in a file path: '{part}' (path traversal).",
        confidence=confidence,
        pattern=called,
        part=" ".join(text(part)[:60].split()),
        source=source,
    )


@on_fault(path_joined_from_input)
def _report_fault(fault: Fault) -> Iterator[Report]:
    yield Report(fault, "Untrusted input is used as a file path (path traversal).", cwe=(22, 36))


def _is_joined(function: Function, part: Node) -> bool:
    node = peel(part)
    if node is not None and node.type == "identifier":
        variable = function.variable(text(node), node.start_byte)
        node = variable.initial if variable is not None else None
    return ".join(" in text(node)[:400]


def _is_path(receiver: str) -> bool:
    """Return whether the receiver of `join` or `push` is named like a path."""
    words = receiver.lower()[-160:]
    return any(
        word in words
        for word in (
            "path",
            "dir",
            "root",
            "base",
            "folder",
            "temp",
            "home",
            "file",
            "prefix",
            "current",
        )
    )
