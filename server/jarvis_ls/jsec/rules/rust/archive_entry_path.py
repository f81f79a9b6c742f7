"""A file of an archive is written where the archive says.

## What it does
Finds `join` with the name of a zip or tar entry (`file.name()`, `entry.path()`) without a look at
its components.

## Why is this bad?
An archive may hold the name `../../.ssh/authorized_keys`. Unpacking it writes there ("zip slip").

## Example
```rust
let target = folder.join(file.name());
```

Use instead:
```rust
let name = file.enclosed_name().ok_or(Error::BadEntry)?;
let target = folder.join(name);
```

## References
- CWE-22: Improper Limitation of a Pathname to a Restricted Directory ('Path Traversal')
- CWE-29: Path Traversal: '\\..\\filename'
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, Function, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.memo import once_per_function
from jarvis_ls.jsec.rule import Report, Rewrite, methods, rule
from jarvis_ls.jsec.rust.paths import is_checked
from jarvis_ls.jsec.rust.shapes import peel

_ENTRY = re.compile(
    r"\b(?:file|entry|zip_file|zipfile|item|header|archive_file|f|e)(?:\.header\(\))?"
    r"\.(?:name|name_raw|mangled_name|path|path_bytes|filename|link_name)\(\)"
)
_ARCHIVE = re.compile(r"(?i)zip|tar\b|archive|by_index|entries\(\)|unpack|extract|untar")


@rule(
    query=methods("join", "push"),
    category="path_traversal",
    cwe=(22, 29),
    confidence=0.8,
    suggestion="Use 'enclosed_name' (zip) or 'unpack_in' (tar), or refuse names with '..' and "
    "absolute ones.",
    fixable=True,
)
def archive_entry_path(call: Call) -> Iterator[Report]:
    part, function = call.arg(0), call.function
    if part is None or function is None or len(call.arguments) != 1:
        return
    made = _maker(function, part)
    match = _ENTRY.search(text(made)[:300])
    if match is None or "enclosed_name" in text(made)[:300]:
        return
    if not _unpacks(function) or is_checked(function, part):
        return
    yield Report(
        call.node,
        "'{entry}' may hold '..' and lead out of the folder.",
        pattern=call.name,
        fix=_enclosed(part, match[0], made),
        entry=match[0],
    )


@once_per_function
def _unpacks(function: Function) -> bool:
    return _ARCHIVE.search(text(function.node)[:8000]) is not None


def _maker(function: Function, part: Node) -> Node:
    node = peel(part)
    if node is not None and node.type == "identifier":
        variable = function.variable(text(node), node.start_byte)
        if variable is not None and variable.initial is not None:
            return variable.initial
    return part


def _enclosed(part: Node, entry: str, made: Node) -> Rewrite | None:
    if made is not part or not entry.endswith(".name()") or text(part) != entry:
        return None
    checked = entry.replace(".name()", ".enclosed_name()") + '.ok_or("bad path in archive")?'
    return Rewrite("Use 'enclosed_name'", [(part, checked)], safe=False)
