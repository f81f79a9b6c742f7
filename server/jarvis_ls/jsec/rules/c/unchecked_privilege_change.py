"""The result of a change of privileges is dropped.

## What it does
Finds `setuid`, `setgid`, `setgroups`, `chroot`, `Impersonate...` and the like whose result
nobody looks at, unless the function asks for the new identity afterwards.

## Why is this bad?
These calls can fail (a limit on processes, a missing capability). The program then goes on with
all the rights it meant to give up, and whatever it does next for a user is done as root.

## Example
```c
setuid(getuid());
run_user_command(command);
```

Use instead:
```c
if (setuid(getuid()) != 0)
    abort();
run_user_command(command);
```

## References
- CWE-252: Unchecked Return Value
- CWE-273: Improper Check for Dropped Privileges
- SEI CERT C POS37-C: Ensure that privilege relinquishment is successful
"""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_ls.codeintel.code import Call, Function
from jarvis_ls.jsec.c.outcomes import dropped, tests_of
from jarvis_ls.jsec.memo import once_per_function
from jarvis_ls.jsec.rule import Report, Rewrite, calls, rule

UNIX = (
    "setuid", "setgid", "seteuid", "setegid", "setreuid", "setregid", "setresuid", "setresgid",
    "setgroups", "initgroups", "chroot", "capset", "cap_set_proc", "setcon", "unshare", "setns",
)  # fmt: skip
WINDOWS = (
    "ImpersonateLoggedOnUser", "ImpersonateNamedPipeClient", "ImpersonateSelf",
    "ImpersonateAnonymousToken", "RpcImpersonateClient", "CoImpersonateClient", "SetThreadToken",
    "RevertToSelf", "AdjustTokenPrivileges", "DdeImpersonateClient",
    "ImpersonateDdeClientWindow", "ImpersonateSecurityContext",
)  # fmt: skip
ASKING = frozenset({"getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid",
                    "getgroups"})  # fmt: skip


@rule(
    query=calls(*UNIX, *WINDOWS),
    category="insecure_permissions",
    cwe=(252, 273),
    confidence=0.85,
    suggestion="End the program when '{name}' does not succeed.",
    fixable=True,
)
def unchecked_privilege_change(call: Call) -> Iterator[Report]:
    if not dropped(call) or call.function is None:
        return
    if call.name not in WINDOWS and _last_question(call.function) > call.node.end_byte:
        return
    yield Report(
        call.node,
        "Nobody looks at the result of '{name}': rights may not be given up at all.",
        pattern=call.name,
        name=call.written,
        fix=_abort_on_failure(call),
    )


@once_per_function
def _last_question(function: Function) -> int:
    """Where the function last compares who it runs as; -1 when it never does."""
    asked = [call.node.start_byte for call in function.calls
             if call.name in ASKING and any(tests_of(call))]  # fmt: skip
    return asked[-1] if asked else -1


def _abort_on_failure(call: Call) -> Rewrite | None:
    statement = call.statement
    if statement is None or call.name in WINDOWS:
        return None
    start, end = call.node.start_byte, statement.end_byte
    return Rewrite(
        "End the program when '{name}' fails",
        [((start, start), "if ("), ((call.node.end_byte, end), " != 0) abort();")],
        name=call.written,
    )
