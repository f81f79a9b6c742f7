"""Programs that start the command behind them: where that begins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wrapped:
    """Where the command behind a program begins."""

    start: int
    """Index of its first word among the program's arguments."""
    assignments: tuple[str, ...] = ()
    """Variables it gets."""
    more: bool = False
    """Whether the program does more than start it."""
    appends: bool = False
    """Whether it gets further words that no one sees."""


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """How a program is called."""

    flags: str = ""
    """Options without value, as patterns of whole words."""
    values: str = ""
    """Options whose value is the next word."""
    operands: int = 0
    """Words of its own before the command."""
    more: bool = False
    """See `Wrapped`."""


WRAPPERS = {
    "time": _Wrapper("-p|-v"),
    "nohup": _Wrapper(),
    "nice": _Wrapper(r"-n-?\d+|--adjustment=-?\d+|-\d+", "-n"),
    "ionice": _Wrapper(r"-c\d|-n\d|-t", "-c|-n"),
    "stdbuf": _Wrapper(r"-[ioe][L0]|--(?:input|output|error)=[L0]", "-i|-o|-e"),
    "setsid": _Wrapper("-w|-f|--wait|--fork"),
    "timeout": _Wrapper(
        r"--foreground|--preserve-status|-v|--verbose|-k\d\w*|-s\w+|--kill-after=\w+|--signal=\w+",
        "-k|-s|--kill-after|--signal",
        1,
    ),
    "env": _Wrapper(r"-i|-|-u\w+|--unset=\w+|--ignore-environment|-0", "-u|--unset"),
    "sudo": _Wrapper("-E|-n|-H|-S|-b|-k", "-u|-g", more=True),
    "doas": _Wrapper("-n", "-u", more=True),
    "strace": _Wrapper(r"-f|-c|-C|-q+|-t+|-T|-y+|-v|-s\d+|-e\w[\w=,!]*|-x+", "-e|-s"),
    "ltrace": _Wrapper(r"-f|-c|-C|-S|-t+", "-s"),
    "valgrind": _Wrapper(
        r"-q|-v|--tool=\w+|--leak-check=\w+|--track-origins=\w+|--show-leak-kinds=\w+"
        r"|--error-exitcode=\d+|--num-callers=\d+|--show-reachable=\w+|--quiet|--undef-value-errors=\w+"
    ),
    "fakeroot": _Wrapper("--"),
    "eatmydata": _Wrapper("--"),
    "unbuffer": _Wrapper("-p"),
    "exec": _Wrapper(more=True),
    "command": _Wrapper("-p", more=True),
    "builtin": _Wrapper(more=True),
    "xargs": _Wrapper(
        r"-0|--null|-r|--no-run-if-empty|-t|--verbose|-x|-n\d+|-P\d+|-L\d+|-I.+|-d.+|-s\d+"
        r"|--max-args=\d+|--max-procs=\d+|--delimiter=.+|--replace|-i|-0r|-r0|-rn\d+|-0n\d+",
        "-n|-P|-L|-I|-d|-s|-E|--max-args|--max-procs|--delimiter",
    ),
}
"""By their names."""


def wrapped(name: str, arguments: Sequence[str]) -> Wrapped | None:
    """Return where the command behind a program begins; None when its options are not known."""
    wrapper = WRAPPERS[name]
    if name == "command" and arguments and arguments[0] in ("-v", "-V"):
        return Wrapped(len(arguments))
    at = 0
    while at < len(arguments) and arguments[at].startswith("-"):
        option = arguments[at]
        if option == "--":
            at += 1
            break
        if wrapper.values and re.fullmatch(wrapper.values, option):
            at += 2
        elif wrapper.flags and re.fullmatch(wrapper.flags, option, re.DOTALL):
            at += 1
        else:
            return None
    at += wrapper.operands
    start = at
    if name in ("env", "sudo", "doas"):
        while at < len(arguments) and re.match(r"[A-Za-z_]\w*=", arguments[at]):
            at += 1
    if at < len(arguments) and "=" in arguments[at]:
        return None
    given = tuple(arguments[start:at])
    return Wrapped(min(at, len(arguments)), given, wrapper.more, name == "xargs")


def inner_of_find(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield where the commands that find runs begin and end among its words."""
    at = 0
    while at < len(words):
        at += 1
        if words[at - 1] not in ("-exec", "-execdir", "-ok", "-okdir"):
            continue
        start = at
        while at < len(words) and words[at] != ";":
            if words[at] == "+" and words[at - 1] == "{}":
                break
            at += 1
        if at > start:
            yield start, at
