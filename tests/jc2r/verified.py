"""What `jc2r verify` wrote down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def functions(root: Path) -> dict[str, dict[str, Any]]:
    lines = (root / ".jarvis" / "c2rust" / "equivalence.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    return {one["function"]: one for one in records if one["kind"] == "function"}
