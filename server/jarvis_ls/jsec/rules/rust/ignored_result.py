"""Discarded Result of a fallible operation.

## What it does
Finds `let _ = …` and statements ending in `.ok();` for writes, flushes, removals, renames,
permissions and other operations whose failure matters.

## Why is this bad?
The program continues as if the operation had succeeded: the file is not written, the privileges
are not dropped, the old key is not deleted.

## Example
```rust
let _ = fs::set_permissions(&key_file, Permissions::from_mode(0o600));
```

Use instead:
```rust
fs::set_permissions(&key_file, Permissions::from_mode(0o600))?;
```

## References
- CWE-252: Unchecked Return Value
- CWE-391: Unchecked Error Condition
- Clippy: let_underscore_must_use
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.calls import called_name
from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.match_site import Site
from jarvis_ls.jsec.base.rule import Report, Rewrite, nodes, rule
from jarvis_ls.jsec.local.rust.errors import fits
from jarvis_ls.jsec.local.rust.shapes import peel, receiver_of

_GRAVE = frozenset(
    "set_permissions sync_all sync_data chown fchown lchown setuid setgid setresuid "
    "seteuid setegid setgroups chroot verify set_len mlock mprotect lock_exclusive "
    "zeroize commit rollback drop_privileges chmod".split()
)
_FALLIBLE = frozenset(
    "write_all flush write_fmt remove_file remove_dir_all remove_dir rename "
    "create_dir_all create_dir copy hard_link write execute save persist fsync truncate "
    "set_nonblocking shutdown kill close symlink".split()
)


@rule(
    query=nodes(
        '(let_declaration pattern: "_" value: (_)) @site'
        "(expression_statement (call_expression function: (field_expression"
        ' field: (field_identifier) @_ok) (#eq? @_ok "ok"))) @site'
    ),
    category="error_handling",
    cwe=(252, 391),
    confidence=0.5,
    suggestion="Return the error with '?', or handle it.",
    severity="medium",
    fixable=True,
)
def ignored_result(site: Site) -> Iterator[Report]:
    if site.item.in_test or in_test(site.node):
        return
    value = _value(site.node)
    call = peel(value)
    if value is None or call is None or call.type != "call_expression":
        return
    name = called_name(call)
    grave = name in _GRAVE
    if not grave and name not in _FALLIBLE:
        return
    receiver = text(receiver_of(call))[:120]
    if not grave and (_is_terminal(receiver) or _in_cleanup(site) or _before_error(site.node)):
        return
    yield Report(
        site.node,
        "Result of '{called}' is discarded: a failure goes undetected.",
        confidence=0.7 if grave else 0.5,
        pattern=name,
        fix=_question_mark(site, value),
        called=name,
    )


def _value(node: Node) -> Node | None:
    if node.type == "let_declaration":
        value = field(node, "value")
        if value is not None and called_name(value) == "ok":
            return receiver_of(value)
        return value
    return receiver_of(node.named_children[0])


def _is_terminal(receiver: str) -> bool:
    words = receiver.lower()
    return any(word in words for word in ("stderr", "stdout", "tx", "sender", "cell", "shared"))


def _in_cleanup(site: Site) -> bool:
    """Return whether the code is a destructor or clean-up, which cannot report a failure."""
    name = site.function.name if site.function is not None else ""
    return name == "drop" or any(word in name for word in ("cleanup", "clean_up", "abort", "close"))


def _before_error(node: Node) -> bool:
    """Return whether another error is returned right after it, which takes precedence."""
    following = node.next_named_sibling
    while following is not None and following.type in ("let_declaration", "line_comment"):
        following = following.next_named_sibling
    return following is not None and text(following).startswith(("return Err(", "Err("))


def _question_mark(site: Site, value: Node) -> Rewrite | None:
    """Return the rewrite to `?`, where the call returns a `Result`, as no C function does."""
    called = text(field(value, "function"))
    if called.startswith(("libc::", "ffi::")):
        return None
    if value.type == "unsafe_block" or not fits(site.function, value):
        return None
    return Rewrite("Return the error with '?'", [(site.node, f"{text(value)}?;")], safe=False)
