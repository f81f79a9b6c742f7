"""chroot without changing the working directory.

## What it does
Finds `chroot` in functions that do not call `chdir` afterwards (nor before, to the same path).

## Why is this bad?
`chroot` does not change the working directory. A compromised process can escape the jail with a
relative path such as `../../etc/passwd`.

## Example
```c
if (chroot(jail) != 0)
    exit(1);
file = fopen(name, "r");
```

Use instead:
```c
if (chroot(jail) != 0 || chdir("/") != 0)
    exit(1);
```

## References
- CWE-243: Creation of chroot Jail Without Changing Working Directory
- SEI CERT C POS05-C: Limit access to files by creating a jail
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.rule import Report, functions, rule

_ENTERS = re.compile(r"ch(?:ange)?_?dir")
"""Changes the working directory: `chdir`, `fchdir`, or a function of the program for it."""


@rule(
    query=functions(calling=("chroot",)),
    category="insecure_permissions",
    cwe=(243,),
    confidence=0.8,
    suggestion='Call chdir("/") right after chroot and check both return values.',
)
def chroot_without_chdir(function: Function) -> Iterator[Report]:
    entered = [call for call in function.calls if _ENTERS.search(call.name)]
    last = entered[-1].node.start_byte if entered else -1
    places = {text(call.arg(0)) for call in entered}
    for call in function.calls:
        jail = text(call.arg(0))
        if call.name != "chroot" or not jail or jail == '"."':
            continue
        if last > call.node.start_byte or jail in places:
            continue
        yield Report(
            call.node,
            "Working directory is still outside '{jail}' after 'chroot'.",
            confidence=0.4 if call.is_wrapped else None,
            pattern="chroot",
            jail=jail,
        )
