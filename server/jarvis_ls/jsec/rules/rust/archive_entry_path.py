"""Path traversal through archive entry names (zip slip).

## What it does
Finds `join` with the name of a zip or tar entry (`file.name()`, `entry.path()`) whose components
are not checked.

## Why is this bad?
An archive may contain an entry named `../../.ssh/authorized_keys`. Extracting it overwrites that
file outside of the target directory.

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

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.base.rule import Report, Rewrite, methods, rule
from jarvis_ls.jsec.local.rust.paths import is_checked
from jarvis_ls.jsec.local.rust.shapes import peel

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
    suggestion=(
        "Use 'enclosed_name' (zip) or 'unpack_in' (tar), or reject absolute names and '..'."
    ),
    fixable=True,
)
def archive_entry_path(call: Call) -> Iterator[Report]:
    part, function = call.arg(0), call.function
    if part is None or function is None or len(call.arguments) != 1:
        return
    source = _maker(function, part)
    match = _ENTRY.search(text(source)[:300])
    if match is None or "enclosed_name" in text(source)[:300]:
        return
    if not _unpacks(function) or is_checked(function, part):
        return
    yield Report(
        call.node,
        "Archive entry name '{entry}' is used as a path without a check for '..' (zip slip).",
        pattern=call.name,
        fix=_enclosed_name_fix(part, match[0], source),
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


def _enclosed_name_fix(part: Node, entry: str, source: Node) -> Rewrite | None:
    if source is not part or not entry.endswith(".name()") or text(part) != entry:
        return None
    checked = entry.replace(".name()", ".enclosed_name()") + '.ok_or("bad path in archive")?'
    return Rewrite("Use 'enclosed_name'", [(part, checked)], safe=False)
