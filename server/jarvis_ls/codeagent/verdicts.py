"""What users said of changes that agents proposed, kept in the user's folder for a repository."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.runtime.edits.file_change import FileChange
from jarvis_ls.runtime.memory.lessons.verdicts import MOST_VERDICTS, Outcome, TaskVerdict

_LARGEST = 4_000_000
_LONGEST = 4_000
"""Characters of what was said."""

logger = logging.getLogger(__name__)


class Verdicts:
    """The verdicts on the changes of one repository."""

    def __init__(self, folder: Path) -> None:
        """`folder` is that of the work on the repository."""
        self._file = folder / "verdicts.json"

    def read(self) -> list[TaskVerdict]:
        """Return the verdicts, oldest first; none where nothing can be read."""
        try:
            found = json.loads(read_regular(self._file, limit=_LARGEST))
        except (OSError, SkippedFile, ValueError, RecursionError):
            return []
        verdicts = [_read(values) for values in found] if isinstance(found, list) else []
        return [verdict for verdict in verdicts if verdict is not None]

    def add(
        self, task: str, outcome: Outcome, changes: Sequence[FileChange], reason: str = ""
    ) -> None:
        """Keep what the user said; what cannot be kept is logged. The repository is locked."""
        files = tuple(change.path for change in changes)[:100]
        verdict = TaskVerdict(
            task[:_LONGEST], outcome, files, reason.strip()[:_LONGEST], int(time.time())
        )
        kept = [asdict(known) for known in [*self.read(), verdict][-MOST_VERDICTS:]]
        try:
            replace_file(self._file, json.dumps(kept, indent=1).encode(), mode=0o600)
        except JarvisError as error:  # work goes on without it
            logger.warning("the verdict is not kept: %s", error)


def _read(values: Any) -> TaskVerdict | None:
    try:
        verdict = TaskVerdict(**{**values, "files": tuple(map(str, values["files"]))})
    except (TypeError, KeyError, AttributeError):
        return None
    texts = (verdict.task, verdict.outcome, verdict.reason)
    is_fit = all(isinstance(text, str) for text in texts) and isinstance(verdict.time, int)
    return verdict if is_fit and verdict.outcome in ("accepted", "refused", "in part") else None
