"""The workspace, watched while code of candidates runs outside of a sandbox.

Agents have no tool that writes, and a sandbox that holds lets nothing out of its copy: what changes
then was changed by the user. Where the user has switched isolation off, the code of a candidate can
reach the workspace. Its files are then compared by content, uncommitted work included; what differs
after a run is put back as it was right before it, and what the run (or the user meanwhile) left
there is set aside, never lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from jarvis_ls.core.files import replace_file, state_folder
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.edits.checkpoints import Checkpoints
from jarvis_ls.runtime.edits.file_change import FileChange

ASIDE = "set-aside"
"""Folder in `.jarvis/sec` of what was put back; each time a folder of its own below it."""
_KEPT = 2
"""Checkpoints that are left for the next run, which compares with them quickly."""

T = TypeVar("T")


class WorkspaceGuard:
    """Puts back what a run has changed."""

    def __init__(self, root: Path, home: Path) -> None:
        """`root` is the real path of the workspace, `home` the user's own folder."""
        self._root = root
        self._checkpoints = Checkpoints(home, "jsec-agent")
        self.told: list[str] = []
        """What was put back, in words."""

    async def watch(self, work: Callable[[], Awaitable[T]]) -> T:
        """Return what `work` gives; what it has changed in the workspace is put back, also when it
        fails or is cancelled. Raises `JarvisError`, before anything is run, when the workspace
        cannot be read."""
        before = await self._checkpoints.take([self._root], "before code of a candidate is run")
        try:
            return await work()
        finally:
            await asyncio.shield(self._put_back(before))

    async def _put_back(self, before: str) -> None:
        changes = await self._checkpoints.file_changes(before, [self._root])
        if changes:
            aside = await asyncio.to_thread(self._set_aside, changes, before)
            paths = [self._root / change.path for change in changes]
            done = await self._checkpoints.restore(before, [self._root], paths)
            for change in changes:
                why = done.kept.get(self._root / change.path)
                self.told.append(_told(change, aside, why))
        await self._checkpoints.prune(_KEPT)

    def _set_aside(self, changes: list[FileChange], before: str) -> Path:
        """Keep what is there now; returns the folder. Raises `JarvisError` when it cannot be kept:
        then nothing is put back."""
        folder = state_folder(self._root, "sec", ASIDE, before)
        for number, change in enumerate(changes):
            if change.after is not None:
                name = Path(change.path).name
                replace_file(folder / f"{number}-{name}", change.after.data, mode=0o600)
        return folder.relative_to(self._root)


def _told(change: FileChange, aside: Path, why: str | None) -> str:
    if why is not None:
        return Words(
            "{path} was changed while code of a candidate ran and could not be put back: {why}.",
            path=change.path,
            why=why,
        )
    if change.after is None:
        return Words(
            "{path} was deleted while code of a candidate ran; it was put back.", path=change.path
        )
    return Words(
        "{path} was changed while code of a candidate ran; it is as before, and what was written "
        "is in {aside}.",
        path=change.path,
        aside=aside.as_posix(),
    )
