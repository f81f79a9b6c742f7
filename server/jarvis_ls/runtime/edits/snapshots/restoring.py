"""Making a root what a checkpoint says, without losing what is there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.runtime.edits.file_change import real_parent, write_state
from jarvis_ls.runtime.edits.snapshots.past import Past, state_of
from jarvis_ls.runtime.edits.snapshots.store import CheckpointStore, Node
from jarvis_ls.runtime.edits.snapshots.stored_snapshot import StoredSnapshot


class Restoring:
    """Writes what differs."""

    def __init__(self, store: CheckpointStore, only: Sequence[Path] | None) -> None:
        self._store = store
        self._only = only
        self.written: list[Path] = []
        self.removed: list[Path] = []
        self.kept: dict[Path, str] = {}

    def root(self, root: Path, now: StoredSnapshot, past: Past) -> None:
        """Make one root what it was."""
        todo = [d for d in past.differences(now.tree) if self._choose(root / d[0])]
        for path, here, there in todo:
            if here is not None and here.kind != "folder" and _is_gone(there):
                self._remove(root, path, now, past, wanted=there is not None)
        for path, here, there in reversed(todo):  # what is inside before what it is in
            if (
                here is not None
                and here.kind == "folder"
                and (there is None or there.kind != "folder")
            ):
                self._remove_folder(root / path, wanted=there is not None)
        for path, here, there in todo:
            if there is None or root / path in self.kept:
                continue
            if there.kind == "folder":
                self._folder(root, path, there, new=here is None or here.kind != "folder")
            else:
                self._write(root, path, now, there)
        for path, _, there in reversed(todo):
            if there is not None and there.kind == "folder" and root / path not in self.kept:
                self._mode(root / path, there.mode)

    def _choose(self, path: Path) -> bool:
        return self._only is None or any(p == path or p in path.parents for p in self._only)

    def _remove(
        self, root: Path, path: str, now: StoredSnapshot, past: Past, *, wanted: bool
    ) -> None:
        place = root / path
        if not wanted and not past.spoke_of(path):
            return  # it may have been there before: the checkpoint does not know
        if self._is_free(place, path, now):
            with self._keeping(place):
                place.unlink()
                self.removed.append(place)

    def _remove_folder(self, place: Path, *, wanted: bool) -> None:
        try:
            place.rmdir()
        except OSError:
            if wanted:
                self.kept[place] = "it holds files that are in no checkpoint"

    def _folder(self, root: Path, path: str, there: Node, *, new: bool) -> None:
        place = root / path
        with self._keeping(place):
            if new:
                real_parent(root, path)
                if not place.is_dir() or place.is_symlink():
                    place.mkdir()
            if there.mode & 0o300 != 0o300 or not os.access(place, os.W_OK | os.X_OK):
                place.chmod(there.mode | 0o700)  # until its files are written

    def _mode(self, place: Path, mode: int) -> None:
        with self._keeping(place):
            if place.lstat().st_mode & 0o777 != mode and not place.is_symlink():
                place.chmod(mode)

    def _write(self, root: Path, path: str, now: StoredSnapshot, there: Node) -> None:
        place = root / path
        if not self._is_free(place, path, now):
            return
        with self._keeping(place):
            real_parent(root, path)
            state = state_of(self._store, there)
            assert state is not None
            write_state(place, state)
            self.written.append(place)

    def _is_free(self, place: Path, path: str, now: StoredSnapshot) -> bool:
        """Return whether what is at `place` is in the checkpoint that was taken just now."""
        try:
            status = place.lstat()
        except OSError:
            return True
        stamp = now.snapshot.stamp(path)
        if stamp is None:
            self.kept[place] = "what is there now could not be kept"
            return False
        if stamp.changed != (status.st_mtime_ns, status.st_ctime_ns, status.st_ino):
            self.kept[place] = "it changed meanwhile"
            return False
        return True

    @contextlib.contextmanager
    def _keeping(self, place: Path) -> Iterator[None]:
        try:
            yield
        except JarvisError as error:
            self.kept[place] = str(error)
        except OSError as error:
            self.kept[place] = error.strerror or str(error)


def _is_gone(there: Node | None) -> bool:
    return there is None or there.kind == "folder"
