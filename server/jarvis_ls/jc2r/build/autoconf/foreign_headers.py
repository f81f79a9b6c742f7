"""Headers that a `configure` wrote on another machine and that came with the sources."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from jarvis_ls.jc2r.build.autoconf.config_headers import content
from jarvis_ls.jc2r.build.machine_probes import answers

_MADE = re.compile(rb"[Gg]enerated (?:automatically |from [\w./-]+ )?by configure\b")
_BEGINNING = 400
"""Bytes of a header in which it says who made it."""
_LEFT_OUT = re.compile(r"^[ \t]*/\* #undef (HAVE_[A-Z0-9_]+) \*/[ \t]*$", re.MULTILINE)
_TRACES = ("config.status", "config.log")
"""What `configure` leaves where it runs."""
ELSEWHERE = "was made by configure on another machine"
"""Stands in the notes of this module."""
_NAMED = 4
"""So many macros are named."""


def made_elsewhere(root: Path, files: Sequence[str]) -> list[str]:
    """Return what to know of headers that deny what this machine has, in words."""
    notes = []
    for file in files if "configure" in files else ():
        data = content(root / file) if file.endswith(".h") else b""
        if _MADE.search(data[:_BEGINNING]) is None or _was_made_here(root / file, root):
            continue
        denied = _LEFT_OUT.findall(data.decode("utf-8", "replace"))
        there = answers(denied)
        wrong = [file for file in denied if file in there]
        if wrong:
            more = ", …" if len(wrong) > _NAMED else ""
            names = f"{', '.join(wrong[:_NAMED])}{more}"
            notes.append(f"{file} was made by configure on another machine: this one has {names}")
    return notes


def _was_made_here(header: Path, root: Path) -> bool:
    return any((folder / name).exists() for folder in {header.parent, root} for name in _TRACES)
