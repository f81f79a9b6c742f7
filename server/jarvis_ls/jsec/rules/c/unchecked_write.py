"""The result of a write is dropped.

## What it does
Finds `fwrite`, `write`, `send` and the like whose result is thrown away. Output to a stream is
reported at the first such call for the stream, and not at all when `ferror`, `fflush` or
`fclose` of the stream is checked later: one of these is enough. Formatted text and characters
count only where the function itself opened the file. Text for `stdout` counts once in a function,
and only where the file tests the result of the same function elsewhere; what goes to `stderr` and
a call behind `(void)` are left alone.

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

from jarvis_ls.codeintel.code import Call, Function, text
from jarvis_ls.jsec.c.outcomes import dropped, stream_checked
from jarvis_ls.jsec.memo import once_per_function
from jarvis_ls.jsec.rule import Report, functions, rule

BLOCKS = {"fwrite": 3, "fwrite_unlocked": 3}
TEXTS = {
    "fprintf": 0, "vfprintf": 0, "fputs": 1, "fputc": 1, "putc": 1, "fwprintf": 0, "fputws": 1,
    "fputwc": 1, "putwc": 1, "putw": 1,
}  # fmt: skip
PLAIN = dict.fromkeys(
    ("puts", "putchar", "putwchar", "printf", "vprintf", "wprintf", "vwprintf"), "stdout"
)
"""Functions that name no stream, with the one they write to."""
DESCRIPTORS = {"write": 0, "pwrite": 0, "writev": 0, "_write": 0, "send": 0, "sendto": 0,
               "sendmsg": 0, "dprintf": 0}  # fmt: skip
_COUNTED = frozenset({"write", "pwrite", "_write", "send"})
"""Those whose third argument is how much is written."""
_LOGS = re.compile(r"(?i)err|log|debug|dbg|trace|diag")
"""Streams whose loss few would want to hear of."""
OPENING = frozenset({"fopen", "fopen64", "fdopen", "freopen", "_wfopen", "tmpfile"})
STANDARD = frozenset({"stdout", "stderr", "1", "2", "STDOUT_FILENO", "STDERR_FILENO",
                      "fileno(stdout)", "fileno(stderr)"})  # fmt: skip


@rule(
    query=functions(calling=(*BLOCKS, *TEXTS, *PLAIN, *DESCRIPTORS)),
    category="error_handling",
    cwe=(252,),
    confidence=0.75,
    severity="medium",
    suggestion="Test the result of '{name}', or check 'ferror' and 'fclose' once all is written.",
    reached="write-reached",
)
def unchecked_write(function: Function) -> Iterator[Report]:
    seen: set[tuple[str, bool]] = set()
    for call in function.calls:
        name = call.name
        if name in function.unit.facts.defined or call.is_method:
            continue
        target = _stream(call)
        to_output = target == "stdout" and (name in BLOCKS or name in function.unit.facts.compared)
        if not target or (target in STANDARD and not to_output) or not dropped(call):
            continue
        if name not in DESCRIPTORS and not _is_first(function, call, target, seen):
            continue
        yield Report(
            call.node,
            "Nobody looks at the result of '{name}': data for '{target}' may be lost unnoticed.",
            confidence=_confidence(call, to_output),
            pattern=name,
            name=call.written,
            target=target,
        )


def _stream(call: Call) -> str:
    """Text of the stream or descriptor that a call writes to; empty when it is no write."""
    name = call.name
    if name in DESCRIPTORS and name != "dprintf" and len(call.arguments) < 3:
        return ""  # a function of the program's own
    if name in _COUNTED and text(call.arg(2)) == "0":
        return ""  # nothing is sent: what it does besides is wanted
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
        return 0.55  # who opened it may ask for errors before it is closed
    return 0.75


def _is_first(function: Function, call: Call, stream: str, seen: set[tuple[str, bool]]) -> bool:
    """Whether this is the first unchecked write to a stream that nobody asks for errors."""
    key = (stream, call.name in BLOCKS)
    if key in seen or (stream, True) in seen:
        return False
    seen.add(key)
    if stream != "stdout" and call.name in TEXTS and not _opened_here(function, stream):
        return False
    return not stream_checked(function, stream)


def _opened_here(function: Function, stream: str) -> bool:
    return stream in _opened(function)


@once_per_function
def _opened(function: Function) -> set[str]:
    """The streams the function opens itself."""
    return {text(call.target) for call in function.calls if call.name in OPENING}


def _is_wake_up(call: Call) -> bool:
    """A single byte that wakes a reader, or a farewell to a peer."""
    return call.name in DESCRIPTORS and text(call.arg(2)) == "1"
