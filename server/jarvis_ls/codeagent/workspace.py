"""A copy of a repository's work tree in which an agent may change everything.

The copy is outside of the user's tree and nothing in it leads back: files are read once and copied,
never linked, and `.git` is not part of it. What was copied is kept as a checkpoint, so that the
change is known at any time, also after the process was killed.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from jarvis_ls.codeagent.npm_packages import link_packages
from jarvis_ls.codeintel.change.repository import Repository
from jarvis_ls.core.errors import JarvisError, SkippedFile, UsageError
from jarvis_ls.core.files import read_regular, replace_file, write_error
from jarvis_ls.core.lock import Lock
from jarvis_ls.runtime.edits.checkpoints import Checkpoints
from jarvis_ls.runtime.edits.file_change import FileChange, apply_changes, read_state
from jarvis_ls.runtime.edits.snapshots.look import Limits, look

FOLDER = "code"
"""Below the user's folder: one folder a repository."""
MOST_BYTES = 2_000_000_000
"""Of all files that are copied."""
_LIMITS = Limits(files=100_000)
_LARGEST_RECORD = 100_000


@dataclass(frozen=True, slots=True)
class WorkRecord:
    """What is kept of the work on a repository from one process to the next."""

    root: str
    """The repository."""
    base: str = ""
    """Id of the checkpoint of what was copied; empty when there is no copy."""
    session: str = ""
    """Id of the last session."""


