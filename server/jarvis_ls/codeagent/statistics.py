"""What agents that change code have done, day by day: one small file in the user's folder.

Nothing of it is sent anywhere.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from jarvis_ls.codeagent.edit_guard import Edit
from jarvis_ls.codeagent.patch_text import count_lines
from jarvis_ls.core.errors import JarvisError, SkippedFile
from jarvis_ls.core.files import read_regular, replace_file
from jarvis_ls.core.lock import hold
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.edits.file_change import FileChange

FILE = "statistics.json"
"""In the folder of the work on repositories."""
METRICS = (
    "code_modifications",
    "code_lines_inserted",
    "code_lines_deleted",
    "commits_generated",
    "commits_accepted",
)
"""Edits; lines of what was accepted; patches or commits that were offered, and accepted."""
_LARGEST = 4_000_000
_DAYS = 1000
"""Days that are kept."""

logger = logging.getLogger(__name__)

Days = dict[str, dict[str, int]]
"""By day in ISO form, and metric."""


class Statistics:
    """Counts; see `Listener` of `edit_guard`."""

    def __init__(self, home: Path) -> None:
        self._file = home / "code" / FILE

    async def after_edit(self, edit: Edit) -> str:
        """Count an edit; it has nothing to tell."""
        await self._add({"code_modifications": 1})
        return ""

    async def offered(self) -> None:
        """Count a patch or a commit that the user is shown."""
        await self._add({"commits_generated": 1})

    async def accepted(self, changes: Sequence[FileChange]) -> None:
        """Count changes that were written or committed."""
        counts = [count_lines(change) for change in changes]
        await self._add(
            {
                "commits_accepted": 1,
                "code_lines_inserted": sum(added for added, _ in counts),
                "code_lines_deleted": sum(deleted for _, deleted in counts),
            }
        )

    def days(self) -> Days:
        """Return what was counted; nothing for days without work."""
        try:
            found = json.loads(read_regular(self._file, limit=_LARGEST))
            return {
                str(day): {name: int(counts.get(name, 0)) for name in METRICS}
                for day, counts in sorted(found.items())
            }
        except (SkippedFile, ValueError, TypeError, AttributeError):
            return {}

    async def _add(self, more: Mapping[str, int]) -> None:
        try:
            await asyncio.to_thread(self._write, more)
        except (JarvisError, OSError) as error:  # work goes on without being counted
            logger.warning("statistics are not kept: %s", error)

    def _write(self, more: Mapping[str, int]) -> None:
        with hold(self._file.with_suffix(".lock"), Words("the statistics")):
            days = self.days()
            today = days.setdefault(date.today().isoformat(), dict.fromkeys(METRICS, 0))
            for name, count in more.items():
                today[name] += count
            kept = dict(sorted(days.items())[-_DAYS:])
            replace_file(self._file, json.dumps(kept, indent=1).encode(), mode=0o600)
