"""Async-signal-unsafe call in a signal handler.

## What it does
Finds calls of `printf`, `malloc`, `free`, `exit`, `syslog`, locks and the like in functions
installed by `signal` or `sigaction`, also through one further call in the same file. Each handler
is reported once, at its most severe call.

## Why is this bad?
A signal can arrive in the middle of `malloc`. If the handler calls it again, the heap is
corrupted, or the program deadlocks on a lock it holds itself. Such flaws have been exploited
remotely (CVE-2006-5051 and CVE-2024-6387 in sshd).

## Example
```c
void on_interrupt(int number) {
    printf("interrupted\n");
    exit(1);
}
```

Use instead:
```c
static volatile sig_atomic_t interrupted;

void on_interrupt(int number) {
    interrupted = 1;
}
```

## References
- CWE-479: Signal Handler Use of a Non-reentrant Function
- CWE-364: Signal Handler Race Condition
- SEI CERT C SIG30-C: Call only asynchronous-safe functions within signal handlers
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import field, text
from jarvis_ls.jsec.base.match_site import WholeUnit
from jarvis_ls.jsec.base.rule import Report, rule, whole_file
from jarvis_ls.jsec.local.c.threads import handlers
from jarvis_ls.jsec.local.guards import leaves

UNSAFE = frozenset(
    "printf fprintf vprintf vfprintf puts fputs putchar fputc putc fwrite fread fgets "
    "fopen fclose fflush perror malloc calloc realloc free strdup asprintf syslog vsyslog "
    "openlog closelog exit longjmp siglongjmp localtime gmtime ctime asctime strerror "
    "strtok getenv setenv putenv system popen pclose pthread_mutex_lock "
    "pthread_cond_signal pthread_cond_broadcast getpwnam getpwuid gethostbyname "
    "getaddrinfo rand random scanf fscanf getchar sprintf snprintf vsnprintf delete "
    "operator atexit dlopen dlclose opendir readdir closedir qsort wprintf fwprintf err "
    "warn errx g_print g_free g_malloc tmpfile strsignal psignal".split()
)
_NEAR = 80
"""Bytes after `sa_handler = f` in which a signal is named."""
_CRASH = re.compile(rb"\bSIG(?:SEGV|BUS|FPE|ILL|ABRT)\b")
SAME = "This call is not async-signal-safe either."
JUMPS = frozenset({"longjmp", "siglongjmp"})
"""Who leaves a handler so means to, as a rule: to give up what the signal interrupted."""
MILD = frozenset(
    {"sprintf", "snprintf", "vsnprintf", "strerror", "getenv", "rand", "qsort", "strtok"}
)


@rule(
    query=whole_file("signal(", "signal (", "sigaction", "sigset(", "sa_handler"),
    category="concurrency",
    cwe=(479, 364),
    confidence=0.8,
    severity="medium",
    suggestion="Only set a 'volatile sig_atomic_t' flag in the handler and do the work in "
    "the main loop.",
)
def unsafe_call_in_signal_handler(whole: WholeUnit) -> Iterator[Report]:
    by_name = whole.by_name
    for handler, installed in handlers(whole):
        found: dict[str, tuple[Call, Report]] = {}
        for call in handler.calls:
            if (
                not call.is_method
                and call.name not in found
                and not _is_outside_signal(call, handler)
            ):
                for report in _report(call, by_name):
                    found[call.name] = call, report
        if not found:
            continue
        _, gravest = max(found.values(), key=lambda entry: entry[1].confidence or 0.0)
        others = [(c.node, SAME) for c, report in found.values() if report is not gravest]
        start, end = installed
        placed = whole.unit.source.data[start : end + _NEAR]
        if _CRASH.search(placed) is not None and gravest.confidence is not None:
            gravest.confidence = min(gravest.confidence, 0.5)  # what is left to do is to say so
        gravest.causes.append((installed, "Signal handler installed here."))
        gravest.related += [((node.start_byte, node.end_byte), message) for node, message in others]
        yield gravest


def _is_outside_signal(call: Call, handler: Function) -> bool:
    """Return whether a call is made only without a signal number, when the handler is called as an
    ordinary function.
    """
    number = handler.parameters[0].name if handler.parameters else ""
    for node in handler.nodes("if") if number else ():
        if text(field(node, "condition")).strip("() ") != number:
            continue
        signalled, other = field(node, "consequence"), field(node, "alternative")
        if other is None:
            if signalled is not None and leaves(signalled) and call.node.start_byte > node.end_byte:
                return True
        elif other.start_byte <= call.node.start_byte < other.end_byte:
            return True
    return False


def _report(call: Call, by_name: dict[str, Function]) -> Iterator[Report]:
    if call.name not in by_name:
        if call.name in UNSAFE:
            yield Report(
                call.node,
                "'{name}' is not async-signal-safe but called in a signal handler.",
                confidence=0.5 if call.name in MILD | JUMPS else 0.8,
                pattern=call.name,
                name=call.written,
            )
        return
    inner = _unsafe(by_name[call.name])
    if inner is not None:
        yield Report(
            call.node,
            "'{name}' is called in a signal handler and calls '{inner}', which is not "
            "async-signal-safe.",
            confidence=0.7,
            pattern=inner.name,
            name=call.written,
            inner=inner.name,
        ).with_related([(inner.node, "Called here.")])


def _unsafe(function: Function) -> Call | None:
    for call in function.calls:
        if call.name in UNSAFE - MILD and not call.is_method:
            return call
    return None
