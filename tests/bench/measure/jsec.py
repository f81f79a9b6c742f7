"""Runs jsec as a user would and reads its report."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import cost


@dataclass(frozen=True)
class Scan:
    """One run of ``jsec scan``."""

    cost: cost.Cost
    """What it took."""
    summary: dict[str, Any]
    """The report's summary."""
    issues: list[dict[str, Any]]
    """The report's findings."""


def scan(root: Path, *options: str, package: Path | None = None) -> Scan:
    """Scan a folder with the sources, or with an installed `package`; raises `RuntimeError` when
    the scan does not end with status 0."""
    command = [cost.python(), "-m", "jarvis_ls.cli.jsec", "scan", "--quiet", "--format", "json"]
    command += ["--min-confidence", "0"]
    spent = cost.run([*command, *options, root], package=package)
    report = json.loads(spent.output)
    return Scan(spent, report["summary"], report["issues"])
