"""What a model has made of the files of a crate, kept as it comes: `polish_progress.json`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.words import from_json, to_json
from jarvis_ls.jc2r.rewrite.optimize import REPORT, Extent
from jarvis_ls.runtime.base.events import Budget

PROGRESS = "polish_progress.json"


class Part(Enum):
    """What a model does with a file, in this order; the value is what options call it."""

    CLIPPY = "clippy"
    UNSAFE = "unsafe"
    DOCS = "docs"


@dataclass(frozen=True, slots=True)
class Wish:
    """What a model does, where, and how much may be spent on it."""

    parts: tuple[Part, ...] = tuple(Part)
    extent: Extent = field(default_factory=Extent)
    """Files, and how often the crate may be compared with the C."""
    budget: Budget = field(default_factory=Budget)
    """For one change."""


@dataclass(slots=True)
class Touched:
    """What became of one part of one file."""

    part: str
    file: str
    changes: int = 0
    """Those that were kept."""
    refused: list[str] = field(default_factory=list)
    """Why others were not, in words."""
    commit: str = ""
    """The last one."""
    unsafe_removed: int = 0
    """Lines that are not unsafe any more."""
    unsafe_annotated: int = 0
    """Reasons for `unsafe` that were added."""
    docs_added: int = 0
    digest: str = ""
    """Of the file as it is now."""


@dataclass(slots=True)
class Polished:
    """What a run came to."""

    touched: list[Touched] = field(default_factory=list)
    """Of this run and of those before it."""
    comparisons: int = 0
    stopped: str = ""
    """Why it did not come to its end, in words; empty when it did."""


def read_touched(folder: Path, made: str) -> dict[tuple[str, str], Touched]:
    """Return what is kept of the translation `made`, by part and file."""
    try:
        values: Any = json.loads(read_regular(folder / PROGRESS, limit=16_000_000))
        if values["made"] != made:
            return {}
        known = [Touched(**line) for line in from_json(values["touched"])]
    except (SkippedFile, ValueError, TypeError, KeyError, RecursionError):
        return {}
    return {(touched.part, touched.file): touched for touched in known}


def write_touched(folder: Path, made: str, known: Sequence[Touched]) -> None:
    """Keep what became of files. Raises `JarvisError`."""
    touched = to_json([asdict(file) for file in known])
    text = json.dumps({"made": made, "touched": touched}, ensure_ascii=False, indent=1) + "\n"
    replace_file(folder / PROGRESS, text.encode())


def write_report(folder: Path, done: Polished) -> None:
    """Add what the model did to the report of the stage. Raises `JarvisError`."""
    try:
        values = json.loads(read_regular(folder / REPORT, limit=16_000_000))
    except (SkippedFile, ValueError, RecursionError):
        values = {}
    report = values if isinstance(values, dict) else {}
    for name in ("unsafe_removed", "unsafe_annotated", "docs_added"):
        report[name] = sum(getattr(touched, name) for touched in done.touched)
    report["cargo_checks"] = done.comparisons
    report["errors"] = [
        {"file": touched.file, "part": touched.part, "why": why}
        for touched in done.touched
        for why in touched.refused
    ]
    data = (json.dumps(report, ensure_ascii=False, indent=1) + "\n").encode()
    replace_file(folder / REPORT, data)
