"""`crate_plan.json`: the planned interfaces, kept group by group: no question is asked twice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.jc2r.prepare.proposals import Group, Interface

PLAN = "crate_plan.json"


def write_plan(folder: Path, key: dict[str, Any], groups: Sequence[Group]) -> None:
    """Keep the groups that are decided; `folder` is `.jarvis/c2rust` of a project. Raises
    `JarvisError`."""
    values = {"key": key, "groups": [asdict(group) for group in groups]}
    text = json.dumps(values, ensure_ascii=False, indent=1) + "\n"
    replace_file(folder / PLAN, text.encode())


def read_plan(folder: Path, key: dict[str, Any] | None = None) -> list[Group]:
    """Return the groups that are decided, of a plan with this key when one is given; none when
    there is no such plan or it is damaged."""
    try:
        values = json.loads(read_regular(folder / PLAN, limit=256_000_000))
        if key is not None and values["key"] != key:
            return []
        return [
            Group(
                **{
                    **group,
                    "interfaces": tuple(
                        Interface(**interface) for interface in group["interfaces"]
                    ),
                }
            )
            for group in values["groups"]
        ]
    except (SkippedFile, ValueError, TypeError, KeyError, RecursionError):
        return []


def planned_interfaces(folder: Path) -> dict[tuple[str, str], Interface]:
    """Return the interfaces of a plan by C file and name."""
    return {
        (interface.c_file, interface.c_name): interface
        for group in read_plan(folder)
        for interface in group.interfaces
    }
