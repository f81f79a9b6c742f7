"""Return value of a privilege change ignored.

## What it does
Finds `setuid`, `setgid`, `setgroups`, `chroot`, `Impersonate...` and the like whose return value
is ignored, unless the function verifies the new identity afterwards.

## Why is this bad?
These calls can fail (a process limit, a missing capability). The program then keeps the
privileges it meant to drop, and everything it does next for a user is done as root.

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

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.base.rule import Report, Rewrite, calls, rule
from jarvis_ls.jsec.local.c.layout import layout_of, replace_statement
from jarvis_ls.jsec.local.c.result_checks import is_result_dropped, tests_of

UNIX = tuple(
    "setuid setgid seteuid setegid setreuid setregid setresuid setresgid setgroups "
    "initgroups chroot capset cap_set_proc setcon unshare setns".split()
)
WINDOWS = tuple(
    "ImpersonateLoggedOnUser ImpersonateNamedPipeClient ImpersonateSelf "
    "ImpersonateAnonymousToken RpcImpersonateClient CoImpersonateClient SetThreadToken "
    "RevertToSelf AdjustTokenPrivileges DdeImpersonateClient ImpersonateDdeClientWindow "
    "ImpersonateSecurityContext".split()
)
ASKING = frozenset(
    {"getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "getgroups"}
)


@rule(
    query=calls(*UNIX, *WINDOWS),
    category="insecure_permissions",
    cwe=(252, 273),
    confidence=0.85,
    suggestion="Terminate the program when '{name}' fails.",
    fixable=True,
)
def unchecked_privilege_change(call: Call) -> Iterator[Report]:
    if not is_result_dropped(call) or call.function is None:
        return
    if call.name not in WINDOWS and _last_verification(call.function) > call.node.end_byte:
        return
    if _gains(call):
        return
    yield Report(
        call.node,
        "Return value of '{name}' is ignored; the program may keep its privileges.",
        # a failure leaves the groups as they were, fewer mostly
        confidence=0.55 if call.name == "initgroups" else None,
        pattern=call.name,
        name=call.written,
        fix=_abort_on_failure(call),
    )


def _gains(call: Call) -> bool:
    """Return whether a call takes back what an earlier one gave up, or keeps what there is:
    `seteuid(0)`, `setuid(geteuid())`, or the same call with its arguments exchanged. When that
    fails, the program has fewer privileges, not more. `setreuid(u, -1)` leaves the rights as they
    are: it sets whom `access` asks for."""
    if call.name in ("setuid", "setgid", "seteuid", "setegid"):
        asked = text(call.arg(0)).replace(" ", "")
        return asked in ("0", "geteuid()", "getegid()")
    if call.name in ("setreuid", "setregid") and text(call.arg(1)) == "-1":
        return True
    if call.name not in ("setreuid", "setregid") or call.function is None:
        return False
    given = [text(argument) for argument in call.arguments]
    return len(set(given)) > 1 and any(
        other.name == call.name
        and other.node.start_byte < call.node.start_byte
        and [text(argument) for argument in other.arguments] == given[::-1]
        for other in call.function.calls
    )


@once_per_function
def _last_verification(function: Function) -> int:
    """Return the position of the last check of the identity in the function, or -1."""
    asked = [
        call.node.start_byte
        for call in function.calls
        if call.name in ASKING and any(tests_of(call))
    ]
    return asked[-1] if asked else -1


def _abort_on_failure(call: Call) -> Rewrite | None:
    statement, function = call.statement, call.function
    if statement is None or function is None or call.name in WINDOWS:
        return None
    failed = f"{text(call.node)} != 0"
    lines = layout_of(function).when(failed, ["abort();"])
    return Rewrite(
        "Terminate the program when '{name}' fails",
        replace_statement(function, statement, lines),
        safe=False,
        name=call.written,
    )
