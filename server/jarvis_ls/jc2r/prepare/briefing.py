"""The prompt about the functions of one type: `prompts/interface.md`, filled in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular
from jarvis_ls.core.words import filled
from jarvis_ls.jc2r.prepare.proposals import Group
from jarvis_ls.runtime.agent.prompts import as_data
from jarvis_ls.runtime.base.prompt_files import read_prompt

_MOST_SOURCE = 40_000
_LINES = 80


def brief(root: Path, group: Group, notes: str, before: str) -> str:
    """Return the task of a model; `before` is what the compiler said of its last answer."""
    whole = f"the type {group.name}, `{group.c_type}` in C" if group.name else group.module
    names = [
        f"{interface.c_file}:{interface.start_line} {interface.c_name}"
        for interface in group.interfaces
    ]
    source = "\n\n".join(_sources(root, group))[:_MOST_SOURCE]
    proposed = [
        interface.rust_signature or f"{interface.c_name}: {interface.notes}"
        for interface in group.interfaces
    ]
    refused = f"## What the compiler said of your last answer\n{as_data(before)}" if before else ""
    values = {
        "title": whole,
        "functions": as_data("\n".join(names)),
        "source": as_data(source),
        "proposed": as_data("\n".join(proposed)),
        "notes": f"Additional notes of the user:\n{notes.strip()}" if notes.strip() else "",
        "before": refused,
    }
    text = filled(read_prompt("jarvis_ls.jc2r.prepare", "interface"), values)
    return text.encode("utf-8", "backslashreplace").decode()


def _sources(root: Path, group: Group) -> Iterator[str]:
    for interface in group.interfaces:
        try:
            data = read_regular(root / interface.c_file, limit=64_000_000, root=root)
        except SkippedFile:
            continue  # it went away; the next scan says so
        lines = data.decode("utf-8", "replace").split("\n")[
            interface.start_line - 1 : interface.end_line
        ]
        yield "\n".join(lines[:_LINES])
