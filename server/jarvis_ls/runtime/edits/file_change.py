"""What became of a file, whole: for those who show, keep, apply or undo changes.

A `ProposedEdit` is what a person sees; a `FileChange` holds the bytes, so that binary files,
links and mode bits survive.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.files import replace_file, write_error
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.base.events import Hunk, ProposedEdit
from jarvis_ls.runtime.edits.text_change import apply_hunks, hunks_of

TEXT_BYTES = 2_000_000
"""Larger files are not shown as lines, but taken or refused as a whole."""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file or a symbolic link as it is."""

    kind: Literal["file", "link"]
    data: bytes
    """Contents, or where the link leads."""
    mode: int = 0o644
    """Permission bits; of no meaning for links."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file before and after."""

    path: str
    """From its root, with forward slashes; bytes that are no UTF-8 are lone surrogates."""
    before: FileState | None
    """None when it is new."""
    after: FileState | None
    """None when it is gone."""
    root: int = 0
    """Which of the workspace's folders."""

    @property
    def change(self) -> Literal["create", "modify", "delete"]:
        """The kind of change, in one word."""
        if self.before is None:
            return "create"
        return "delete" if self.after is None else "modify"

    @property
    def is_text(self) -> bool:
        """Return whether all of the change can be shown, and taken in part, as lines."""
        states = [state for state in (self.before, self.after) if state is not None]
        return all(state.kind == "file" and text_of(state.data) is not None for state in states)

    def edit(self) -> ProposedEdit:
        """As a person sees it; without hunks when it is no text or only its mode changes."""
        if not self.is_text:
            return ProposedEdit(self.path, self.change, (), self.root)
        old = (self.before.data if self.before else b"").decode()
        new = (self.after.data if self.after else b"").decode()
        if self.before is None:
            lines = tuple(new.removesuffix("\n").split("\n")) if new else ()
            hunks: tuple[Hunk, ...] = (Hunk(0, 1, (), 1, lines),) if lines else ()
        elif self.after is None:
            lines = tuple(old.removesuffix("\n").split("\n")) if old else ()
            hunks = (Hunk(0, 1, lines, 1, ()),) if lines else ()
        else:
            hunks = hunks_of(old, new)
        return ProposedEdit(self.path, self.change, hunks, self.root)

    def describe(self, name: str = "") -> str:
        """One line: what, where (`name`, else the path), and what hunks do not show."""
        said = f"{self.change} {name or self.path}"
        if self.before and self.after and self.before.kind != self.after.kind:
            return f"{said} ({self.before.kind} becomes {self.after.kind})"
        shown = self.after or self.before
        if shown is None:
            return said
        if shown.kind == "link":
            return f"{said} (link to {os.fsdecode(shown.data)})"
        if not self.is_text:
            return f"{said} (binary or large, {len(shown.data):,} bytes)"
        if self.before and self.after and self.before.mode != self.after.mode:
            return f"{said} (mode {self.before.mode:o} becomes {self.after.mode:o})"
        return said


def text_of(data: bytes) -> str | None:
    """Return `data` as text, or None when it is not text or too large to show."""
    if b"\0" in data or len(data) > TEXT_BYTES:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def partly(change: FileChange, edit: ProposedEdit, chosen: Iterable[int]) -> FileState:
    """Return the new state of a changed text with only some of its hunks applied."""
    assert change.before is not None
    assert change.after is not None
    text = apply_hunks(change.before.data.decode(), edit.hunks, chosen)
    return FileState("file", text.encode(), change.after.mode)


def read_state(path: str | Path, limit: int) -> FileState | None:
    """Read the file at `path`; None when there is none, or none that could be kept.

    Raises `OSError` when it cannot be read, and `ValueError` when it has more than `limit`
    bytes or is neither a file nor a link.
    """
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(status.st_mode):
        return FileState("link", os.fsencode(os.readlink(path)), 0o777)  # noqa: PTH115
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("neither a file nor a link")
    if status.st_size > limit:
        raise ValueError(f"larger than {limit:,} bytes")
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:  # noqa: PTH123
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ValueError(f"larger than {limit:,} bytes")
    return FileState("file", data, stat.S_IMODE(status.st_mode) & 0o777)


def write_state(path: Path, state: FileState) -> None:
    """Make `path` be `state`, atomically; its folder must exist and it must be no folder.

    Raises `JarvisError` naming the file; what stood there then stays.
    """
    try:
        owner = _owner(path)
        if state.kind == "file":
            replace_file(path, state.data, mode=state.mode)
        else:
            _replace_link(path, os.fsdecode(state.data))
        if owner is not None:
            os.chown(path, *owner, follow_symlinks=False)
    except OSError as error:
        raise write_error(path, error) from None


def apply_changes(changes: Iterable[FileChange], roots: Iterable[Path]) -> list[str]:
    """Write changes that someone has agreed to; the words of those that could not be written.

    Nothing is written through a link, and a file that is no longer what it was is left alone.
    """
    folders = list(roots)
    problems = []
    order = sorted(changes, key=lambda c: (c.after is not None, c.path))  # what goes, goes first
    for change in order:
        try:
            _apply(change, folders[change.root])
        except JarvisError as error:
            problems.append(str(error))
        except (OSError, ValueError, IndexError) as error:
            problems.append(Words("{path}: {why}", path=change.path, why=error))
    return problems


def real_parent(root: Path, path: str) -> Path:
    """Return the folder `path` is in, made when it is missing.

    Raises `JarvisError` when a part of the way is no folder, or leads out of the root.
    """
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts) or Path(path).is_absolute():
        raise JarvisError("{path} is not inside a workspace folder", path=repr(path))
    folder = root
    for part in parts[:-1]:
        folder = folder / part
        try:
            folder.mkdir()
        except FileExistsError:
            if not stat.S_ISDIR(folder.lstat().st_mode):
                raise JarvisError(
                    "{path}: {folder} is not a folder", path=path, folder=folder
                ) from None
        except OSError as error:
            raise write_error(folder, error) from None
    return folder


def _apply(change: FileChange, root: Path) -> None:
    if change.after is None and not os.path.lexists(root / change.path):
        _remove_empty(root, change.path)
        return
    place = real_parent(root, change.path) / change.path.rpartition("/")[2]
    if change.before is None and place.is_dir() and not place.is_symlink():
        place.rmdir()  # of a folder that became a file nothing is left, or it stays
    largest = len(change.before.data) if change.before is not None else 0
    try:
        found = read_state(place, largest)
    except ValueError:
        found = FileState("file", b"", -1)  # something else than what was there
    if found == change.after:
        return
    if found != change.before:
        raise JarvisError(
            "{path} has changed in the meantime and was not modified", path=change.path
        )
    if change.after is None:
        place.unlink()
        _remove_empty(root, change.path)
    else:
        write_state(place, change.after)


def _remove_empty(root: Path, path: str) -> None:
    """Remove the folders around a file that is gone, as far as nothing else is in them."""
    folder = (root / path).parent
    while folder != root:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def _owner(path: Path) -> tuple[int, int] | None:
    """Return the owner for a new file when we are root: the old file's, else the folder's."""
    if os.name != "posix" or os.geteuid() != 0:
        return None
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        status = os.lstat(path.parent)
    return (status.st_uid, status.st_gid)


def _replace_link(path: Path, target: str) -> None:
    temporary = path.parent / f".jarvis-link-{os.getpid()}-{os.urandom(6).hex()}"
    os.symlink(target, temporary)  # noqa: PTH211 - a target is any bytes, no path
    try:
        os.replace(temporary, path)  # noqa: PTH105
    except OSError:
        temporary.unlink()
        raise
