"""Ignored return value of a C function.

## What it does
Finds `libc` and `nix` calls whose failure matters for security (`setuid`, `setgid`, `chroot`,
`chdir`, `mlock`, `pthread_mutex_lock`, `fcntl`, …) used as statements.

## Why is this bad?
When dropping privileges fails unnoticed, the process continues with all of them.

## Example
```rust
unsafe { libc::setuid(user) };
```

Use instead:
```rust
if unsafe { libc::setuid(user) } != 0 { return Err(io::Error::last_os_error()); }
```

## References
- CWE-252: Unchecked Return Value
- CWE-273: Improper Check for Dropped Privileges
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.extract.rust import in_test
from jarvis_ls.codeintel.functions import Call
from jarvis_ls.codeintel.nodes import ancestors, text
from jarvis_ls.codeintel.parse import Node
from jarvis_ls.jsec.base.rule import Report, calls, rule
from jarvis_ls.jsec.local.rust.shapes import call_path

_PRIVILEGES = tuple(
    "setuid setgid seteuid setegid setreuid setregid setresuid setresgid setgroups "
    "initgroups chroot prctl capset unshare setrlimit".split()
)
_OTHERS = tuple(
    "chdir fchdir mlock mprotect fcntl ftruncate fsync dup2 chmod fchmod chown fchown "
    "pthread_mutex_lock pthread_create sigaction pthread_mutex_init sem_wait flock".split()
)


@rule(
    query=calls(*_PRIVILEGES, *_OTHERS),
    category="error_handling",
    cwe=(252, 273),
    confidence=0.55,
    suggestion="Compare the result with -1 (or 0) and handle the failure.",
)
def c_call_result_ignored(call: Call) -> Iterator[Report]:
    path = call_path(call)
    if not path.startswith(("libc::", "nix::", "rustix::", "ffi::")) or in_test(call.node):
        return
    if not _is_dropped(call.node):
        return
    grave = call.name in _PRIVILEGES
    yield Report(
        call.node,
        "Return value of '{called}' is ignored; the program continues after a failure.",
        confidence=0.75 if grave else 0.5,
        pattern=call.name,
        called=call.name,
    )


def _is_dropped(node: Node) -> bool:
    """Return whether the value ends as a statement, through `unsafe` blocks, or is bound to `_`."""
    below = node
    for outer in ancestors(node):
        kind = outer.type
        if kind == "expression_statement":
            following = outer.children[-1] if outer.child_count else None
            if following is not None and following.type == ";":
                return True
            after = outer.next_named_sibling
            if after is not None and after.type == "empty_statement":
                return True  # `unsafe { … };`
            below = outer
            continue
        if kind == "let_declaration":
            return text(outer.child_by_field_name("pattern")) == "_"
        if kind == "block":
            holder = outer.parent
            if below.next_named_sibling is not None or holder is None:
                return False
            if holder.type != "unsafe_block":
                return False
        elif kind != "unsafe_block":
            return False
        below = outer
    return False
