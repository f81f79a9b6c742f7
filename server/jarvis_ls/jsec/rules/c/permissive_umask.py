"""The umask keeps nobody out, or is given a mode instead of a mask.

## What it does
Finds `umask(0)` and other masks that let everybody write to new files, and masks that look like
the argument of `chmod` (`umask(0644)`).

## Why is this bad?
The umask names the rights that new files do *not* get. With 0 every file that is created with
the usual 0666 can be changed by every user. With a mode in its place, the owner loses rights and
others get them.

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

from jarvis_ls.codeintel.code import Call, Function, text
from jarvis_ls.jsec.c.modes import mode_value
from jarvis_ls.jsec.memo import once_per_function
from jarvis_ls.jsec.rule import Report, Rewrite, calls, rule


@rule(
    query=calls("umask", "_umask"),
    category="insecure_permissions",
    cwe=(732, 560),
    confidence=0.65,
    severity="medium",
    suggestion="Use umask(077), or umask(022) when others may read.",
    fixable=True,
)
def permissive_umask(call: Call) -> Iterator[Report]:
    given = call.arg(0)
    mask = mode_value(given, call)
    if given is None or mask is None or _is_probe(call):
        return
    fix = Rewrite("Use the mask 077", [(given, "077")], safe=False)
    if mask & 0o400 and mask != 0o777:
        yield Report(given, "'{mask}' looks like a mode: umask takes the rights to remove.",
                     confidence=0.8, pattern=call.name, mask=text(given), fix=fix)  # fmt: skip
    elif not mask & 0o002:
        yield Report(given, "With the mask '{mask}' everybody may write to new files.",
                     pattern=call.name, mask=text(given), fix=fix)  # fmt: skip


def _is_probe(call: Call) -> bool:
    """`old = umask(0); umask(old);` only reads the mask."""
    outer = call.node.parent
    for _ in range(3):  # `umask(old = umask(0))`
        if outer is None or outer.type not in ("assignment_expression", "argument_list"):
            break
        outer = outer.parent
    if outer is not None and outer.type == "call_expression":
        return text(outer.child_by_field_name("function")) in ("umask", "_umask")
    if call.target is None or call.function is None:
        return False
    return _restored(call.function).get(text(call.target), -1) > call.node.end_byte


@once_per_function
def _restored(function: Function) -> dict[str, int]:
    """By argument, where the function last calls `umask` with it."""
    return {text(call.arg(0)): call.node.start_byte for call in function.calls
            if call.name in ("umask", "_umask")}  # fmt: skip
