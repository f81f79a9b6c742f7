"""Permissive umask, or umask called with a chmod-style mode.

## What it does
Finds `umask(0)` and other masks that leave new files world-writable, and masks that look like an
argument of `chmod` (`umask(0644)`).

## Why is this bad?
The umask lists the permissions that new files do *not* get. With 0, every file created with the
usual 0666 is world-writable. With a mode instead of a mask, the owner loses permissions and
others gain them.

## Example
```c
umask(0);
fopen(path, "w");
```

Use instead:
```c
umask(077);
fopen(path, "w");
```

## References
- CWE-732: Incorrect Permission Assignment for Critical Resource
- CWE-560: Use of umask() with chmod-style Argument
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, rule
from jarvis_ls.jsec.local.c.file_modes import mode_value


@rule(
    query=calls("umask", "_umask"),
    category="insecure_permissions",
    cwe=(732, 560),
    confidence=0.5,
    severity="medium",
    suggestion="Use umask(077), or umask(022) if others may read the files.",
    fixable=True,
)
def permissive_umask(call: Call) -> Iterator[Report]:
    given = call.arg(0)
    mask = mode_value(given, call)
    if given is None or mask is None or _is_probe(call):
        return
    kept = call.statement is None  # what was there before is put back later
    fix = None if kept else Rewrite("Use umask 077", [(given, "077")], safe=False)
    if mask & 0o400 and mask != 0o777:
        yield Report(
            given,
            "umask is called with the chmod-style mode '{mask}'.",
            confidence=0.6,
            pattern=call.name,
            mask=text(given),
            fix=fix,
        )
    elif not mask & 0o002:
        yield Report(
            given,
            "umask '{mask}' leaves new files world-writable.",
            pattern=call.name,
            mask=text(given),
            fix=fix,
        )


def _is_probe(call: Call) -> bool:
    """Return whether the call only reads the mask, as in `old = umask(0); umask(old);`."""
    outer = call.node.parent
    for _ in range(3):  # `umask(old = umask(0))`
        if outer is None or outer.type not in ("assignment_expression", "argument_list"):
            break
        outer = outer.parent
    if outer is not None and outer.type == "call_expression":
        return text(outer.child_by_field_name("function")) in ("umask", "_umask")
    if call.target is None or call.function is None:
        return False
    return _last_calls(call.function).get(text(call.target), -1) > call.node.end_byte


@once_per_function
def _last_calls(function: Function) -> dict[str, int]:
    """Return the position of the last call of `umask` by its argument."""
    return {
        text(call.arg(0)): call.node.start_byte
        for call in function.calls
        if call.name in ("umask", "_umask")
    }
