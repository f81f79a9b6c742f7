"""How far an evaluation of libraries came: `library_replacer_checkpoint.json`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.jc2r.libraries.records import Replacement, replacement_from_json, timestamp

CHECKPOINT = "library_replacer_checkpoint.json"


@dataclass
class Checkpoint:
    """The state of one evaluation."""

    key: dict[str, Any]
    """What it was asked for; another key begins from the start."""
    eval_counter: int = 0
    """Functions a model was asked about."""
    processed_roots: list[int] = field(default_factory=list)
    """Functions that are decided."""
    selected_roots: list[Replacement] = field(default_factory=list)
    """Those of them that libraries replace."""

    def save(self, folder: Path, pruned: list[int]) -> None:
        """Keep it; `pruned` are the functions that no other needs. Raises `JarvisError`."""
        values = {
            "eval_counter": self.eval_counter,
            "processed_roots": self.processed_roots,
            "pruned_dynamic": pruned,
            "selected_roots": [asdict(found) for found in self.selected_roots],
            "timestamp": timestamp(),
            "key": self.key,
        }
        text = json.dumps(values, ensure_ascii=False, indent=1) + "\n"
        replace_file(folder / CHECKPOINT, text.encode())


def read_checkpoint(folder: Path, key: dict[str, Any]) -> Checkpoint:
    """Return how far an evaluation with this key came; one that has not begun when there is none,
    or it is damaged."""
    new = Checkpoint(key)
    try:
        values = json.loads(read_regular(folder / CHECKPOINT, limit=64_000_000))
        if values["key"] != key:
            return new
        selected = [replacement_from_json(record) for record in values["selected_roots"]]
        processed = [int(number) for number in values["processed_roots"]]
        counter = int(values["eval_counter"])
    except (SkippedFile, ValueError, TypeError, KeyError, RecursionError):
        return new
    found = [root for root in selected if root is not None]
    return Checkpoint(key, counter, processed, found) if len(found) == len(selected) else new
