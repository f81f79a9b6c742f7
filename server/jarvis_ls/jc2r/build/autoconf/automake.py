"""What automake makes of the C files of a folder: one file may be compiled for several targets,
each with flags of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

_MADE = re.compile(r"(\w+)_(?:PROGRAMS|LIBRARIES|LTLIBRARIES)\Z")
_ASIDE = ("check", "noinst", "EXTRA")
"""Where targets are listed that are not what a project is for."""
_FLAGS = ("CPPFLAGS", "CFLAGS")
OF_TARGET = re.compile(r"(\w+)_(C|CPP|CXX|OBJC|LD|Y|L)FLAGS")
"""Flags of one target, or of all that have none of their own: those of `AM`."""


def flags_of_files(known: Mapping[str, str], filled: Callable[[str], str]) -> dict[str, list[str]]:
    """By each C file that targets name, what it is compiled with for each of them, given the
    variables of a makefile and what fills them into a text."""
    found: dict[str, list[str]] = {}
    for target in targets(known, filled):
        named = known.get(f"{target}_SOURCES", f"{target}.c")
        flags = " ".join(
            known.get(f"{target}_{flag}", known.get(f"AM_{flag}", "")) for flag in _FLAGS
        )
        for word in f"{filled(named)} {filled(known.get(f'nodist_{target}_SOURCES', ''))}".split():
            if word.endswith(".c"):
                found.setdefault(PurePosixPath(word).as_posix(), []).append(flags)
    return found


def targets(known: Mapping[str, str], filled: Callable[[str], str]) -> list[str]:
    """Return what is made, as variables name it, what is installed first; `filled` puts variables
    into a text."""
    lists = [(match[1], value) for name, value in known.items() if (match := _MADE.match(name))]
    lists.sort(key=lambda assignment: assignment[0].startswith(_ASIDE))
    return [re.sub(r"\W", "_", word) for _, value in lists for word in filled(value).split()]
