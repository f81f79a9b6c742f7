"""Return value of a write ignored.

## What it does
Finds `fwrite`, `write`, `send` and the like whose return value is ignored. Output to a stream is
reported at its first such call, and not at all when `ferror`, `fflush` or `fclose` of the stream
is checked later: one of these suffices. Formatted text and characters count only where the
function itself opened the file. Text for `stdout` is reported once per function, and only where
the file checks the return value of the same function elsewhere; output to `stderr` and calls cast
to `(void)` are left out.

## Why is this bad?
A full disk, a quota or a broken pipe loses data, and the program reports success.

## Example
```c
while ((n = read_block(in, buffer)) > 0)
    fwrite(buffer, 1, n, out);
```

Use instead:
```c
while ((n = read_block(in, buffer)) > 0)
    if (fwrite(buffer, 1, n, out) != n)
        return -1;
```

## References
- CWE-252: Unchecked Return Value
- SEI CERT C ERR33-C: Detect and handle standard library errors
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jarvis_ls.codeintel.functions import Call, Function
from jarvis_ls.codeintel.nodes import text
from jarvis_ls.jsec.base.function_cache import once_per_function
from jarvis_ls.jsec.base.rule import Report, flow_verdicts, functions, rule, summary
from jarvis_ls.jsec.local.c.result_checks import is_result_dropped, stream_checked
from jarvis_ls.jsec.local.c.result_fixes import test_dropped_result

BLOCKS = {"fwrite": 3, "fwrite_unlocked": 3}
TEXTS = {
    "fprintf": 0,
    "vfprintf": 0,
    "fputs": 1,
    "fputc": 1,
    "putc": 1,
    "fwprintf": 0,
    "fputws": 1,
    "fputwc": 1,
    "putwc": 1,
    "putw": 1,
}
PLAIN = dict.fromkeys(
    ("puts", "putchar", "putwchar", "printf", "vprintf", "wprintf", "vwprintf"), "stdout"
)
"""Functions without a stream argument, with the stream they write to."""
DESCRIPTORS = {
    "write": 0,
    "pwrite": 0,
    "writev": 0,
    "_write": 0,
    "send": 0,
    "sendto": 0,
    "sendmsg": 0,
    "dprintf": 0,
}
_COUNTED = frozenset({"write", "pwrite", "_write", "send"})
"""Functions whose third argument is the amount written."""
_LOGS = re.compile(r"(?i)err|log|debug|dbg|trace|diag")
"""Standard streams, where a lost write rarely matters."""
OPENING = frozenset({"fopen", "fopen64", "fdopen", "freopen", "_wfopen", "tmpfile"})
STANDARD = frozenset(
    {
        "stdout",
        "stderr",
        "1",
        "2",
        "STDOUT_FILENO",
        "STDERR_FILENO",
        "fileno(stdout)",
        "fileno(stderr)",
    }
)


@rule(
    query=functions(calling=(*BLOCKS, *TEXTS, *PLAIN, *DESCRIPTORS)),
    category="error_handling",
    cwe=(252,),
    confidence=0.55,
    severity="medium",
    suggestion="Check the return value of '{name}', or 'ferror' and 'fclose' after the last write.",
    fixable=True,
)
@summary("Return values of {count} writes in this file are not checked.")
@flow_verdicts(trace="write-reached")
def unchecked_write(function: Function) -> Iterator[Report]:
    seen: set[tuple[str, bool]] = set()
    for call in function.calls:
        name = call.name
        if name in function.unit.facts.defined or call.is_method:
            continue
        target = _stream(call)
        to_output = target == "stdout" and (name in BLOCKS or name in function.unit.facts.compared)
        if not target or (target in STANDARD and not to_output) or not is_result_dropped(call):
            continue
        if name not in DESCRIPTORS and not _is_first(function, call, target, seen):
            continue
        yield Report(
            call.node,
            "Return value of '{name}' is not checked: write errors on '{target}' go undetected.",
            confidence=_confidence(call, to_output),
            pattern=name,
            name=call.written,
            target=target,
            fix=test_dropped_result(call),
        )


def _stream(call: Call) -> str:
    """Return the stream or descriptor a call writes to, or an empty string for other calls."""
    name = call.name
    if name in DESCRIPTORS and name != "dprintf" and len(call.arguments) < 3:
        return ""  # a function of the program
    if name in _COUNTED and text(call.arg(2)) == "0":
        return ""  # an empty write is used for its side effect
    place = BLOCKS.get(name, TEXTS.get(name, DESCRIPTORS.get(name)))
    return PLAIN.get(name, "") if place is None else text(call.arg(place))


def _confidence(call: Call, to_output: bool) -> float:
    if to_output and call.name not in BLOCKS:
        return 0.35
    if _LOGS.search(_stream(call)):
        return 0.45
    if call.name in TEXTS or to_output or _is_wake_up(call):
        return 0.45
    function = call.function
    if call.name in BLOCKS and function is not None and not _opened_here(function, _stream(call)):
        return 0.45  # the owner of the stream may check it before closing
    return 0.55


def _is_first(function: Function, call: Call, stream: str, seen: set[tuple[str, bool]]) -> bool:
    """Return whether this is the first unchecked write to a stream whose errors are not checked."""
    key = (stream, call.name in BLOCKS)
    if key in seen or (stream, True) in seen:
        return False
    seen.add(key)
    if stream != "stdout" and call.name in TEXTS and not _opened_here(function, stream):
        return False
    return not stream_checked(function, stream)


def _opened_here(function: Function, stream: str) -> bool:
    return stream in _opened_streams(function)


@once_per_function
def _opened_streams(function: Function) -> set[str]:
    """Return the streams that the function opens."""
    return {text(call.target) for call in function.calls if call.name in OPENING}


def _is_wake_up(call: Call) -> bool:
    """Return whether a single byte is written, as to wake a reader."""
    return call.name in DESCRIPTORS and text(call.arg(2)) == "1"