class RepositoryLock:
    """The only process that works on a repository."""

    def __init__(self, home: Path, root: Path, purpose: str = FOLDER) -> None:
        """Raise `UsageError` naming the process that works on it already for this purpose."""
        self.folder = work_folder(home, root, purpose)
        """Where the copy and its record are."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            taken = Lock.take(self.folder / "lock")
        except (OSError, JarvisError):
            taken = Lock.take(home / f"{purpose}_agent.lock")  # one for all is better than none
        if isinstance(taken, str):
            raise UsageError("{holder} works on {root} already", holder=taken, root=root)
        self._lock = taken

    def release(self) -> None:
        """Let others work on it."""
        self._lock.release()


class Workspace:
    """The copy."""

    def __init__(self, home: Path, root: Path, place: Path) -> None:
        """`root` is the repository; `place` the folder of its `RepositoryLock`, which is held."""
        self.root = root
        self.folder = copy_folder(place)
        """Where the agent works."""
        self._record_file = place / "work.json"
        self._checkpoints = Checkpoints(home, f"{place.parent.name}-{place.name}")
        self.record = self._read_record()

    @property
    def is_left(self) -> bool:
        """Return whether a copy was left by a process that did not end its work."""
        return bool(self.record.base) and self.folder.is_dir()

    async def make(self) -> tuple[str, ...]:
        """Copy the work tree as it is now; the paths that were left out.

        Raises `JarvisError` when it is too large or the disk refuses.
        """
        self._keep(base="")
        left_out = await asyncio.to_thread(self._copy)
        await self._checkpoints.prune(0)
        self._keep(base=await self._checkpoints.take([self.folder]))
        return left_out

    async def changes(self) -> tuple[FileChange, ...]:
        """Return how the copy differs from what was copied."""
        found = await self._checkpoints.file_changes(self.record.base, [self.folder])
        return tuple(sorted(found, key=lambda change: change.path))

    async def undo(self, changes: Sequence[FileChange]) -> None:
        """Take changes of the copy back. Raises `JarvisError` naming what could not be written."""
        await self.redo([FileChange(c.path, c.after, c.before) for c in changes])

    async def redo(self, changes: Sequence[FileChange]) -> None:
        """Make changes in the copy. Raises `JarvisError` naming what could not be written."""
        if problems := await asyncio.to_thread(apply_changes, changes, [self.folder]):
            raise JarvisError(problems[0])

    async def renew(self) -> None:
        """Count changes from now on: those until now are written."""
        self._keep(base=await self._checkpoints.take([self.folder]))

    def keep_session(self, session: str) -> None:
        """Remember the session that works here."""
        self._keep(session=session)

    def put_aside(self) -> Path:
        """Leave the copy to the user under another name, where it is not known any more what was
        changed in it; that name. Raises `JarvisError`."""
        aside = self.folder.with_name(f"left-{self.record.base}")
        try:
            self.folder.rename(aside)
        except OSError as error:
            raise write_error(aside, error) from None
        self._keep(base="")
        return aside

    async def remove(self) -> None:
        """Remove the copy: its changes are written or refused."""
        self._keep(base="")
        await asyncio.to_thread(self._clear)
        await self._checkpoints.prune(0)

    def _copy(self) -> tuple[str, ...]:
        self._clear()
        tracked = _list_tracked(self.root)
        seen = look(str(self.root), _LIMITS, wanted=tracked)
        if seen.truncated:
            raise JarvisError(
                "{root} has more than {count} files: too many to copy.",
                root=self.root,
                count=_LIMITS.files,
            )
        total = sum(
            stamp.size for folder in seen.folders.values() for stamp in folder.files.values()
        )
        if total > MOST_BYTES:
            raise JarvisError("{root} has too many bytes of files to copy them.", root=self.root)
        left_out = list(seen.skipped)
        try:
            self.folder.mkdir(mode=0o700)
            for path, folder in sorted(seen.folders.items()):
                (self.folder / path).mkdir(exist_ok=True)
                for name in folder.files:
                    file = f"{path}/{name}" if path else name
                    if not self._copy_file(file):
                        left_out.append(file)
            with_packages = [p for p, f in seen.folders.items() if "package.json" in f.files]
            link_packages(self.root, self.folder, with_packages)
        except OSError as error:
            raise write_error(self.folder, error) from None
        return tuple(sorted(left_out))

    def _copy_file(self, path: str) -> bool:
        try:
            state = read_state(self.root / path, _LIMITS.file_bytes)
        except (OSError, ValueError):
            return False
        if state is None:  # gone in the meantime
            return False
        target = self.folder / path
        if state.kind == "link":
            os.symlink(os.fsdecode(state.data), target)  # noqa: PTH211 - a target is any bytes
        else:
            target.write_bytes(state.data)
            target.chmod(state.mode)
        return True

    def _clear(self) -> None:
        try:
            if self.folder.is_dir() and not self.folder.is_symlink():
                shutil.rmtree(self.folder)
            else:
                self.folder.unlink(missing_ok=True)
        except OSError as error:
            raise write_error(self.folder, error) from None

    def _keep(self, *, base: str | None = None, session: str | None = None) -> None:
        known = self.record
        self.record = WorkRecord(
            str(self.root),
            known.base if base is None else base,
            known.session if session is None else session,
        )
        replace_file(self._record_file, json.dumps(asdict(self.record)).encode(), mode=0o600)

    def _read_record(self) -> WorkRecord:
        try:
            found = json.loads(read_regular(self._record_file, limit=_LARGEST_RECORD))
            record = WorkRecord(**{name: str(value) for name, value in found.items()})
        except (SkippedFile, ValueError, TypeError, AttributeError):
            return WorkRecord(str(self.root))
        return record if record.root == str(self.root) else WorkRecord(str(self.root))


def _list_tracked(root: Path) -> Collection[str]:
    """Return the files that git knows: of these none is left out because it is ignored."""
    try:
        repository = Repository(root)
    except UsageError:  # a folder that is no work tree, or is below the top of one
        return ()
    try:
        return repository.staged()
    except UsageError:  # an index of a version that is not read
        return repository.tree("HEAD")


def copy_folder(place: Path) -> Path:
    """Return where the copy is, or would be; `place` is the folder of the work on a repository."""
    return Path(os.path.realpath(place)) / "copy"


def work_folder(home: Path, root: Path, purpose: str = FOLDER) -> Path:
    """Return the folder of the work on a repository."""
    return home / purpose / hashlib.md5(os.fsencode(root), usedforsecurity=False).hexdigest()
