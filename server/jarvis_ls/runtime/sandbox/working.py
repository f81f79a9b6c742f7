"""The folders of a run, from its beginning to its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.runtime.sandbox.copies import RunFolder, Workplace, open_folder
from jarvis_ls.runtime.sandbox.held import HeldFolders, clean
from jarvis_ls.runtime.sandbox.waiting import in_thread, to_the_end


@dataclass(frozen=True, slots=True)
class Needs:
    """What a run needs beside a folder of its own."""

    roots: Sequence[Path]
    session: str
    """Who keeps the copies from one run to the next; no one in particular when empty."""
    kind: str
    """What tells copies apart that cannot represent each other."""


@asynccontextmanager
async def working_folder(
    home: Path, user: int | None, kept: HeldFolders, needs: Needs
) -> AsyncIterator[RunFolder]:
    """Give the folder of a run, with one that is held; whatever happens it is removed, and the
    other returned, at the end."""

    def begin() -> RunFolder:
        folder = open_folder(home, user)
        try:
            clean(folder.path.parent)
            mode = 0o700 if user is None else 0o711
            folder.held = kept.take(
                folder.path.parent, needs.roots, needs.kind, needs.session, mode
            )
        except OSError as error:
            folder.remove()
            raise JarvisError(
                "The sandbox cannot work in {top}: {why}",
                top=folder.path.parent,
                why=error.strerror,
            ) from None
        except BaseException:
            folder.remove()
            raise
        return folder

    def end() -> None:
        try:
            if folder.held is not None:
                kept.give_back(folder.held, needs.session)
        finally:
            folder.remove()

    folder, cancelled = await to_the_end(asyncio.to_thread(begin))
    try:
        if cancelled:
            raise asyncio.CancelledError
        yield folder
    finally:
        await to_the_end(asyncio.to_thread(end))


async def prepare_copies(
    home: Path,
    user: int | None,
    kept: HeldFolders,
    needs: Needs,
    represent: Callable[[RunFolder], Sequence[Workplace]],
) -> None:
    """Let `represent` make the copies that a session's first script will find, unless the session
    has some."""
    if kept.holds(needs.roots, needs.kind, needs.session):
        return
    async with working_folder(home, user, kept, needs) as folder:
        for place in await in_thread(lambda: represent(folder), folder.stopped.set):
            if place.mirror is not None:
                place.mirror.leave()
