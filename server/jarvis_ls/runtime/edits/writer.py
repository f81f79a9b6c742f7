"""Writing changes of text files: all or none, each only while its file is as it was read."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from jarvis_ls.core.beneath import (
    read_beneath,
    remove_beneath,
    remove_folders,
    replace_beneath,
)
from jarvis_ls.core.errors import SkippedFile
from jarvis_ls.runtime.base.errors import ToolRetry
from jarvis_ls.runtime.edits.text_change import Change
from jarvis_ls.runtime.edits.text_file import (
    MAX_BYTES,
    Buffers,
    TextFile,
    new_file,
    resolve_path,
    with_newlines,
)
from jarvis_ls.runtime.tools.permissions import shown
from jarvis_ls.runtime.tools.tool import ToolContext

Applied = Callable[[Path, "str | None", "str | None"], "Awaitable[bool] | bool"]
"""The user's editor (`services["applied"]`): asked with a file's path, its text before and
after (None: no file) before it is written; true when the editor made the change itself."""

_WRITING = threading.Lock()
"""Between looking whether a file is still the same and replacing it, no one else of us writes."""


async def write(changes: Sequence[Change], context: ToolContext) -> None:
    """Make all changes, or none of them.

    Raises `JarvisError` when a file changed since it was read, or cannot be written; what was
    already written is then taken back.
    """
    applied: Applied | None = context.services.get("applied")
    buffers: Buffers | None = context.services.get("buffers")
    for change in changes:
        _check_place(change, context)
        _check_buffer(change, buffers)
    await asyncio.to_thread(_check_all, changes)
    if (checkpoints := context.services.get("checkpoints")) is not None:
        await checkpoints.include([change.place.real for change in changes])
    by_editor: list[Change] = []
    try:
        for change in changes:
            if applied is not None and await _by_editor(applied, change):
                by_editor.append(change)
            elif change.before is not None and change.before.unsaved:
                raise ToolRetry(
                    "{name} has unsaved changes in the user's editor. Ask the user to save "
                    "the file, then try again.",
                    name=change.place.name,
                )
        on_disk = [change for change in changes if change not in by_editor]
        await _to_its_end(on_disk)
    except Stopped:
        raise
    except BaseException:
        for change in reversed(by_editor):
            old = change.before.text if change.before is not None else None
            if applied is not None:
                await _by_editor(applied, replace_texts(change, change.after, old))
        raise


async def _to_its_end(changes: Sequence[Change]) -> None:
    """Write; anyone who is stopped meanwhile waits the moment it takes, so that it is all or none
    then too. Raises `Stopped` when all was written."""
    writing = asyncio.ensure_future(asyncio.to_thread(_write_all, changes))
    try:
        await asyncio.shield(writing)
    except asyncio.CancelledError:
        await asyncio.wait([writing])
        if writing.exception() is not None:
            raise
        raise Stopped from None


class Stopped(asyncio.CancelledError):
    """The user stopped the agent when everything was already written."""


def replace_texts(change: Change, before: str | None, after: str | None) -> Change:
    """Return the change of the same file from one text to another."""
    file = change.before or TextFile(change.place, "")
    return Change(change.place, replace(file, text=before) if before is not None else None, after)


async def _by_editor(applied: Applied, change: Change) -> bool:
    before = change.before.text if change.before is not None else None
    answer = applied(change.place.real, before, change.after)
    return bool(await answer) if inspect.isawaitable(answer) else bool(answer)


def _check_place(change: Change, context: ToolContext) -> None:
    """Check that the place has not changed: no link has been put in its way."""
    now = resolve_path(str(change.place.real), context, reading=False)
    if now != change.place:
        raise ToolRetry(
            "{name} now points to {target}. Read it again.", name=change.place.name, target=now.name
        )


def _check_buffer(change: Change, buffers: Buffers | None) -> None:
    """Check that the user has not edited the file since it was read."""
    buffered = buffers(change.place.real) if buffers is not None else None
    if buffered is not None and with_newlines(buffered) != change.old_text:
        raise ToolRetry(
            "{name} changed in the user's editor since it was read. Read it again, "
            "then repeat the change.",
            name=shown(change.place.name),
        )


def _check_all(changes: Sequence[Change]) -> None:
    for change in changes:
        bytes_of(change)
        _check_unchanged(change)


def _write_all(changes: Sequence[Change]) -> None:
    done: list[tuple[Change, int]] = []
    with _WRITING:
        for change in changes:
            _check_unchanged(change)
        try:
            # What comes is written before what goes is taken away.
            for change in sorted(changes, key=lambda c: c.after is None):
                done.append((change, _write_one(change)))
        except BaseException:
            for change, folders in reversed(done):
                _take_back(change, folders)
            raise


def _write_one(change: Change) -> int:
    place = change.place
    if change.after is None:
        remove_beneath(place.root, place.path)
        return 0
    model = change.before or change.like
    mode = model.mode if model is not None else None
    return replace_beneath(place.root, place.path, bytes_of(change), mode=mode)


def _take_back(change: Change, folders: int) -> None:
    place = change.place
    if change.before is None:
        remove_beneath(place.root, place.path)
        remove_folders(place.root, place.path, folders)
    else:
        replace_beneath(place.root, place.path, change.before.raw, mode=change.before.mode)


def bytes_of(change: Change) -> bytes:
    """Return the file's bytes with the new text; empty when it goes."""
    if change.after is None:
        return b""
    model = change.before or change.like
    if model is None:
        return new_file(change.place, change.after)
    return model.encode(change.after)


def _check_unchanged(change: Change) -> None:
    """Raise `ToolRetry` when the file on disk differs from what the change is based on."""
    place = change.place
    try:
        raw, mode = read_beneath(place.root, place.path, limit=MAX_BYTES)
    except FileNotFoundError:
        if change.before is None:
            return
        raise ToolRetry("{name} was deleted since it was read.", name=shown(place.name)) from None
    except SkippedFile as error:
        raise ToolRetry(
            "{name} cannot be written: it is {why}.", name=shown(place.name), why=error.reason
        ) from None
    if change.before is None:
        raise ToolRetry("{name} exists now. Read it, then edit it.", name=shown(place.name))
    if raw != change.before.raw:
        raise ToolRetry(
            "{name} changed since it was read. Read it again, then repeat the change.",
            name=shown(place.name),
        )
    if not mode & 0o222:
        raise ToolRetry(
            "{name} is read-only; the user has to make it writable.", name=shown(place.name)
        )
