"""A path is put together with a part that comes from outside.

## What it does
Finds `join`, `push`, `File::open`, `fs::read` and the like whose path holds text that is read, a
request's value or a command line argument, without a look at its components.

## Why is this bad?
`../../etc/passwd` leaves the folder, and joining an absolute path throws the folder away
altogether.

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

from jarvis_ls.codeintel.code import Function, called_name, text
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.flow.fault import Fault
from jarvis_ls.jsec.rule import Report, flow, nodes, rule
from jarvis_ls.jsec.rust.paths import is_checked
from jarvis_ls.jsec.rust.shapes import arguments, is_qualified, peel
from jarvis_ls.jsec.rust.values import is_literal, origin
from jarvis_ls.jsec.site import Site

_CONFIDENCE = {"the environment": 0.0, "the command line": 0.45, "parsed text": 0.0,
               "bytes that are read": 0.0}  # fmt: skip


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
    suggestion="Take only the file name, or resolve the path and test that it starts with the "
    "folder.",
)
def path_joined_from_input(site: Site | Fault) -> Iterator[Report]:
    if isinstance(site, Fault):
        yield Report(site, "Input decides which file this is.", cwe=(22, 36))
        return
    node, function = site.node, site.function
    called = called_name(node)
    given = arguments(node)
    if function is None or len(given) not in (1, 2) or site.item.in_test:
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
    part = given[0]
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
        "The path holds '{part}', which comes from {source}.",
        confidence=confidence,
        pattern=called,
        part=" ".join(text(part)[:60].split()),
        source=source,
    )


def _is_joined(function: Function, part: Node) -> bool:
    node = peel(part)
    if node is not None and node.type == "identifier":
        variable = function.variable(text(node), node.start_byte)
        node = variable.initial if variable is not None else None
    return ".join(" in text(node)[:400]


def _is_path(receiver: str) -> bool:
    """Whether the receiver of `join` or `push` looks like a path and no list or thread."""
    words = receiver.lower()[-160:]
    return any(word in words for word in ("path", "dir", "root", "base", "folder", "temp", "home",
                                          "file", "prefix", "current"))  # fmt: skip
