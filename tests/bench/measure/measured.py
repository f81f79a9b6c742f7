"""How many of the judged findings of each class are true: what `measured.txt` of jsec holds."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

from jarvis_ls.jsec.findings.measured_confidence import WINDOW, language_class

_WEIGHED = 0.5
"""Least confidence that a judged finding was told with: lower ones are not lowered further."""


def table(judged: Path) -> str:
    """Return the lines of the table from a file of judged findings, the last of each class."""
    classes: dict[tuple[str, str, str], list[bool]] = defaultdict(list)
    for line in judged.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["verdict"] in ("true", "false") and row["told"] >= _WEIGHED and "way" in row:
            key = row["rule"], language_class(row["file"]), row["way"]
            classes[key].append(row["verdict"] == "true")
    lines = []
    for (rule, language, way), verdicts in sorted(classes.items()):
        last = verdicts[-WINDOW:]
        lines.append(f"{rule} {language} {way} {sum(last)} {len(last)}\n")
    return "".join(lines)
